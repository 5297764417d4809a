"""Figures show the right values, and readers cannot misread them."""

from __future__ import annotations

import re

import altair as alt
import pytest

from analysis.charts import drawn
from analysis.data import load
from analysis.tables import Chart, Table
from analysis.tests.building import dataset, match


def draw(mark, name, title, rows, **settings):
    """Return a figure of rows that are no analysis's."""
    return drawn(Table(name, title, (), rows), Chart(mark, **settings))


def texts(figure) -> list[str]:
    """Return all text in the drawing, with the lines of each joined."""
    found = re.findall(r"<text[^>]*>(.*?)</text>", figure.svg())
    return [" ".join(re.findall(r"[^<>]+(?=<|$)", re.sub(r"<[^>]*>", "<", text))) for text in found]


FIFTY = [{"t": t} for t in range(50)]
ROWS = [
    {"who": who, "of": of, "t": t, "estimate": t + 1.0, "low": t + 0.5, "high": t + 2.0, "values": [t, t + 1, t + 3]}
    for who in ("Alice", "Bob")
    for of in ("x", "y")
    for t in range(3)
]


@pytest.mark.parametrize(
    "figure",
    [
        draw("dots", "d", "D", ROWS, y="who", colour="t", facet="of", line=0.0),
        draw("lines", "l", "L", ROWS, x="t", colour="who", facet="of", line=0.0),
        draw("bars", "b", "B", ROWS, y="who", facet="of"),
        draw("histogram", "h", "H", FIFTY, x="t", lines={"mean": 25.0}),
        draw("heat_map", "h", "H", ROWS, x="who", y="of", facet="t", centre=0.0),
        draw("scatter", "s", "S", ROWS, x="t", y="estimate", colour="who", facet="of"),
        draw("strip_plot", "s", "S", ROWS, y="who", x="estimate", facet="of"),
    ],
    ids=lambda figure: figure.title,
)
def test_specifications_follow_the_schema_and_hold_their_data(figure):
    alt.Chart.from_dict(figure.spec, validate=True)
    assert figure.spec["data"]["values"] and not figure.spec.get("datasets")


def test_heat_map_without_effects_has_a_scale():
    rows = [{"who": who, "of": of, "estimate": 1e-15} for who in "ab" for of in "xy"]
    assert {"1.00", "0.00"} <= set(texts(draw("heat_map", "h", "H", rows, x="who", y="of", centre=0.0)))


def test_a_panel_of_one_value_has_that_value_on_its_axis():
    rows = [{"who": who, "estimate": 1.47} for who in "ab"]
    assert "1" not in texts(draw("dots", "d", "D", rows, y="who"))
    assert any(text.startswith("1.4") for text in texts(draw("dots", "d", "D", rows, y="who")))


def test_rounding_errors_are_drawn_as_zero():
    rows = [{"who": "a", "estimate": 1e-14, "low": -3e-10, "high": 3e-10}]
    figure = draw("dots", "d", "D", rows, y="who")
    assert not any("000000" in text for text in texts(figure))
    assert "smallest 0 (a)" in figure.alt


def test_long_labels_are_complete_and_marks_drawn_once():
    long = "P1: script:always_cooperate · P2: script:always_"
    rows = [{"who": long + end, "estimate": index, "of": "x"} for index, end in enumerate(("cooperate", "defect"))]
    figure = draw("dots", "d", "D", rows, y="who", facet="of", line=0.5)
    assert {long + "cooperate", long + "defect"} <= set(texts(figure))
    assert texts(draw("histogram", "h", "H", FIFTY, x="t", lines={"mean": 25.0})).count("mean") == 1


def test_line_legends_show_shapes_and_svg_has_one_role():
    rows = [
        {"t": t, "estimate": t, "low": t - 1, "high": t + 1, "who": who} for t in range(4) for who in ("Alice", "Bob")
    ]
    svg = draw("lines", "l", "L", rows, x="t", colour="who").svg()
    legend = svg[svg.index("role-legend") :]
    assert 'opacity="0.18"' not in legend
    assert svg.count("role=") == 1 and "aria-" not in svg


def test_headings_use_the_codebooks_names(tmp_path):
    folder = dataset(tmp_path / "d", {"matches": [match(1, config_delta_bob=0.9, payoffs_bob=1.0, efficiency=1.0)]})
    codebook = folder / "codebook.csv"
    meanings = {
        "config_delta_bob": "Parameter of the game: Bob's discount factor. What is left of it.",
        "payoffs_bob": "Payoff of Bob.",
    }
    lines = [
        line.replace(",,", f",{meanings[column]},", 1) if (column := line.split(",")[1]) in meanings else line
        for line in codebook.read_text().splitlines()
    ]
    codebook.write_text("\n".join(lines))
    data = load(folder, allow_modified=True)
    assert data.heading("config_delta_bob") == "Bob's discount factor"
    assert data.heading("payoffs_bob") == "Payoff of Bob"
    assert data.heading("efficiency") == "Efficiency"
    assert (data.role_name("bob"), data.role_name("alice")) == ("Bob", "Alice")
