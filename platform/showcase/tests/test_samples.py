"""The samples are what the services write, say everywhere that they are simulated, and behave as they claim."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from datetime import timedelta
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from collecting.models import Collection
from conftest import made_once
from exports.dataset import export
from exports.verify import verify
from matches.models import Match
from participants.models import Enrolment
from payouts import paying
from payouts.books import check_everything
from payouts.models import LedgerRow
from recruiters import simulated
from recruiters.arrivals import Arrival
from showcase import samples
from showcase.samples import bargaining, guessing, making
from showcase.samples.person import Person
from studies.drafting import copy
from studies.enrolling import NotOpen, enrol
from studies.launching import launch
from studies.models import Placement, Study


def made(make: Any, **options: Any) -> None:
    for _part in make(**options):
        pass


group_sample = made_once(lambda _folder: made(making.group_study), scope="class")


def endings(slug: str) -> Counter[str]:
    return Counter(Placement.objects.filter(version__study__slug=slug).values_list("enrolment__state", flat=True))


def matches_of(slug: str) -> list[Match]:
    study = {"seats__enrolment__placement__cell__version__study__slug": slug}
    return list(Match.objects.filter(**study).distinct().order_by("pk"))


@pytest.mark.usefixtures("group_sample", "db")
class TestGroupStudy:
    def test_has_a_wait_without_a_group_a_stand_in_and_a_drop_out(self) -> None:
        assert endings(guessing.SLUG) == {"completed": 23, "no_partner": 1, "replaced": 1, "dropped_out": 1}
        assert [match.status for match in matches_of(guessing.SLUG)] == ["finished"] * guessing.GROUPS

    def test_numbers_fall_faster_with_the_smaller_fraction(self) -> None:
        targets = defaultdict(list)
        for match in matches_of(guessing.SLUG):
            targets[match.config["fraction"]].append((match.metrics["target_first"], match.metrics["target_last"]))
        shrunk = {fraction: mean(last / first for first, last in pairs) for fraction, pairs in targets.items()}
        assert shrunk[0.5] < shrunk[0.7] - 0.1 and shrunk[0.7] < 0.7

    def test_pay_and_books_follow_from_the_log(self) -> None:
        assert list(check_everything()) == []
        assert LedgerRow.objects.filter(study=guessing.SLUG).count() == 48

    def test_dataset_is_verified_and_says_what_it_is(self, tmp_path: Path) -> None:
        manifest = export(Study.objects.get(slug=guessing.SLUG), tmp_path / "d", ("csv", "parquet"), processes=1)
        assert verify(tmp_path / "d") == []
        assert (manifest.study["purpose"], manifest.demonstration) == ("simulated", False)
        assert manifest.flow["arrived"] == 26 and manifest.flow["matches_in_dataset"] == guessing.GROUPS
        assert "(simulated)" in manifest.publication["title"]
        for file in ("README.md", "codebook.md", "croissant.json", "datacite.json"):
            assert "simulated" in (tmp_path / "d" / file).read_text().lower(), file

    def test_times_are_of_days_ago_and_at_a_persons_pace(self) -> None:
        people = Enrolment.objects.filter(placement__isnull=False)
        assert all(timezone.now() - person.arrived_at > timedelta(days=2) for person in people)
        completed = [person for person in people if person.state == "completed"]
        minutes = [(person.ended_at - person.arrived_at).total_seconds() / 60 for person in completed]
        assert min(minutes) > 2 and max(minutes) < 20 and len({round(m, 2) for m in minutes}) > 20
        moves = [
            event
            for match in matches_of(guessing.SLUG)
            for event in match.events.filter(kind="move").order_by("number")
        ]
        assert all(event.asked_at <= event.at for event in moves)
        assert all(
            (visit.answered_at or visit.shown_at) < timezone.now() for person in people for visit in person.visits
        )

    def test_nothing_is_made_twice(self) -> None:
        before = [Enrolment.objects.count(), Match.objects.count(), LedgerRow.objects.count()]
        made(making.group_study)
        assert [Enrolment.objects.count(), Match.objects.count(), LedgerRow.objects.count()] == before

    def test_its_pages_say_that_it_is_simulated(self, admin_client: Client) -> None:
        group = samples.links()["samples"]["group"]
        for name in ("page", "monitor", "pay", "dataset"):
            page = admin_client.get(group.links[name])
            assert "imulated" in page.content.decode(), name
        assert admin_client.get(group.links["page"]).context["editor"]["plan"]["purpose"] == "simulated"
        assert "simulated" in admin_client.get(reverse("admin:studies_study_changelist")).content.decode()

    def test_its_pages_are_offered_as_they_become_ready(self) -> None:
        offered = samples.links()
        group = offered["samples"]["group"]
        assert set(group.links) == {"page", "monitor", "pay", "dataset", "replay"}
        assert offered["samples"]["study"].links == {} and not offered["ready"]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_session_is_complete_or_absent_however_the_process_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = bargaining.Bargainer.answer

    def die_within_the_fourth_session(person: Person, key: str) -> str:
        if person.number == 4:
            raise KeyboardInterrupt
        return answer(person, key)

    monkeypatch.setattr(bargaining.Bargainer, "answer", die_within_the_fourth_session)
    with pytest.raises(KeyboardInterrupt):
        made(making.bargaining_study, people=6)
    assert Enrolment.objects.count() == 3 and not Enrolment.objects.filter(ended_at=None).exists()
    monkeypatch.undo()
    made(making.bargaining_study, people=6)
    assert Enrolment.objects.count() == 6 and not Enrolment.objects.filter(ended_at=None).exists()
    assert Study.objects.get().status == Study.Status.CLOSED


@pytest.mark.django_db
class TestMoney:
    def test_simulated_people_and_others_never_enter_the_same_study(self) -> None:
        study = Study.objects.create(slug=bargaining.SLUG, draft=bargaining.PLAN)
        launch(study)
        study.refresh_from_db()
        with pytest.raises(NotOpen):
            enrol(study, Arrival("codes", worker="a", proof="a"))
        enrol(study, simulated.arrival(1))
        real = copy(study)
        assert real.purpose == Match.Purpose.STUDY and "simulated" not in real.title
        launch(real)
        real.refresh_from_db()
        with pytest.raises(NotOpen):
            enrol(real, simulated.arrival(1))

    def test_payments_are_answered_without_any_request(self, monkeypatch: pytest.MonkeyPatch) -> None:
        made(making.bargaining_study, people=6)
        rows = LedgerRow.objects.filter(study=bargaining.SLUG)
        assert {"confirmed", "failed", "unclear"} <= set(rows.values_list("state", flat=True))
        assert set(rows.values_list("recruiter", flat=True)) == {simulated.KIND}
        assert paying.pay_due() == 0 or not rows.filter(state="sent").exists()


@pytest.mark.django_db
class TestCommand:
    def test_refuses_outside_a_demo(self) -> None:
        with pytest.raises(CommandError, match="not a demo"):
            call_command("samples")

    def test_refuses_beside_real_people(self) -> None:
        study = Study.objects.create(slug="real", draft={**bargaining.PLAN, "purpose": "study"})
        launch(study)
        study.refresh_from_db()
        enrol(study, Arrival("codes", worker="a", proof="a"))
        with pytest.raises(CommandError, match="real"):
            call_command("samples", "--anyway")
        assert not Study.objects.filter(slug=bargaining.SLUG).exists()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_command_makes_everything(
    tmp_path: Path, settings: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DEMO = True
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "config.settings")  # of the processes that write large datasets
    call_command("samples")
    assert "The samples are ready" in capsys.readouterr().out
    offered = samples.links()
    assert offered["ready"] and not offered["working"]
    assert set(offered["samples"]["study"].links) >= {"monitor", "pay", "download", "report", "replay"}
    assert "leaderboard" in offered["samples"]["tournament"].links

    assert endings(bargaining.SLUG) == {
        "completed": 68, "failed_code_word": 4, "dropped_out": 3, "failed_comprehension": 2, "withdrew": 2,
        "screened_out": 1,
    }  # fmt: skip
    states = set(LedgerRow.objects.filter(study=bargaining.SLUG).values_list("state", flat=True))
    assert states == {"due", "approved", "confirmed", "failed", "unclear"}
    assert list(check_everything()) == []
    shares = defaultdict(list)
    for match in matches_of(bargaining.SLUG):
        if match.status == "finished":
            shares[match.config["delta_alice"] == bargaining.IMPATIENT, match.config["messages_allowed"]].append(
                match.metrics["alice_share"]
            )
    means = {cell: mean(values) for cell, values in shares.items()}
    by_waiting = [means[True, words] - means[False, words] for words in (False, True)]
    by_words = [means[impatient, True] - means[impatient, False] for impatient in (False, True)]
    assert mean(by_waiting) < -0.03 < 0.02 < mean(by_words)

    for parent in (*Study.objects.all(), Collection.objects.get()):
        folder = tmp_path / parent.slug
        export(parent, folder, processes=1)
        assert verify(folder) == []
        title = json.loads((folder / "manifest.json").read_text())["publication"]["title"]
        assert title.startswith("Sample") and title.endswith("(simulated)")
