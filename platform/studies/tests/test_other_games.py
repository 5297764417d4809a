"""Sessions with other games, each set up as a separate study, in fixed or random order."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.urls import reverse

from exports.dataset import export
from exports.tests.test_dataset import rows
from exports.verify import verify
from games.play import script_move
from matches import services as matches
from matches.models import Match, Seat
from opponents.agents import agents_from_specs
from participants.models import Enrolment
from participants.states import State
from recruiters.arrivals import Arrival
from studies import enrolling
from studies.endings import earnings_of
from studies.forecast import forecast
from studies.models import Placement, Study
from studies.tests.test_together import arrive, leave_match_page, states, study
from tests.forms import form_data

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
GROUP_COLUMNS = ("group.id_in_subsession", "player.id_in_group")
PLAYER_COLUMNS = ("player.parley_match", "player.parley_role", "player.parley_payoff")
PAIR_LINEUP = [{"name": "", "seats": {"p1": "person", "p2": "person"}}]
SINGLE_LINEUP = [{"name": "", "seats": {"p1": "person", "*": "script:rational"}}]


def other_game_draft(slug: str = "divide", **fields: object) -> Study:
    """Return a draft whose game is played in the session of another study."""
    defaults = {
        "game": "bargaining",
        "config": {"rounds": 2},
        "roles": ["alice"],
        "ready_seconds": 0,
        "agents": agents_from_specs("script:fair"),
    }
    return Study.objects.create(**{"title": slug, "slug": slug, "instructions": "Divide it.", **defaults, **fields})


def session(*others: Study, order: str = "fixed", **fields: object) -> Study:
    """Return a launched study of a contest and other games."""
    single_run = {"config": {"players": 2, "runs": 1}, "lineups": SINGLE_LINEUP}
    keys = [other_study.pk for other_study in others]
    return study(**{**single_run, "repeats": len(keys) + 1, **fields}, session_order=order, session_games=keys)


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
    steps = steps_for(session(other_game_draft(), rule="share"))
    assert games_of(steps) == ["beauty_contest", "bargaining"]
    instructions = [step for step in steps if step["kind"] == "instructions"]
    assert [step["game"] for step in instructions] == ["beauty_contest", "bargaining"]
    assert instructions[1]["texts"]["instructions"] == "Divide it."
    assert "You play 2 games." in instructions[0]["pay"] and "not all the same" in instructions[0]["pay"]


def test_random_order_differs_between_participants():
    launched_study = session(other_game_draft(), order="random")
    orders = {tuple(games_of(steps_for(launched_study))) for _person in range(12)}
    assert orders == {("beauty_contest", "bargaining"), ("bargaining", "beauty_contest")}


def test_every_game_is_paid_and_in_the_dataset(tmp_path: Path):
    launched_study = session(other_game_draft(), of="last")
    (enrolment,) = arrive(launched_study)
    assert play_all(enrolment).state == State.COMPLETED
    version = launched_study.latest_version()
    earned = earnings_of(enrolment, version.content, version.pay())
    assert [game["counts"] for game in earned.games] == [False, True]
    export(launched_study, tmp_path / "d")
    assert verify(tmp_path / "d") == []
    match_rows = {row["game"]: row for row in rows(tmp_path / "d", "matches")}
    assert {game: row["session"] for game, row in match_rows.items()} == {"beauty_contest": "1", "bargaining": "2"}
    assert (match_rows["bargaining"]["config_rounds"], match_rows["beauty_contest"]["config_rounds"]) == ("2", "")
    assert {row["role"] for row in rows(tmp_path / "d", "seats")} == {"p1", "p2", "alice", "bob"}


def test_those_who_may_meet_play_the_same_games_in_one_order():
    """Also if others arrive in between; other groups play other orders."""
    game = other_game_draft("dilemma", game="social_dilemma", config={}, roles=[], agents={}, lineups=PAIR_LINEUP)
    launched_study = session(game, lineups=PAIR_LINEUP, agents={}, partners="any", order="random")
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
    game = other_game_draft("dilemma", game="social_dilemma", config={}, roles=[], agents={}, lineups=PAIR_LINEUP)
    launched_study = session(game, lineups=PAIR_LINEUP, agents={}, partners="any", order="random")
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
    single_game = other_game_draft()
    paired = {"game": "social_dilemma", "config": {}, "roles": [], "agents": {}, "lineups": PAIR_LINEUP}
    paired_game = other_game_draft("dilemma", **paired)
    consent = session(single_game).latest_version().content["texts"]["consent"]
    assert "wait for the others" not in consent and "people taking part" not in consent
    consent = study(slug="met", repeats=2, session_order="fixed", session_games=[paired_game.pk], lineups=SINGLE_LINEUP)
    consent = consent.latest_version().content["texts"]["consent"]
    assert "You may have to wait for the others, for at most 5 minutes." in consent
    assert "may be people taking part in this study, like you, or computer programs" in consent


def test_forecast_counts_every_game():
    launched_study = session(other_game_draft())
    alone = study(slug="alone", config={"players": 2, "runs": 1}, lineups=SINGLE_LINEUP)
    assert forecast(launched_study).decisions > forecast(alone).decisions
    assert forecast(launched_study).matches == 2 * forecast(alone).matches


@pytest.mark.parametrize(("order", "quotas"), [("random", [2, 2, 2]), ("fixed", [6, 6, 6]), ("again", [6, 6, 6])])
def test_quota_counts_groups_wherever_they_begin(order: str, quotas: list[int]):
    launched_study = study(
        lineups=SINGLE_LINEUP,
        repeats=3,
        session_order=order,
        grid={"fraction": [0.5, 0.6, 0.7]},
        quota=6,
    )
    assert list(launched_study.latest_version().cells.values_list("quota", flat=True)) == quotas
    assert forecast(launched_study).matches == {"random": 18, "fixed": 18, "again": 54}[order]


class TestSettingUp:
    @pytest.mark.parametrize(
        ("field", "invalid"),
        [
            ("session_order", {"order": "again"}),
            ("session_matches", {"repeats": 1}),
            ("session_games", {"others": [99]}),
            ("session_games", {"others": [1, 1]}),
        ],
    )
    def test_invalid_values_are_refused_at_their_field(self, field: str, invalid: dict[str, object]):
        keys = {1: other_game_draft().pk}
        games = [Study(pk=keys.get(key, key)) for key in invalid.pop("others", [1])]
        with pytest.raises(ValidationError) as error:
            session(*games, **invalid)
        assert field in error.value.message_dict

    def test_ambiguous_agent_label_is_named(self):
        agents = {"script:rational": {"spec": "script:random"}}
        game = other_game_draft("dilemma", game="social_dilemma", config={}, roles=["p1"], agents=agents)
        with pytest.raises(ValidationError) as error:
            session(game)
        assert "script:rational" in error.value.message_dict["session_games"][0]

    def test_session_games_are_chosen_in_the_form(self, client):
        client.force_login(User.objects.create_superuser("boss"))
        game = other_game_draft()
        draft = Study.objects.get(pk=study(lineups=SINGLE_LINEUP, base=Decimal(2)).pk)
        page = client.get(reverse("admin:studies_study_change", args=[draft.pk]))
        assert "divide (" in page.content.decode()
        chosen = {"other_game_2": str(game.pk), "repeats": "2", "session_order": "fixed"}
        assert client.post(page.request["PATH_INFO"], form_data(page, **chosen)).status_code == 302
        draft.refresh_from_db()
        assert draft.session_games == [game.pk]
        page = client.get(page.request["PATH_INFO"])
        invalid = client.post(page.request["PATH_INFO"], form_data(page, **chosen | {"repeats": "1"}))
        assert "session_matches" in invalid.context["adminform"].form.errors
