"""What a reader sees of a figure."""

from __future__ import annotations

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text


def words(figure: Figure) -> str:
    """All text of a figure, with line breaks as spaces."""
    return "\n".join(text.get_text().replace("\n", " ") for text in figure.findobj(Text))


def clipped(figure: Figure) -> list[str]:
    """Texts that leave the canvas."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    canvas = figure.bbox.padded(0.5)
    found = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
    boxes = {text.get_text(): text.get_window_extent(renderer) for text in found}
    return [t for t, b in boxes.items() if b.x0 < canvas.x0 or b.y0 < canvas.y0 or b.x1 > canvas.x1 or b.y1 > canvas.y1]
