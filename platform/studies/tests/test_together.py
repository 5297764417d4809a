"""Studies with several participants per match: placement, lobby, sessions and pay."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from lobby import services as lobbies
from lobby.models import Place
from matches.models import Match, Seat
from participants import services as people
from participants.states import State
from payouts.models import LedgerRow
from plans.reading import BadPlan
from recruiters.arrivals import Arrival
from studies import enrolling
from studies.journeys import consent_of
from studies.models import Placement
from studies.tests.kit import (
    arrive,
    contest,
    launch_again,
    leave_match_page,
    lineups,
    play,
    play_all_but,
    states,
    walk_to_lobby,
)

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]


ALONE = {"p1": "person", "*": "script:rational"}
TWO_OPPONENTS = lineups(
    rational={"p1": "person", "p2": "person", "p3": "script:rational"},
    random={"p1": "person", "p2": "person", "p3": "script:random"},
)


class TestPlacing:
    def test_three_arrivals_form_a_group(self):
        enrolments = arrive(contest(), 3)
        assert states(enrolments) == {State.PLAYING: 3}
        assert sorted(Placement.objects.values_list("role", flat=True)) == ["p1", "p2", "p3"]
        for enrolment in enrolments:
            assert Placement.objects.get(enrolment=enrolment).role == Seat.objects.get(enrolment=enrolment).role

    def test_incomplete_cells_are_filled_first(self):
        launched_study = contest(config={"players": 3, "runs": 1}, **TWO_OPPONENTS, quota=10)
        assert states(arrive(launched_study, 8)) == {State.PLAYING: 8}

    def test_groups_are_spread_over_line_ups(self):
        launched_study = contest(config={"players": 3, "runs": 1}, **TWO_OPPONENTS, quota=2)
        arrive(launched_study, 8)
        agents = Seat.objects.filter(enrolment=None).values_list("agent", flat=True)
        assert Counter(agents) == {"script:rational": 2, "script:random": 2}

    def test_early_leavers_are_replaced(self):
        launched_study = contest(quota=1)
        leaver, *others = arrive(launched_study, 2)
        people.withdraw(enrolment_id=leaver.pk)
        others += arrive(launched_study, 2)
        assert states(others) == {State.PLAYING: 3}
        with pytest.raises(enrolling.Full):
            arrive(launched_study)

    def test_seats_filled_by_agents_are_not_offered_again(self):
        launched_study = contest(quota=1, otherwise="agents", fill="script:random")
        (single,) = arrive(launched_study)
        Place.objects.update(until=timezone.now())
        lobbies.sweep()
        assert states([single]) == {State.PLAYING: 1}
        with pytest.raises(enrolling.Full):
            arrive(launched_study)


class TestVersions:
    def test_lobbies_do_not_mix_versions_and_everyone_ends_in_their_own(self):
        made = contest(config={"players": 2, "runs": 1}, seats={"*": "person"}, agents={})
        late = enrolling.enrol(made, Arrival(recruiter="open", proof="", worker=""))
        (early,) = arrive(made)
        launch_again(made, turn=77)
        (new,) = arrive(made)
        assert not Match.objects.exists(), "both wait"
        pairs = {180: [early, walk_to_lobby(late)], 77: [new, *arrive(made)]}
        for turn, pair in pairs.items():
            assert states(pair) == {State.PLAYING: 2}
            match = Match.objects.filter(seats__enrolment__in=pair).distinct().get()
            assert match.timers["turn_seconds"] == turn
            play(match, {})
            assert {leave_match_page(enrolment).state for enrolment in pair} == {State.COMPLETED}


class TestPay:
    def test_waiting_without_a_group_is_paid_by_time_as_the_consent_says(self):
        study = contest(waiting_rate=Decimal("9.00"), base=Decimal("0.50"))
        text = consent_of(study.latest_version())
        assert "for at most 5 minutes" in text and "$9.00 an hour" in text
        assert "nother player leaves the game" in text
        (single,) = arrive(study)
        Place.objects.update(
            since=timezone.now() - timedelta(seconds=400), until=timezone.now() - timedelta(seconds=100)
        )
        lobbies.sweep()
        assert states([single]) == {State.NO_PARTNER: 1}
        rows = {row.reason: row for row in LedgerRow.objects.filter(enrolment=single)}
        assert {reason: row.amount for reason, row in rows.items()} == {
            "base": Decimal("0.50"),
            "bonus": Decimal("0.75"),
        }
        assert rows["bonus"].workings["waited"] == pytest.approx(300, abs=0.1)
        assert rows["bonus"].workings["rule"]["waiting_rate"] == "9.00"
        assert [line["reason"] for line in single.earnings["amounts"]] == ["base", "waiting"]
        assert single.earnings["lines"][1]["because"].startswith("you waited 5 minutes")

    def test_partners_of_a_leaver_are_paid_base_and_average(self):
        leaver, *others = arrive(contest(base=Decimal("1.00"), average=Decimal("2.00")), 3)
        people.withdraw(enrolment_id=leaver.pk)
        assert states(others) == {State.PARTNER_LEFT: 2}
        for enrolment in others:
            assert dict(LedgerRow.objects.filter(enrolment=enrolment).values_list("reason", "amount")) == {
                "base": Decimal("1.00"),
                "bonus": Decimal("2.00"),
            }

    def test_clock_move_frees_only_that_seats_place(self):
        launched_study = contest(on_timeout="default", extension=0)
        enrolments = arrive(launched_study, 3)
        match = Match.objects.get()
        silent = Seat.objects.get(match=match, role="p3")
        play_all_but(match, "p3")
        for enrolment in enrolments:
            leave_match_page(enrolment)
        assert states(enrolments) == {State.COMPLETED: 3}
        holders = Placement.objects.filter(released_at=None).values_list("enrolment", flat=True)
        assert set(holders) == {enrolment.pk for enrolment in enrolments} - {silent.enrolment_id}


class TestSessions:
    def test_repeated_games_have_different_seeds(self):
        (enrolment,) = arrive(contest(seats=ALONE, repeats=3, of="random"))
        (instructions,) = [step for step in enrolment.steps if step["kind"] == "instructions"]
        assert "You play 3 games." in instructions["pay"] and "one of your games, drawn" in instructions["pay"]
        for _match in range(3):
            play(Seat.objects.filter(enrolment=enrolment).order_by("step").last().match, {})
            enrolment = leave_match_page(enrolment)
        assert enrolment.state == State.COMPLETED
        drawn = [game["counts"] for game in LedgerRow.objects.filter(enrolment=enrolment).last().workings["games"]]
        assert drawn.count(True) == 1
        assert Match.objects.values("seed").distinct().count() == 3

    @pytest.mark.parametrize(("pays", "counts"), [("all", [True, True]), ("last", [False, True])])
    def test_counted_matches_are_paid_and_recorded(self, pays: str, counts: list[bool]):
        launched_study = contest(seats=ALONE, repeats=2, of=pays, config={"players": 2, "runs": 1})
        (enrolment,) = arrive(launched_study)
        for answer in (100, 0):
            play(Seat.objects.filter(enrolment=enrolment).order_by("step").last().match, {"p1": answer, "p2": 50})
            enrolment = leave_match_page(enrolment)
        games = LedgerRow.objects.get(enrolment=enrolment, reason="bonus").workings["games"]
        assert [game["counts"] for game in games] == counts
        workings = LedgerRow.objects.get(enrolment=enrolment, reason="bonus").workings
        expected = [game["share"] for game in games if game["counts"]]
        assert workings["share"] == pytest.approx(sum(expected) / len(expected))

    def test_second_game_has_new_partners(self):
        launched_study = contest(seats={"p1": "person", "p2": "person"}, config={"players": 2, "runs": 1}, repeats=2)
        enrolments = arrive(launched_study, 4)
        for match in Match.objects.all():
            play(match, {})
        enrolments = [leave_match_page(enrolment) for enrolment in enrolments]
        assert states(enrolments) == {State.PLAYING: 4}
        pairs = [frozenset(match.seats.values_list("enrolment", flat=True)) for match in Match.objects.all()]
        assert len(pairs) == len(set(pairs)) == 4


def test_agents_that_fill_seats_must_be_chosen():
    with pytest.raises(BadPlan) as error:
        contest(otherwise="agents")
    assert [fault.at for fault in error.value.faults] == ["journey.1.lobby.fill"]
