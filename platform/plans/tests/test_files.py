"""Plans as text: canonical form, hash, differences."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plans.canonical import canonical, plan_hash, version_hash
from plans.checking import check
from plans.comparing import compare
from plans.files import dumps, loads
from plans.reading import BadPlan, Reader
from plans.tests.examples import FRAMING, changed, framing


def test_the_canonical_form_of_a_canonical_plan_is_itself():
    once = canonical(FRAMING)
    assert canonical(once) == once
    assert version_hash(once) == version_hash(FRAMING)


def test_a_file_says_the_same_as_the_plan_it_was_made_from():
    assert loads(dumps(FRAMING)) == FRAMING
    assert loads(json.dumps(FRAMING)) == FRAMING
    assert loads(dumps(canonical(FRAMING))) == canonical(FRAMING)


@pytest.mark.parametrize(
    "path, value",
    [
        ("pay.base", "1.00"), ("pay.base", 1.0), ("pay.currency", "USD"), ("journey.3.of.0.timing", {"turn": 180}),
        ("title", "Another title"), ("cells.quota", 7), ("entry", {"via": "open"}),
    ],
)  # fmt: skip
def test_the_hash_stays_when_participants_would_meet_the_same(path, value):
    assert version_hash(changed(path, value)) == version_hash(FRAMING)


@pytest.mark.parametrize(
    "path, value",
    [
        ("pay.base", "1.01"), ("journey.3.of.0.timing", {"turn": 181}), ("shown_title", "Another title"),
        ("journey.1.text.values.give", "You lend."), ("cells.rule", "random"),
    ],
)  # fmt: skip
def test_the_hash_changes_with_what_participants_meet(path, value):
    assert version_hash(changed(path, value)) != version_hash(FRAMING)


def test_cells_with_the_same_content_have_the_same_hash():
    def hashes(document):
        reader = Reader(canonical(document))
        return [plan_hash(reader.plan(cell.factors)) for cell in reader.cells]

    assert len(set(hashes(FRAMING))) == 8
    assert hashes(changed("factors.wording.levels", ["take", "give"]))[:4] == hashes(FRAMING)[4:]


@pytest.mark.parametrize(
    "text",
    [
        *("%YAML 1.1\n---\na: on", "%YAML 1.3\n---\na: on", "a: {1: x, '1': y}", "a: {~: 1}", '{"a": "\\ud800"}'),
        *('{"a": "\\u0000"}', "[" * 50_000, "- " * 50_000, '{"a":' * 50_000, "a: !!binary aGk=", "a: !x y"),
        *(
            "a: 1\na: 2", "[1]", "a: &x 1\nb: *x", "a: {", "", "a: .nan", '{"a": 1, "a": 2}',
            "a: " + "[" * 99 + "]" * 99,
        ),
    ],
)  # fmt: skip
def test_a_text_that_is_no_plan_is_refused(text):
    with pytest.raises(BadPlan):
        loads(text)


def test_words_that_older_yaml_reads_as_something_else_stay_words():
    assert loads("a: [on, off, yes, 2026-01-01]") == {"a": ["on", "off", "yes", "2026-01-01"]}


def test_numbers_and_truth_values_are_keys_of_values():
    levels = "factors: {n: {levels: [100, 0.5, true]}}\n"
    values = {"100": "a", "0.5": "b", "true": "c"}
    assert loads(f"{levels}told: {{by: n, values: {{100.0: a, 0.50: b, true: c}}}}")["told"]["values"] == values
    written = {"factors": {"n": {"levels": [100.0, 0.5]}}, "told": {"by": "n", "values": {"100.0": 1, "0.50": 2}}}
    assert loads(json.dumps(written))["told"]["values"] == {"100": 1, "0.5": 2}
    words = {"factors": {"n": {"levels": ["1.0", "1.00"]}}, "told": {"by": "n", "values": {"1.0": 1, "1.00": 2}}}
    assert loads(json.dumps(words)) == words


def test_roles_are_a_factor_that_needs_no_declaration():
    seats = {role: {role: "person", "*": {"by": "opponent"}} for role in ("alice", "bob")}
    document = loads(dumps(changed("journey.3.of.0.seats", {"by": "role", "values": seats})))
    assert document["factors"]["role"] == {"levels": ["alice", "bob"]}
    assert len(check(document).cells) == 16 and not check(document).faults
    assert {fault.at for fault in check(changed("factors.role", {"levels": [1]})).faults} == {"factors.role"}


words = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]) | st.sampled_from("\n"), max_size=30)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda children: st.lists(children, max_size=3) | st.dictionaries(words, children, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(words, plain, min_size=1, max_size=4))
def test_every_document_survives_its_file(document):
    assert loads(dumps(document)) == document


# ---- differences ----------------------------------------------------------------------------------------------


def test_a_difference_names_the_path_in_words():
    document = changed("journey.3.of.0.timing", {"turn": 120})
    assert [str(change) for change in compare(FRAMING, document)] == ["games, talk, timing, turn: 180 → 120 s"]


@pytest.mark.parametrize(
    "path, value, line",
    [
        ("pay.base", 2, "pay, base: 1.00 → 2.00"),
        ("told", {"others": "none"}, "told, others: counts → none"),
        ("journey.3.of.0.code_word", None, "games, talk, code word: tries: 2 → –"),
        ("journey.3.of.0.quiz", True, "games, talk, quiz: no → yes"),
        ("journey.1.text.values.take", "You lend.", "opening, text, wording = take: You take. → You lend."),
        (
            "journey.1.text",
            "Hello.",
            "opening, text: by wording (give: You give {{ stakes }}.; take: You take.) → Hello.",
        ),
        ("journey.2.items.0.min", 18, "before, age, min: 1 → 18"),
        ("journey.3.of.0.timing.turn", {"by": "horizon", "values": {"short": 60, "long": 90}}, None),
        ("factors.wording.levels", ["give", "get"], "factors, wording, levels: give, take → give, get"),
        ("agents.haggler.delay", 3, "agents, haggler, delay: 0 → 3 s"),
        ("journey.1", ..., "opening: a stage “Page” → –"),
    ],
)
@pytest.mark.every_case
def test_differences_speak(path, value, line):
    document = changed(path, value) if "timing" not in path else changed("journey.3.of.0.timing", {"turn": value})
    line = line or "games, talk, timing, turn: 180 s → by horizon (short: 60; long: 90)"
    assert [str(change) for change in compare(FRAMING, document)] == [line]


@pytest.mark.parametrize(
    "path, first, second",
    [
        ("pay.bonus.rate", 1.0, "1.00"), ("pay.bonus.rate", 0.001, "0.0010"), ("agents.model.cap_study", 1, "1.00"),
        ("agents.model.fallback", "haggler", ["haggler"]), ("journey.3.of.0.timing", {}, {"turn": 180.0}),
        ("cells", {"quota": 40}, {"crossed": True, "quota": 41}),
    ],
)  # fmt: skip
@pytest.mark.every_case
def test_two_ways_of_writing_the_same_have_one_hash(path, first, second):
    assert version_hash(changed(path, first)) == version_hash(changed(path, second))


def test_a_difference_says_whether_it_makes_a_new_version():
    document = framing(title="Other", cells={"quota": 5})
    assert {(change.at, change.in_hash) for change in compare(FRAMING, document)} == {
        ("title", False),
        ("cells, quota", False),
    }


def test_plans_written_differently_do_not_differ():
    assert compare(FRAMING, canonical(FRAMING)) == []
