"""A figure as SVG and PDF with its data as CSV beside it: equal data, equal bytes."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from toolcal.figures.style import styled


@styled
def save(figure: Figure, data: pd.DataFrame, *, svg: str | Path, pdf: str | Path, csv: str | Path) -> None:
    """Write a figure in both formats, and the rows it was drawn from.

    Args:
        figure: what a function of `FIGURES` returned.
        data: the rows that it was given.
        svg: the SVG file; its texts stay texts.
        pdf: the PDF file, with TrueType fonts.
        csv: the CSV file.
    """
    for path in map(Path, (svg, pdf, csv)):
        path.parent.mkdir(parents=True, exist_ok=True)
    # Without dates, and through canvases of its own: nothing of the run, or of pyplot, gets into the files.
    FigureCanvasSVG(figure).print_figure(svg, format="svg", metadata={"Date": None, "Creator": "toolcal"})
    FigureCanvasPdf(figure).print_figure(pdf, format="pdf", metadata={"CreationDate": None, "Creator": "toolcal"})
    data.to_csv(csv, index=False, lineterminator="\n")
