"""Line charts: the positions of points and the labels of axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from django.utils.translation import override

from games.interface import Chart, Series
from matches.charts import BOTTOM, HEIGHT, TOP, draw
from matches.templatetags.play import named


def drawn(*ys: float, **options: bool):
    return lines_drawn({"you": ys}, **options)


def lines_drawn(lines: Mapping[str, Sequence[float]], **options: bool):
    series = tuple(Series(name, tuple(enumerate(map(float, ys)))) for name, ys in lines.items())
    return draw(Chart("prices", "Prices", "Period", "Price", series, **options))


def highest_label(drawing) -> str:
    return drawing.y_ticks[-1][1]


def split(point: str) -> tuple[float, float]:
    x, _comma, y = point.partition(",")
    return float(x), float(y)


def heights(drawing) -> list[float]:
    return [y for line in drawing.lines for _x, y in map(split, line.points.split())]


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


@pytest.mark.parametrize(
    ("lines", "highest", "labels"),
    [
        ({"you": (8, 9, 99_999, 10)}, "10", ["99,999"]),
        ({"you": (8, 99_999, 9)}, "9", ["99,999"]),
        ({"you": (5, 5, 5, 99_999)}, "5", ["99,999"]),
        ({"you": (8, 9, 10, 99_998, 99_999, 7, 8, 9)}, "10", ["99,998"]),
        ({"you": (99_999, *[8] * 30, 77_777)}, "8", ["99,999", "77,777"]),
        ({"one": (8, 9, 10, 9), "other": (80, 90, 80, 90)}, "90", []),
        ({"one": (2, 2, 2, 2), "other": (3, 3, 3, 500)}, "3", ["500"]),
        ({"you": (2, 4, 8, 16, 32, 64)}, "64", []),
        ({"you": (8, 40, 8, 8)}, "40", []),
        ({"you": (8, 99_999)}, "100k", []),
        ({"you": (0, 0, 0, 7)}, "7", []),
    ],
)
def test_a_far_value_stands_at_the_edge_and_does_not_flatten_the_rest(lines, highest, labels):
    drawing = lines_drawn(lines, cuts_outliers=True)
    assert highest_label(drawing) == highest
    assert [arrow.label for arrow in drawing.beyond if arrow.label] == labels
    assert not labels or heights(drawing).count(TOP) == len(drawing.beyond)


def test_the_numbers_below_the_chart_are_all_there():
    ys = (8, 9, 99_999, 10)
    assert drawn(*ys, cuts_outliers=True).rows == drawn(*ys).rows
    assert highest_label(drawn(*ys)) == "100k"


def test_labels_and_drawn_names_follow_the_page_s_language():
    with override("de"):
        assert [label for _y, label in drawn(0, 2.5, 1_250_000).y_ticks][-1] == "1,25M"
        assert [named(name) for name in ("Offer_1", "Product_2", "Table_3")] == ["Angebot 1", "Produkt 2", "Table 3"]
