"""Places for the labels of points, so that none covers another label or a point."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

Box = tuple[float, float, float, float]
"""Left, bottom, right, top, in points."""

Floats = NDArray[np.float64]

_REACH = (5.5, 8.0, 12.0, 17.0, 23.0, 30.0, 40.0, 52.0, 66.0)
_SIDES = [side for side in product((-1.0, -0.5, 0.0, 0.5, 1.0), repeat=2) if max(map(abs, side)) == 1]
_MOVES = np.array(list(product(_REACH, range(len(_SIDES)))))
_ROUNDS = 4


def overlap(boxes: Floats, others: Floats) -> Floats:
    """The area that each of the boxes shares with all the others together."""
    a, b = boxes[:, None, :], others.reshape(1, -1, 4)
    shared = np.minimum(a[..., 2:], b[..., 2:]) - np.maximum(a[..., :2], b[..., :2])
    return np.asarray(shared.clip(min=0).prod(axis=-1).sum(axis=1))


def around(x: float, y: float, half: float) -> Box:
    """A square box around a point."""
    return x - half, y - half, x + half, y + half


def _crossings(start: Floats, stops: Floats, starts: Floats, ends: Floats) -> Floats:
    """How many of the segments from `starts` to `ends` each segment from `start` to one of `stops` crosses."""

    def turn(a: Floats, b: Floats, c: Floats) -> Floats:
        return np.sign((b - a)[..., 0] * (c - a)[..., 1] - (b - a)[..., 1] * (c - a)[..., 0])

    p, q, a, b = start[None, None], stops[:, None], starts[None], ends[None]
    met = (turn(p, q, a) * turn(p, q, b) < 0) & (turn(a, b, p) * turn(a, b, q) < 0)
    return np.asarray(met.sum(axis=1), dtype=np.float64)


def place(
    anchors: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    bounds: Box,
    points: Sequence[Box],
    lines: Sequence[Box],
) -> list[Box]:
    """Choose a box for each label: inside, free, near its point, and with a leader that crosses nothing, in this order.

    The largest are placed first; then each is placed again among all the others, a few times over.

    Args:
        anchors: the point that each label belongs to.
        sizes: width and height of each label.
        bounds: the box that labels must not leave.
        points: boxes of markers, not to be covered.
        lines: boxes of thin marks, better not covered.

    Returns:
        The labels' boxes, in the order of `anchors`.
    """
    spots, extents = np.array(anchors), np.array(sizes)
    boxes = np.full((len(spots), 4), np.nan)
    reach, sides = _MOVES[:, :1], np.array(_SIDES)[_MOVES[:, 1].astype(int)]
    order = sorted(range(len(spots)), key=lambda i: (-extents[i].prod(), i))
    for index in order * _ROUNDS:
        spot, size = spots[index], extents[index]
        corner = spot + sides * reach - (1 - sides) / 2 * size
        choices = np.hstack([corner, corner + size])
        placed = np.isfinite(boxes[:, 0])
        placed[index] = False
        ends = np.clip(spots[placed], boxes[placed, :2], boxes[placed, 2:])
        leaders = np.clip(spot, choices[:, :2], choices[:, 2:])
        apart = np.abs(spots - spot).max(axis=1) > 0
        halos = np.hstack([spots[apart] - 8, spots[apart] + 8])
        cost = (
            100 * (size.prod() - overlap(choices, np.array(bounds)))
            + 50 * overlap(choices, boxes[placed])
            + 20 * overlap(choices, np.array(points))
            + 1.5 * overlap(choices, np.array(lines))
            + 0.5 * overlap(choices, halos)
            + 60 * _crossings(spot, leaders, spots[placed], ends)
            + 2 * reach[:, 0]
        )
        for step in (0.35, 0.5, 0.65, 0.8):
            on_leader = spot + step * (leaders - spot)
            cost += 3 * overlap(np.hstack([on_leader - 1, on_leader + 1]), boxes[placed])
        boxes[index] = choices[int(np.argmin(cost))]
    return [(left, bottom, right, top) for left, bottom, right, top in boxes.tolist()]
