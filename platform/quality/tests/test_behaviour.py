"""Input behaviour on pages: stored only with consent, scored with reasons, and without any effect on decisions."""

from __future__ import annotations

import csv
import json
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from exports.dataset import export
from exports.tests import building
from exports.verify import verify
from participants.states import State
from payouts.models import LedgerRow
from quality.behaviour import MAX_BYTES, MAX_PARTS
from quality.models import Behaviour
from quality.score import MEANINGS, THRESHOLD, WEIGHTS, score
from tests.visitors import Visitor, arrived_participant, launched_study

VIEW = "abcdefgh"


def human_figures(**fields: int) -> dict[str, int]:
    """Return the figures of a person who types and uses a mouse."""
    return {
        "keys": 60, "intervals": 50, "interval_ms": 9000, "interval_sq": 2_400_000, "typed": 60,
        "clicks": 6, "jumps": 1, "wide": 5, "centred": 0, "travel": 3000, **fields,
    }  # fmt: skip


PROGRAM = {"clicks": 5, "jumps": 5, "wide": 4, "centred": 4, "untyped": 80, "trapped": 1}


# ---- the score -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("figures", "reasons"),
    [
        ({}, ()),
        (human_figures(), ()),
        (PROGRAM, ("trap", "centred", "jumps", "untyped")),
        (human_figures(trapped=1), ("trap",)),
        ({"keyboard": 12, "typed": 90, "keys": 90}, ()),  # a screen reader: no pointer at all
        ({"touches": 12, "untyped": 90}, ("untyped",)),  # dictation on a phone
        (human_figures(pasted=200), ("pasted",)),
        (human_figures(untrusted=3), ("scripted",)),
        ({"intervals": 30, "interval_ms": 1500, "interval_sq": 75_100}, ("even_typing",)),
        ({"intervals": 30, "interval_ms": 300, "interval_sq": 9000}, ("even_typing",)),
        ({"intervals": 19, "interval_ms": 950, "interval_sq": 47_500}, ()),
        ({"clicks": 2, "jumps": 2, "wide": 2, "centred": 2}, ()),
    ],
)
def test_each_reason_has_its_own_test(figures, reasons):
    assert score([("match", figures)]).reasons == reasons


@pytest.mark.parametrize(
    ("words", "ms", "reason"),
    [(200, 7000, "fast_reading"), (200, 1900, "instant"), (200, 20_000, None), (90, 10, None), (200, 0, None)],
)
def test_only_superhumanly_fast_reading_counts_as_fast(words, ms, reason):
    figures = {"words": words, "answered_ms": ms}
    assert score([("instructions", figures)]).reasons == ((reason,) if reason else ())
    assert score([("match", figures)]).reasons == ()


def test_assistive_technology_never_reaches_the_threshold():
    aided = {"keyboard": 9, "untyped": 100, "pasted": 150}
    for figures in (aided, {**aided, "untyped": 200}, {**aided, "untrusted": 4}):
        assert not score([("match", figures)]).flagged
    highest = 1 - (1 - WEIGHTS["untyped"]) * (1 - WEIGHTS["pasted"]) * (1 - WEIGHTS["scripted"])
    assert highest < THRESHOLD


def test_the_score_combines_all_pages_and_explains_every_reason():
    halves = [("name", {"clicks": 2, "wide": 2, "centred": 2}), ("match", {"clicks": 1, "wide": 1, "centred": 1})]
    assert score(halves).reasons == ("centred",)
    assert set(WEIGHTS) == set(MEANINGS) and list(WEIGHTS.values()) == sorted(WEIGHTS.values(), reverse=True)


# ---- storage ---------------------------------------------------------------------------------------------


@pytest.fixture
def visitor(db) -> Visitor:
    """A participant who has agreed and is looking at the second page."""
    visitor = Visitor(arrived_participant(launched_study()))
    visitor.send(0, agree="yes")
    visitor.see()
    return visitor


def post_counts(visitor: Visitor, data: Any = None, position: int = 1, **figures: int) -> HttpResponse:
    body = data if isinstance(data, bytes | str) else json.dumps(
        {"view": VIEW, "position": position, "parts": data or {"": figures}}
    )  # fmt: skip
    address = reverse("quality:behaviour", args=[visitor.enrolment.token])
    return Client(enforce_csrf_checks=True).post(address, body, content_type="text/plain;charset=UTF-8")


def test_a_page_counts_only_after_consent(db):
    visitor = Visitor(arrived_participant(launched_study()))
    consent = visitor.see().content.decode()
    assert "how you type, move the" in consent
    assert "behaviour.js" not in consent and post_counts(visitor, position=0, keys=1).status_code == 422
    visitor.send(0, agree="yes")
    page = visitor.see().content.decode()
    assert "behaviour.js" in page and post_counts(visitor, keys=1).status_code == 204
    assert Behaviour.objects.get().figures["keys"] == 1


def test_the_trap_is_hidden_from_keyboards_and_screen_readers(visitor):
    page = visitor.see().content.decode()
    trap = page[page.index('<p class="unseen" aria-hidden="true">') :]
    trap = trap[: trap.index("</p>")]
    assert 'tabindex="-1"' in trap and 'autocomplete="off"' in trap and " name=" not in trap
    assert "People leave it empty" in trap
    assert page.index("</main>") < page.index('id="helper"'), "no form of the study can send it"


def test_custom_consent_texts_also_mention_the_counts(db):
    page = Visitor(arrived_participant(launched_study(consent="Please agree."))).see().content.decode()
    assert "What our pages record" in page


def test_a_study_without_counts_neither_mentions_nor_accepts_them(db):
    visitor = Visitor(arrived_participant(launched_study(behaviour=False)))
    assert "move the pointer" not in visitor.see().content.decode()
    visitor.send(0, agree="yes")
    page = visitor.see().content.decode()
    assert "behaviour.js" not in page and 'id="helper"' not in page
    assert post_counts(visitor, keys=1).status_code == 422
    assert not Behaviour.objects.exists()


def test_sending_twice_or_late_changes_nothing(visitor):
    for keys in (3, 9, 9, 5):
        assert post_counts(visitor, {"": {"keys": keys}, "7": {"clicks": keys}}).status_code == 204
    rows = {row.question: row.figures for row in Behaviour.objects.all()}
    assert (rows[""]["keys"], rows["7"]["clicks"]) == (9, 9)


@pytest.mark.parametrize(
    "body",
    [
        "", "[]", "x" * (MAX_BYTES + 1),
        {"": {"keys": -1}}, {"": {"keys": 1.5}}, {"": {"text": 1}}, {"": {"trapped": 2}}, {"drop table": {"keys": 1}},
        {str(n): {"keys": 1} for n in range(MAX_PARTS + 1)},
    ],
)  # fmt: skip
def test_invalid_behaviour_messages_are_refused(visitor, body):
    assert post_counts(visitor, body).status_code in (413, 422)
    assert not Behaviour.objects.exists()


def test_a_page_that_was_not_seen_has_no_figures(visitor):
    assert post_counts(visitor, position=3, keys=1).status_code == 404
    assert not Behaviour.objects.exists()


# ---- score, flag and pay ---------------------------------------------------------------------------------


@pytest.mark.django_db
def test_score_and_flag_do_not_affect_pay(tmp_path):
    study = building.new_study()
    program, human = (building.complete(study, worker=worker) for worker in ("A1", "A2"))
    for enrolment, figures in ((program, PROGRAM), (human, human_figures())):
        Behaviour.objects.create(
            enrolment=enrolment, position=3, kind="match", view=VIEW, question="1", figures={"words": 40, **figures}
        )
    export(study, tmp_path / "d")
    assert verify(tmp_path / "d") == []
    rows = {row["participant"]: row for row in csv.DictReader((tmp_path / "d" / "participants.csv").open(newline=""))}
    program_row, human_row = rows[program.pseudonym], rows[human.pseudonym]
    assert (program_row["agent_flag"], program_row["agent_reasons"]) == ("TRUE", "trap;centred;jumps;untyped")
    assert float(program_row["agent_score"]) > 0.9
    assert (human_row["agent_flag"], human_row["agent_reasons"], human_row["agent_score"]) == ("FALSE", "", "0")
    assert program_row["in_dataset"] == human_row["in_dataset"] == "TRUE"
    assert program.state == human.state == State.COMPLETED
    due = {
        enrolment.pk: list(LedgerRow.objects.filter(enrolment=enrolment).values_list("reason", "amount"))
        for enrolment in (program, human)
    }
    assert due[program.pk] == due[human.pk] != []
    pages = list(csv.DictReader((tmp_path / "d" / "behaviour.csv").open(newline="")))
    assert {row["match"] for row in pages} == {str(program.seats.get().match.uid), str(human.seats.get().match.uid)}
    assert [row["answering"] for row in pages] == ["1", "1"]
