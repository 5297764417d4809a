"""Several games in one journey, in fixed or random order."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from exports.dataset import export
from exports.tests.test_dataset import rows
from exports.verify import verify
from games.play import script_move
from matches import services as matches
from matches.models import Match, Seat
from participants.models import Enrolment
from participants.states import State
from recruiters.arrivals import Arrival
from studies import enrolling
from studies.endings import earnings_of
from studies.journeys import consent_of
from studies.models import Placement, Study
from studies.tests.kit import arrive, document, launched, leave_match_page, states

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
GROUP_COLUMNS = ("group.id_in_subsession", "player.id_in_group")
PLAYER_COLUMNS = ("player.parley_match", "player.parley_role", "player.parley_payoff")
PAIR = {"p1": "person", "p2": "person"}
GAME: dict[str, Any] = {"stage": "game", "code_word": None, "lobby": {"ready": 0}}
CONTEST = {
    **GAME, "name": "contest", "game": "beauty_contest", "config": {"players": 2, "runs": 1},
    "seats": {"p1": "person", "*": "rational"},
}  # fmt: skip
DIVIDE = {
    **GAME, "name": "divide", "game": "bargaining", "config": {"rounds": 2}, "instructions": "Divide it.",
    "seats": {"alice": "person", "*": "fair"},
}  # fmt: skip
DILEMMA = {**GAME, "name": "dilemma", "game": "social_dilemma", "seats": PAIR, "partners": "any"}
AGENTS = {"rational": {"script": "rational"}, "fair": {"script": "fair"}}


def session(*games: dict[str, Any], order: str = "fixed", **parts: object) -> Study:
    """Return a launched study of several games in one block."""
    plan = document("bargaining", via="open", **parts)
    plan["journey"] = [{"stage": "consent"}, {"stage": "block", "name": "games", "order": order, "of": list(games)}]
    used = {label for game in games for label in game["seats"].values()}
    return launched("session", plan={**plan, "agents": {name: AGENTS[name] for name in AGENTS if name in used}})


def steps_for(launched_study: Study) -> list[dict[str, object]]:
    return enrolling.enrol(launched_study, Arrival(recruiter="open", proof="", worker="")).steps


def games_of(steps: list[dict[str, object]]) -> list[object]:
    return [step["game"] for step in steps if step["kind"] == "match"]


def finish(match: Match) -> None:
    """Let scripted players make all moves."""
    match.refresh_from_db()
    while match.status == "live":
        play = match.play()
        role = play.waiting_for()[0]
        move = script_move(play, role, "random")
        matches.submit_move(match_id=match.pk, role=role, move=move, answering=play.opened[role])
        match.refresh_from_db()


def play_all(enrolment: Enrolment) -> Enrolment:
    while not enrolment.ended:
        finish(Seat.objects.filter(enrolment=enrolment).order_by("step").last().match)
        enrolment = leave_match_page(enrolment)
    return enrolment


def test_games_are_played_in_order_with_their_own_rules():
    steps = steps_for(session(CONTEST, DIVIDE))
    assert games_of(steps) == ["beauty_contest", "bargaining"]
    instructions = [step for step in steps if step["kind"] == "instructions"]
    assert [step["game"] for step in instructions] == ["beauty_contest", "bargaining"]
    assert instructions[1]["texts"]["instructions"] == "Divide it."
    assert "You play 2 games." in instructions[0]["pay"] and "not all the same" in instructions[0]["pay"]


def test_random_order_differs_between_participants():
    launched_study = session(CONTEST, DIVIDE, order="random")
    orders = {tuple(games_of(steps_for(launched_study))) for _person in range(12)}
    assert orders == {("beauty_contest", "bargaining"), ("bargaining", "beauty_contest")}


def test_every_game_is_paid_and_in_the_dataset(tmp_path: Path):
    launched_study = session(CONTEST, DIVIDE, of="last")
    (enrolment,) = arrive(launched_study)
    assert play_all(enrolment).state == State.COMPLETED
    earned = earnings_of(enrolment, launched_study.latest_version().plan)
    assert [game["counts"] for game in earned.games] == [False, True]
    export(launched_study, tmp_path / "d")
    assert verify(tmp_path / "d") == []
    match_rows = {row["game"]: row for row in rows(tmp_path / "d", "matches")}
    assert {game: row["session"] for game, row in match_rows.items()} == {"beauty_contest": "1", "bargaining": "2"}
    assert (match_rows["bargaining"]["config_rounds"], match_rows["beauty_contest"]["config_rounds"]) == ("2", "")
    assert {row["role"] for row in rows(tmp_path / "d", "seats")} == {"p1", "p2", "alice", "bob"}


def test_those_who_may_meet_play_the_same_games_in_one_order():
    """Also if others arrive in between; other groups play other orders."""
    launched_study = session({**CONTEST, "seats": PAIR, "partners": "any"}, DILEMMA, order="random")
    steps_by_group: dict[str, list[list[dict[str, object]]]] = {}
    for number in range(24):
        group = f"group {number % 12}"
        arrival = Arrival(recruiter="otree", proof=str(number), worker=str(number), together=group, checked=True)
        steps_by_group.setdefault(group, []).append(enrolling.enrol(launched_study, arrival).steps)
    pools = {
        group: {tuple(step["pool"] for step in steps if step["kind"] == "lobby") for steps in members}
        for group, members in steps_by_group.items()
    }
    assert all(len(own_pools) == 1 for own_pools in pools.values())
    assert len(set.union(*pools.values())) == 12
    assert len({tuple(games_of(members[0])) for members in steps_by_group.values()}) == 2


def test_groups_stay_together_across_games(tmp_path: Path):
    launched_study = session({**CONTEST, "seats": PAIR, "partners": "any"}, DILEMMA, order="random")
    enrolments = arrive(launched_study, 4)
    assert states(enrolments) == {State.PLAYING: 4}
    for _game in range(2):
        for match in Match.objects.filter(status="live"):
            finish(match)
        enrolments = [leave_match_page(enrolment) for enrolment in enrolments]
    assert states(enrolments) == {State.COMPLETED: 4}
    assert sorted(Match.objects.values_list("game", flat=True)) == ["beauty_contest"] * 2 + ["social_dilemma"] * 2
    for enrolment in enrolments:
        contest = Seat.objects.get(enrolment=enrolment, match__game="beauty_contest")
        assert Placement.objects.get(enrolment=enrolment).role == contest.role
    assert Match.objects.values("seed").distinct().count() == 4
    export(launched_study, tmp_path / "d", ["csv", "jsonl", "otree"])
    assert verify(tmp_path / "d") == []
    wide = rows(tmp_path / "d", "all_apps_wide")
    for game in ("1", "2"):
        columns = [{name: row[f"parley.{game}.{name}"] for name in (*GROUP_COLUMNS, *PLAYER_COLUMNS)} for row in wide]
        groups = Counter(row["group.id_in_subsession"] for row in columns)
        assert sorted(groups.values()) == [2, 2]
        assert Counter(row["player.id_in_group"] for row in columns) == {"1": 2, "2": 2}
        for row in columns:
            match = Match.objects.get(uid=row["player.parley_match"])
            assert float(row["player.parley_payoff"]) == match.payoffs[row["player.parley_role"]]


def test_consent_text_describes_the_others_in_all_games():
    consent = consent_of(session(CONTEST, DIVIDE).latest_version())
    assert "wait for the others" not in consent and "people taking part" not in consent
    Study.objects.update(slug="alone")
    consent = consent_of(session(CONTEST, DILEMMA).latest_version())
    assert "for at most 5 minutes" in consent and "like you, or a computer program" in consent
