"""Line charts: the positions of points and the labels of axes."""

from __future__ import annotations

import pytest

from games.interface import Chart, Series
from matches.charts import BOTTOM, HEIGHT, TOP, draw


def drawn(*ys: float):
    return draw(Chart("profit", "Profit", "Period", "Profit", (Series("you", tuple(enumerate(ys))),)))


def heights(drawing) -> list[float]:
    return [y for _x, y, _now in drawing.lines[0].dots]


@pytest.mark.parametrize(
    ("ys", "ticks"),
    [
        ((1, 2, 4), ["0", "2", "4"]),
        ((-4, 2, 4), ["-4", "0", "4"]),
        ((-4, -2), ["-4", "-2", "0"]),
        ((-0.1, 4), ["0", "4"]),
        ((0, 0), ["0", "0.5", "1"]),
    ],
)
def test_the_axis_spans_all_values_and_labels_zero(ys, ticks):
    drawing = drawn(*ys)
    assert [label for _y, label in drawing.y_ticks] == ticks
    assert min(heights(drawing)) >= TOP and max(heights(drawing)) <= HEIGHT - BOTTOM


def test_a_loss_is_drawn_below_zero():
    drawing = drawn(-3, 0, 3)
    zero = dict((label, y) for y, label in drawing.y_ticks)["0"]
    below, at, above = heights(drawing)
    assert below > at > above and at == zero
