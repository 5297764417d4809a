"""The benchmark compares every row with the last run's."""

import json

from deploy.bench.history import Rows


def test_row_is_compared_with_the_last_one_of_its_name(tmp_path):
    file = tmp_path / "var" / "bench.jsonl"
    first = Rows("database|workers|p95 ms", file)
    assert first.compared(["sqlite", 50, 20.0], ["sqlite", "50", "20.0"]) == ""
    assert first.compared(["sqlite", 200, 90.0], ["sqlite", "200", "90.0"]) == ""
    told = Rows("database|workers|p95 ms", file).compared(["sqlite", 50, 30.0], ["sqlite", "50", "30.0"])
    assert ": 1.50; calibration loop" in told
    assert [json.loads(line)["numbers"] for line in file.read_text().splitlines()] == [[20], [90], [30]]


def test_numbers_in_text_are_compared_too(tmp_path):
    rows = Rows("collections|", tmp_path / "bench.jsonl")
    before, after = (
        ["its dataset", f"written in {seconds} s, {size} MB"] for seconds, size in (("2.0", "1,000"), ("1.0", "500"))
    )
    rows.compared(before, before)
    assert ": 0.50 0.50;" in rows.compared(after, after)
