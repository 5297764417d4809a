"""Cells that no spreadsheet executes, and numbers that remain numbers."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.formulas import defused, encoded, mark_within, unmark_within
from exports.csvsafe import cell, line


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t1", "\r1", "\u200b=1", "＝1", "\ufeff @x", "-"]
)
def test_text_that_a_spreadsheet_would_execute_is_defused(text):
    assert cell(text) == f"'{text}"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("hello;=1+1", "hello;'=1+1"), ("a\t@SUM(A1)", "a\t'@SUM(A1)"), ("fine\r\n +1", "fine\r\n '+1"),
        ("\n=1", "'\n'=1"), ("=1;-2", "'=1;'-2"), ('{"said":"x;=1"}', '{"said":"x;\'=1"}'), ("a; b", "a; b"),
    ],
)  # fmt: skip
def test_formulas_after_other_separators_are_defused(text, written):
    assert cell(text) == written


@pytest.mark.parametrize("text", ["1 = 1", "a-b", "", "'=1", "50% + 1", "(-1)", "ünï"])
def test_other_text_is_unchanged(text):
    assert cell(text) == text


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (-5, "-5"),
        (-0.1, "-0.1"),
        (1e-9, "1e-09"),
        (Decimal("1.50"), "1.50"),
        (True, "TRUE"),
        (None, ""),
        ({"a": [1, None]}, '{"a":[1,null]}'),
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=2))), "2026-01-02T01:04:05.000000Z"),
        (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00.000000Z"),
    ],
)
def test_typed_values_are_written_plainly(value, written):
    assert cell(value) == written


@settings(deadline=None)
@given(st.lists(st.text(), min_size=2))
def test_any_text_survives_a_csv_line(cells):
    record = line(cells)
    assert record.endswith(b"\r\n")
    assert list(csv.reader(io.StringIO(record.decode(), newline=""))) == [cells]


@settings(deadline=None)
@given(st.text(alphabet="a=+;'\t\r\n \u200b", max_size=12))
def test_marks_after_separators_defuse_and_can_be_removed(text):
    marked = mark_within(text)
    assert unmark_within(marked) == text
    assert defused("a" + marked) == "a" + marked


def test_a_lone_surrogate_does_not_break_a_file():
    assert encoded("a\ud800") == b"a\\ud800"
