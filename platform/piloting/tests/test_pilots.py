"""Simulated participants use the real pages and leave no trace in data, quotas or pay."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from checks.models import Verdict
from exports.dataset import export
from matches.models import Match
from opponents.models import Call
from participants.models import Enrolment
from participants.states import State
from participants.steps import Step, StepRefused, register
from payouts.models import LedgerRow
from piloting import driver, services
from piloting.errors import CannotPilot
from piloting.models import Pilot, Walker
from piloting.report import report
from studies import journeys
from studies.costs import costs_of
from studies.launching import launch
from studies.models import Placement, Study, Version
from studies.tests.kit import agent, answering, new_study
from tests.visitors import arrived_participant, launched_study

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
Plan, Status = Walker.Plan, Walker.Status


def draft(**parts) -> Study:
    defaults = {"game": "bargaining", "roles": ["alice", "bob"], "agents": "script:fair", "quiz": True}
    return new_study("s", title="S", **{**defaults, **parts})


def run_pilot(study: Study, *, plans: list[str] | None = None, **options) -> Pilot:
    """Run a pilot of the study to its end."""
    pilot = services.begin(study, **{"people": len(plans) if plans else 4, **options})
    for walker, plan in zip(pilot.walkers.order_by("number"), plans or [], strict=False):
        Walker.objects.filter(pk=walker.pk).update(plan=plan)
    driver.drive(pilot.pk)
    pilot.refresh_from_db()
    return pilot


def walkers(pilot: Pilot) -> list[Walker]:
    return list(pilot.walkers.select_related("enrolment").order_by("number"))


def record_call(match: Match, pilot: Pilot, **fields) -> Call:
    """Record a model call in the match, charged to the pilot."""
    return Call.objects.create(
        match_uid=match.uid, role="bob", answering=1, record={}, budget_of=pilot.budget, **fields
    )


class TestPilotedPath:
    def test_draft_runs_from_consent_to_the_last_page(self):
        pilot = run_pilot(draft(), people=2)
        assert pilot.status == Pilot.Status.DONE
        for walker in walkers(pilot):
            assert (walker.status, walker.problem, walker.enrolment.state) == (Status.ARRIVED, "", State.COMPLETED)
            assert [page["kind"] for page in walker.pages] == ["consent", "name", "instructions", "match", "quiz"]
            assert walker.enrolment.display_name
            assert set(walker.enrolment.verdicts.values_list("check_name", "passed")) == {
                ("code_word", True),
                ("quiz", True),
            }
            match = walker.enrolment.seats.get().match
            assert (match.status, match.purpose) == (Match.Status.FINISHED, Match.Purpose.PILOT)
            assert walker.payoff == match.payoffs[walker.enrolment.seats.get().role]

    @pytest.mark.parametrize(
        ("plan", "ending"),
        [
            (Plan.WRONG_CODE, State.FAILED_CODE_WORD), (Plan.MISREADS, State.FAILED_COMPREHENSION),
            (Plan.WRONG_QUIZ, State.FAILED_QUIZ), (Plan.LEAVES, State.WITHDREW), (Plan.SILENT, State.TIMED_OUT),
        ],
    )  # fmt: skip
    def test_failing_participants_reach_their_endings(self, plan, ending):
        study = draft(agents="script:haggler", config={"rounds": 12}, comprehension={})
        pilot = run_pilot(study, plans=[plan])
        (walker,) = walkers(pilot)
        assert walker.enrolment.state == ending
        figures = report(pilot)
        assert [(state, count) for state, _label, count in figures.endings] == [(ending, 1)]
        assert (figures.unexpected, figures.stuck) == ([], [])

    def test_silent_participant_finishes_if_the_clock_moves(self):
        pilot = run_pilot(draft(on_timeout="default", config={"rounds": 1}, roles=["alice"]), plans=[Plan.SILENT])
        assert walkers(pilot)[0].enrolment.state == State.COMPLETED
        assert report(pilot).models.clock > 0

    def test_every_stage_of_a_journey_is_passed_in_every_cell(self):
        game = {"stage": "game", "game": "negotiation", "config": {"rounds": {"by": "horizon"}}}
        questions = [{"name": "mood", "kind": "scale", "text": "How are you?"}]
        document = {
            **draft().draft,
            "factors": {
                "wording": {"levels": ["give", "take"]},
                "horizon": {"levels": [1, 4], "within": "games"},
            },
            "agents": {"any": {"script": "random"}},
            "journey": [
                {"stage": "consent"},
                {"stage": "page", "name": "opening", "text": "You {{ wording }}."},
                {"stage": "questions", "name": "before", "items": questions},
                {"stage": "block", "name": "games", "passes": "random", "of": [
                    {**game, "name": "talk", "seats": {"alice": "person", "*": "any"}, "comprehension": {}},
                ]},
                {"stage": "questions", "name": "after", "items": questions[:0], "show_if": "wording == 'take'"},
            ],
        }  # fmt: skip
        document["journey"][-1]["items"] = [{"name": "why", "kind": "long", "text": "Why?"}]
        Study.objects.update(draft=document)
        pilot = run_pilot(Study.objects.get(), people=2)
        figures = report(pilot)
        assert figures.stuck == []
        assert [(cell.factors, cell.completed) for cell in figures.cells] == [
            ({"wording": "give"}, 1), ({"wording": "take"}, 1),
        ]  # fmt: skip
        kinds = {walker.cell: [page["kind"] for page in walker.pages] for walker in walkers(pilot)}
        assert kinds[1] == ["consent", "name", "page", "questions", *["instructions", "comprehension", "match"] * 2]
        assert kinds[2] == [*kinds[1], "questions"]

    def test_pilot_works_behind_tls(self, settings):
        settings.SITE_URL, settings.ALLOWED_HOSTS = "https://parley.example", ["parley.example"]
        settings.SECURE_SSL_REDIRECT, settings.SECURE_PROXY_SSL_HEADER = True, ("HTTP_X_FORWARDED_PROTO", "https")
        assert [walker.problem for walker in walkers(run_pilot(draft(), people=1))] == [""]

    def test_every_cell_comes_before_any_comes_again(self):
        study = draft(roles=["alice"], factors={"rounds": {"levels": [1, 4, 8, 12]}})
        study.draft["journey"][1]["config"] = {"rounds": {"by": "rounds"}}
        study.save()
        cells = [walker.cell for walker in walkers(services.begin(study, people=9))]
        assert sorted(cells[:4]) == sorted(cells[4:8]) == [1, 2, 3, 4]

    def test_deliberate_waits_are_counted_but_skipped(self):
        started_at = timezone.now()
        pilot = run_pilot(
            draft(roles=["alice"], agents={"fair": agent("script:fair", delay=500)}, config={"rounds": 1}), people=1
        )
        assert timezone.now() - started_at < timedelta(seconds=400)
        step = next(step for step in report(pilot).steps if step.kind == "match")
        assert step.parts["waiting"] * 60 >= 500


class TestUnknownSteps:
    """Steps that a pilot does not know are answered from their form."""

    @pytest.fixture
    def survey(self, monkeypatch, settings, tmp_path):
        """A survey before the game that accepts complete answers only."""
        (tmp_path / "survey.html").write_text(
            '{% extends "participants/frame.html" %}{% block main %}<h1>Survey</h1>'
            '{% for reason in errors.values %}<p class="error">{{ reason }}</p>{% endfor %}<form method="post">'
            '<input type="hidden" name="position" value="{{ position }}">'
            '<input type="number" name="age" min="18" max="99"><textarea name="why"></textarea>'
            '<select name="land"><option value="">–</option><option value="x">X</option></select>'
            '<input type="radio" name="mood" value="good"><input type="radio" name="mood" value="bad">'
            '<button type="submit">Continue</button></form>{% endblock %}'
        )
        settings.TEMPLATES = [{**settings.TEMPLATES[0], "DIRS": [*settings.TEMPLATES[0]["DIRS"], tmp_path]}]

        class Survey(Step):
            kind, title, template, state = "test_survey", "Survey", "survey.html", State.CONSENTED
            submitted: list[dict] = []
            impossible = False

            def context(self):
                return {}

            def answer(self, data):
                answers = {name: data.get(name) for name in ("age", "why", "land", "mood")}
                if self.impossible or not all(answers.values()) or not 18 <= int(answers["age"]) <= 99:
                    raise StepRefused({"age": "No one can answer this."})
                self.submitted.append(answers)

        register(Survey)
        steps_of = journeys.steps_of
        monkeypatch.setattr(
            "piloting.enrolling.steps_of", lambda *args, **kwargs: [{"kind": "test_survey"}, *steps_of(*args, **kwargs)]
        )
        return Survey

    def test_unknown_forms_are_filled_in(self, survey):
        pilot = run_pilot(draft(), people=2)
        assert [walker.status for walker in walkers(pilot)] == [Status.ARRIVED] * 2
        assert [answers["land"] for answers in survey.submitted] == ["x", "x"]
        assert report(pilot).steps[0].title == "Survey"

    def test_step_that_refuses_answers_is_reported(self, survey):
        survey.impossible = True
        pilot = run_pilot(draft(), people=2)
        assert pilot.status == Pilot.Status.DONE
        ((problem, count),) = report(pilot).stuck
        assert count == 2
        assert "“Survey” refused the answers" in problem and "No one can answer this." in problem


class TestGroups:
    """Participants who play with each other meet on the real lobby pages."""

    def contest(self, **parts) -> Study:
        seats = {"p1": "person", "p2": "person", "*": "level 1"}
        config = {"players": 3, "runs": 1}
        agents = {"level 1": {"script": "level_1"}}
        return draft(game="beauty_contest", roles=None, config=config, agents=agents, seats=seats, quiz=False, **parts)

    @pytest.mark.slow
    def test_groups_meet_and_finish(self):
        pilot = run_pilot(self.contest(), people=4)
        assert [walker.status for walker in walkers(pilot)] == [Status.ARRIVED] * 4, report(pilot).stuck
        assert [walker.enrolment.state for walker in walkers(pilot)] == ["completed"] * 4
        matches = Match.objects.filter(purpose="pilot")
        assert sorted(matches.values_list("status", flat=True)) == ["finished"] * 2
        for match in matches:
            seats = {seat.role: seat for seat in match.seats.all()}
            assert seats["p1"].enrolment and seats["p2"].enrolment and seats["p3"].label == "level 1"
        assert not match.events.filter(kind="move", data__by__isnull=False).exists()
        for walker in walkers(pilot):
            kinds = [step["kind"] for step in walker.enrolment.steps]
            assert kinds.index("lobby") == kinds.index("match") - 1

    @pytest.mark.slow
    def test_groups_continue_to_other_games(self):
        study = self.contest()
        fair = {"stage": "game", "name": "divide", "game": "bargaining", "config": {"rounds": 2}}
        study.draft["journey"].append({**fair, "seats": {"alice": "person", "bob": "fair"}})
        study.draft["agents"]["fair"] = {"script": "fair"}
        study.save()
        pilot = run_pilot(study, people=2)
        assert [walker.enrolment.state for walker in walkers(pilot)] == ["completed"] * 2, report(pilot).stuck
        played = Match.objects.filter(purpose="pilot").values_list("game", flat=True)
        assert sorted(played) == ["bargaining", "bargaining", "beauty_contest"]

    def test_participants_without_partners_are_not_stuck(self, monkeypatch):
        monkeypatch.setattr("piloting.enrolling.LOBBY_SECONDS", 2)
        pilot = run_pilot(self.contest(), people=1)
        (walker,) = walkers(pilot)
        assert (walker.status, walker.enrolment.state) == (Status.ARRIVED, "no_partner")


class TestNoTraces:
    def test_pilots_leave_no_place_payment_version_or_data(self, tmp_path):
        study = launched_study(quota=1, roles=["alice"])
        pilot = run_pilot(study, people=2)
        assert report(pilot).completed == 2
        assert not LedgerRow.objects.exists()
        assert not Placement.objects.exists()
        assert Version.objects.count() == 1
        study.refresh_from_db()
        assert study.status == Study.Status.LAUNCHED
        export(study, tmp_path / "data")
        manifest = json.loads((tmp_path / "data" / "manifest.json").read_text())
        assert manifest["flow"]["arrived"] == manifest["flow"]["matches"]["seen"] == 0
        assert arrived_participant(study), "the one place is still free"

    def test_last_page_shows_hypothetical_pay(self):
        pilot = run_pilot(draft(base="1.50"), people=1)
        (walker,) = walkers(pilot)
        earnings = walker.enrolment.earnings
        assert earnings["purpose"] == "pilot"
        assert earnings["amounts"][0] == {"reason": "base", "amount": "$1.50"}
        assert walker.owed["base"] == "1.50"

    def test_pilot_uses_what_a_launch_would_freeze(self):
        study = draft(turn=99)
        pilot = services.begin(study, people=1)
        study.draft["journey"][1]["timing"]["turn"] = 77
        study.save()
        assert pilot.document["journey"][1]["timing"]["turn"] == 99
        assert launch(study).sha256 != pilot.sha256
        study.draft["journey"][1]["timing"]["turn"] = 99
        study.save()
        assert launch(study).sha256 == pilot.sha256


class TestRunning:
    def test_pilot_resumes_after_its_worker_died(self):
        pilot = services.begin(draft(), people=3)
        first = walkers(pilot)[0]
        Walker.objects.filter(pk=first.pk).update(status=Status.WALKING, attempts=1)
        Pilot.objects.update(holder="dead", until=timezone.now() + timedelta(seconds=60))
        assert driver.unheld_pilots() == []
        driver.drive(pilot.pk)
        assert {walker.status for walker in walkers(pilot)} == {Status.WALKING, Status.WAITING}
        Pilot.objects.update(until=timezone.now() - timedelta(seconds=1))
        assert driver.unheld_pilots() == [pilot.pk]
        driver.drive(pilot.pk)
        assert {walker.enrolment.state for walker in walkers(pilot)} == {State.COMPLETED}
        assert Enrolment.objects.count() == 3

    def test_concurrent_pilots_are_refused(self):
        study = draft()
        pilot = services.begin(study, people=1)
        with pytest.raises(CannotPilot, match="already running"):
            services.begin(study, people=1)
        services.stop(pilot)
        assert services.begin(study, people=1).number == 2

    def test_stopped_pilot_does_not_continue(self):
        pilot = services.begin(draft(), people=2)
        services.stop(pilot)
        driver.drive(pilot.pk)
        assert not Enrolment.objects.exists()
        with pytest.raises(CannotPilot):
            services.stop(pilot)

    @pytest.mark.parametrize(
        ("options", "reason"),
        [
            ({"people": 0}, "1 to 500"), ({"people": 501}, "1 to 500"), ({"people": 3, "failing": 4}, "1 to 500"),
            ({"people": 1, "player": "script:nobody"}, "no scripted player"),
            ({"people": 1, "player": "what"}, "is not a valid agent"),
        ],
    )  # fmt: skip
    def test_invalid_pilots_are_refused_with_a_reason(self, options, reason):
        with pytest.raises(CannotPilot, match=reason):
            services.begin(draft(), **options)
        assert not Pilot.objects.exists()

    def test_unlaunchable_study_cannot_be_piloted(self):
        study = draft(instructions="Hello {{ nobody }}")
        with pytest.raises(CannotPilot, match="cannot be launched"):
            services.begin(study, people=1)

    def test_deleting_a_pilot_keeps_only_paid_calls(self):
        study = launched_study()
        participant = arrived_participant(study)
        pilot = run_pilot(study, people=2)
        match = walkers(pilot)[0].enrolment.seats.get().match
        Call.objects.create(
            match_uid=match.uid, role="bob", answering=1, record={}, cost="0.25", budget_of=pilot.budget
        )
        Pilot.objects.filter(pk=pilot.pk).update(status=Pilot.Status.RUNNING)
        with pytest.raises(CannotPilot, match="still running"):
            services.delete(pilot)
        Pilot.objects.filter(pk=pilot.pk).update(status=Pilot.Status.DONE)
        services.delete(pilot)
        assert not Match.objects.exists() and not Verdict.objects.exists() and not Walker.objects.exists()
        assert list(Enrolment.objects.all()) == [participant]
        assert Call.objects.get().cost == 0.25


class TestPilotReport:
    def test_bonuses_are_compared_with_the_announcement(self):
        study = draft(rule="fixed", average="2.00", quota=3)
        figures = report(run_pilot(study, people=2))
        assert (figures.bonuses.mean, figures.bonuses.announced) == (2, 2)
        assert figures.costs == costs_of(study), "as on every other page"
        assert (figures.costs.places, figures.costs.expected) == (6, 6 * 3)
        assert all(step.minutes > 0 and step.words > 0 for step in figures.steps)

    def test_model_costs_illegal_moves_and_fallbacks_are_counted(self):
        pilot = run_pilot(draft(roles=["alice"], config={"rounds": 1}), people=2)
        match = walkers(pilot)[0].enrolment.seats.get().match
        for outcome, cost in (("move", "0.02"), ("rule_break", "0.01"), ("failed", None)):
            record_call(match, pilot, outcome=outcome, cost=cost)
        event = match.events.filter(kind="move").earliest("number")
        event.data = {**event.data, "by": "script:fair"}
        event.save()
        models = report(pilot).models
        assert (models.calls, models.rule_breaks, models.failed, models.matches) == (3, 1, 1, 1)
        assert models.cost == models.cost_per_match == pytest.approx(0.03)
        assert models.unpriced == 0
        assert models.fallbacks == {"script:fair": 1}


class TestPilotCommand:
    def test_command_prints_the_report(self, capsys):
        draft()
        call_command("pilot", "s", "--people", "3", "--failing", "1")
        output = capsys.readouterr().out
        assert "3 participants, 2 completed, 0 stuck" in output
        assert "failed the attention check: 1" in output

    def test_command_prints_json(self, capsys):
        draft()
        call_command("pilot", "s", "--people", "1", "--json", "--player", "script:fair")
        printed = json.loads(capsys.readouterr().out)
        assert (printed["people"], printed["completed"], printed["pilot"]) == (1, 1, 1)

    def test_unknown_studies_and_players_are_refused(self):
        draft()
        for arguments in (["nobody"], ["s", "--player", "script:nobody"], ["s", "--people", "0"]):
            with pytest.raises(CommandError):
                call_command("pilot", *arguments)
        assert not Pilot.objects.exists()


class TestModels:
    """Models are called over the real protocol, at a stand-in server."""

    @pytest.fixture
    def standin(self, monkeypatch):
        with answering(monkeypatch, ['{"decision": "accept"}']) as serving:
            yield serving

    def test_model_opponents_calls_are_charged_to_the_pilot(self, standin):
        study = draft(roles=["alice"], agents="openai:gpt-4o-mini", config={"rounds": 1})
        pilot = run_pilot(study, people=2)
        assert [walker.problem for walker in walkers(pilot)] == ["", ""]
        figures = report(pilot)
        assert (figures.models.calls, figures.models.matches, figures.models.fallbacks) == (2, 2, {})
        assert figures.models.cost > 0
        expected = figures.models.cost_per_match * figures.costs.places
        assert float(figures.costs.models) == pytest.approx(expected, abs=0.005) and figures.costs.measured
        assert not Call.objects.filter(budget_of__startswith="study:").exists()

    def test_model_may_play_for_participants(self, standin):
        study = draft(roles=["bob"], config={"rounds": 1})
        pilot = run_pilot(study, people=1, player="openai:gpt-4o-mini")
        assert walkers(pilot)[0].enrolment.state == State.COMPLETED
        assert report(pilot).models.calls == 1

    def test_model_without_a_move_leaves_the_participant_stuck(self, standin):
        study = draft(roles=["alice"], config={"rounds": 1})
        pilot = run_pilot(study, people=1, player="openai:gpt-4o-mini")
        ((problem, _count),) = report(pilot).stuck
        assert "“openai:gpt-4o-mini”, " in problem and "made no move" in problem

    def test_failing_opponent_leads_to_its_ending(self, monkeypatch):
        with answering(monkeypatch, ["Well…"]):
            pilot = run_pilot(draft(roles=["alice"], agents="openai:gpt-4o-mini"), people=1)
        figures = report(pilot)
        assert [state for state, _label, _count in figures.endings] == [State.OPPONENT_FAILED]
        assert figures.models.rule_breaks == figures.models.calls > 0
        assert [number for number, _plan, _state in figures.unexpected] == [1]
