"""Actions of the end-to-end tests on a live stack's data, which `Stack.call` runs inside the stack."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

from django.apps import apps
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, F
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from api import tokens
from api.outcomes import outcome_of
from collecting import services as collecting
from collecting.models import Collection, Item
from collecting.presets import load
from collecting.progress import progress as collecting_progress
from collecting.tests.kit import new_collection
from exports.dataset import export
from games.play import replay_events, script_move
from llm_agents.replaying import differences
from marketplaces.models import Account, Recruitment
from matches import services
from matches.models import Event, Match, Seat
from opponents.endpoints import MEMORY
from opponents.models import Call, Endpoint
from opponents.services import records_of
from pages.files import store
from participants import services as people
from participants.models import Enrolment
from participants.states import State
from payouts.models import LedgerRow, Posting
from piloting import reading
from piloting import services as pilots
from piloting.answering import answers
from piloting.models import Pilot, Walker
from piloting.report import report
from piloting.tasks import queue
from plans.asking import AgentSettings
from programs.models import Program
from programs.tokens import new_secret
from quality.score import score
from recruiters.arrivals import Arrival
from recruiters.models import Delivery, Identity, LabCode, OtreeServer
from recruiters.otree import signed_vars
from showcase import tour
from studies.enrolling import HELD, enrol
from studies.models import Placement, Study
from studies.tests import kit
from surveys.steps import answers_of
from walking.models import Link, Walk
from walking.services import delete_old


def launch_study(parts: dict[str, Any]) -> str:
    """Create and launch a study (`studies.tests.kit`); return its short name."""
    return kit.launched(**parts).slug


def launch_ready_made(name: str, agents: list[str]) -> str:
    """Launch a ready-made study with these agents in the places of its models; return its short name."""
    study = load(name, agents=agents)
    assert isinstance(study, Study)
    return kit.launch_again(study).slug


def answers_on(path: str, page: str) -> dict[str, str]:
    """Return right answers to a page on a participant's path."""
    return answers(reading.read(page), _enrolment_of(path), Walker.Plan.FINISH, Random())


def results_of(slug: str) -> dict[str, Any]:
    """Return each participant's state, number of moves, and amounts due in their order, by path."""

    def result(person: Enrolment) -> dict[str, Any]:
        moves = Event.objects.filter(kind="move", role=F("match__seats__role"), match__seats__enrolment=person)
        amounts = LedgerRow.objects.filter(enrolment=person).order_by("pk").values_list("amount", flat=True)
        return {"state": person.state, "moves": moves.count(), "amounts": [str(amount) for amount in amounts]}

    people = Enrolment.objects.filter(placement__version__study__slug=slug)
    return {person.get_absolute_url(): result(person) for person in people}


def draft_of(slug: str) -> dict[str, Any]:
    """Return the saved plan of a study."""
    draft: dict[str, Any] = Study.objects.get(slug=slug).draft
    return draft


def enrol_in(steps: list[dict[str, Any]]) -> str:
    """Begin an enrolment of its own that has just these steps; return its path."""
    enrolment = Enrolment.objects.create(
        steps=steps, state=State.CONSENTED, expires_at=people.expiry_after(60), earnings={"amounts": []}
    )
    return enrolment.get_absolute_url()


def store_media(name: str, hexadecimal: str, alt: str) -> dict[str, str]:
    """Store an image or video; return what a page needs to show it."""
    return store("pages", name, bytes.fromhex(hexadecimal)).as_shown(alt)


def answers_in(path: str) -> dict[str, Any]:
    """Return the answers to questions on a participant's path."""
    return answers_of(_enrolment_of(path))


def launch_tour_study() -> None:
    """Launch a study in the place of the sample that the tour shows, if there is none."""
    if not Study.objects.filter(slug=tour.STUDY).exists():
        launch_study({"slug": tour.STUDY, "title": "Sample"})


def launch_endless(slug: str, agents: str | dict[str, Any] = "script:fair") -> None:
    """Launch an endless bargaining study: neither the participants nor their opponent ever accept."""
    kit.launched(
        slug, title="Benchmark", config={"rounds": None, "cap": 100_000}, roles=["alice"], agents=agents,
        purpose=Match.Purpose.DEMO, via=Study.Entry.OPEN, quota=1_000_000, minutes=1_000, code_word=None,
    )  # fmt: skip


def launch_again(slug: str, parts: dict[str, Any]) -> None:
    """Launch the next version of a study with these parts of its plan changed."""
    kit.launch_again(Study.objects.get(slug=slug), **parts)


def pay_page_path(slug: str) -> str:
    """Return the path of the study's pay page."""
    return reverse("paydesk:page", args=[Study.objects.get(slug=slug).pk])


def recruit_on_unreachable_mturk(slug: str) -> None:
    """Recruit for the study through an account on a Mechanical Turk server that does not answer."""
    account = Account(title=f"Unreachable for {slug}", kind="mturk", address="http://127.0.0.1:9")
    account.keep_credentials({"access_key_id": "rehearsal", "secret_access_key": "rehearsal"})
    account.save()
    Recruitment.objects.create(study=Study.objects.get(slug=slug), account=account)


def finish_enrolment(slug: str, recruiter: str, worker: str) -> str:
    """End a new worker's enrolment with base pay and bonus due; return the path of the last page."""
    person = enrol(Study.objects.get(slug=slug), Arrival(recruiter, worker=worker, proof=f"{worker}-proof"))
    end_enrolment(person.get_absolute_url(), State.OPPONENT_FAILED)
    return person.get_absolute_url()


def monitor_path(slug: str) -> str:
    """Return the path of the study's monitor."""
    return reverse("monitoring:page", args=[Study.objects.get(slug=slug).pk])


def lab_code(slug: str) -> str:
    """Create a personal code for the study; return it."""
    return LabCode.objects.create(study=slug).code


def api_token(slug: str, scopes: list[str]) -> str:
    """Create an API token for the study; return it as sent in the header."""
    creator, _created = User.objects.get_or_create(username="maker", is_staff=True, is_superuser=True)
    expires_at = timezone.now() + timedelta(hours=1)
    study = Study.objects.get(slug=slug)
    return tokens.issue(study=study, name="examples", scopes=scopes, expires_at=expires_at, by=creator)[1]


def new_program(name: str) -> str:
    """Create a program; return its secret."""
    program = Program(name=name, owner=User.objects.get_or_create(username="programmer", is_staff=True)[0])
    secret = new_secret(program)
    program.save()
    return secret


def moves(slug: str) -> list[str]:
    """Return the moves of the study's match: "offer", or the decision of an answer."""
    return [data["move"].get("decision", "offer") for data in move_data(slug)]


def move_data(slug: str) -> list[dict[str, Any]]:
    """Return the moves of the study's match with all their data: who made them, and for whom."""
    events = Event.objects.filter(match__seats__enrolment__placement__version__study__slug=slug, kind="move")
    return [event.data for event in events.order_by("number")]


def seen_before_moves(slug: str) -> list[tuple[dict[str, int] | None, list[list[Any]] | None]]:
    """Return what was in sight before each move in a study, in milliseconds by block, and what was tried."""
    events = Event.objects.filter(match__seats__enrolment__placement__version__study__slug=slug, kind="move")
    return list(events.order_by("number").values_list("sight", "tries"))


def completion_code(slug: str) -> str:
    """Return the completion code of the study's only participant."""
    return Enrolment.objects.get(placement__version__study__slug=slug).completion_code


def arrive(slug: str, *, role: str | None = None) -> str:
    """Let a participant arrive through a personal link; return the path of their page."""
    return enrol(
        Study.objects.get(slug=slug), Arrival("open", worker="", proof=""), chosen=role or ""
    ).get_absolute_url()


def reach_first_turn(slug: str, *, role: str | None = None) -> str:
    """Let a participant arrive and continue to the first turn of the match; return the path of their page."""
    path = arrive(slug, role=role)
    person = _enrolment_of(path)
    answers = ({"agree": "yes"}, {"name": "Robin"}, {"code_word": person.code_word})
    for position, answer in enumerate(answers):
        people.answer_step(enrolment_id=person.pk, position=position, data=answer)
    people.show_step(enrolment_id=person.pk)
    return path


def move(path: str, script: str, *, patience: float = 10) -> bool:
    """Make the participant's next move as a scripted player would; return False if the match is over."""
    seat = Seat.objects.get(enrolment=_enrolment_of(path))
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        play = Match.objects.get(pk=seat.match_id).play()
        if play.over:
            return False
        if seat.role in play.waiting_for():
            services.submit_move(
                match_id=seat.match_id,
                role=seat.role,
                move=script_move(play, seat.role, script),
                answering=play.opened[seat.role],
            )
            return True
        time.sleep(0.05)
    raise TimeoutError("the opponent did not move")


def end_enrolment(path: str, state: str) -> None:
    """End the participant's enrolment in this state, whatever the current step."""
    with transaction.atomic():
        people.end(people.locked(_enrolment_of(path).pk), State(state))


def _enrolment_of(path: str) -> Enrolment:
    """Return the enrolment whose page has this path."""
    return Enrolment.objects.get(token=path.split("/")[2])


def matches_of(path: str) -> list[list[Any]]:
    """Return the game and key of this participant's matches, in order."""
    return [list(found) for found in _enrolment_of(path).seats.order_by("step").values_list("match__game", "match")]


def page_views(path: str) -> list[dict[str, Any]]:
    """Return the reports of this participant's pages, in order."""
    return list(
        _enrolment_of(path)
        .page_views.order_by("position", "pk")
        .values("kind", "open_ms", "visible_ms", "hidden", "blurred", "pastes", "pasted")
    )


def agent_score(path: str) -> tuple[float, tuple[str, ...], dict[str, int]]:
    """Return the agent score of this participant's pages, its reasons, and the totals of all pages."""
    rows = list(_enrolment_of(path).behaviour.all())
    page_score = score([(row.kind, row.figures) for row in rows])
    totals: Counter[str] = Counter()
    for row in rows:
        totals.update(row.figures)
    return page_score.value, page_score.reasons, dict(totals)


def reported_pages(path: str) -> list[str]:
    """Return the kinds of pages that have reported behaviour, in order."""
    return [row.kind for row in _enrolment_of(path).behaviour.order_by("position", "pk")]


def held_places(slug: str) -> dict[str, int]:
    """Return how many participants hold a place in the study, by "cell/role"."""
    holding = Placement.objects.filter(HELD, version__study__slug=slug)
    counted = holding.values_list("cell__number", "cell__role").annotate(Count("pk"))
    return {f"{cell}/{role}": count for cell, role, count in counted.order_by()}


def begin_pilot(slug: str, people: int) -> int:
    """Start a pilot as the admin does; return its primary key."""
    pilot = pilots.begin(Study.objects.get(slug=slug), people=people)
    queue(pilot.pk)
    return pilot.pk


def pilot_progress(pilot_id: int) -> dict[str, Any]:
    """Return the progress of a pilot."""
    pilot = Pilot.objects.get(pk=pilot_id)
    progress_report = report(pilot)
    return {
        "status": pilot.status,
        "ended": progress_report.counts["arrived"] + progress_report.counts["stuck"],
        "completed": progress_report.completed,
        "stuck": progress_report.stuck,
        "enrolments": Enrolment.objects.filter(walker__pilot=pilot).count(),
        "matches": Match.objects.filter(seats__enrolment__walker__pilot=pilot).count(),
    }


def collection_progress(slug: str) -> dict[str, Any]:
    """Return the progress of a collection."""
    return collecting_progress(Collection.objects.get(slug=slug)).as_dict()


def count_complete_matches(slug: str) -> dict[str, int]:
    """Return how many matches a collection has, how many of them are complete, and the number of decisions."""
    counts = {"matches": 0, "replayed": 0, "numbered_without_gaps": 0, "decisions": 0}
    for item in Item.objects.filter(collection__slug=slug).select_related("match"):
        log = item.match.log()
        counts["matches"] += 1
        counts["numbered_without_gaps"] += [event.number for event in log] == list(range(1, len(log) + 1))
        counts["replayed"] += replay_events(item.match.configured(), log).payoffs() == item.match.payoffs
        counts["decisions"] += sum(event.kind == "move" for event in log)
    return counts


def program_calls(budget: str) -> dict[str, dict[str, int]]:
    """Return the number of each program's calls that a study or collection has, by program and outcome."""
    counts: dict[str, Counter[str]] = {}
    for endpoint, model, outcome in Call.objects.filter(budget_of=budget).values_list("endpoint", "model", "outcome"):
        counts.setdefault(f"{endpoint}:{model}", Counter())[outcome] += 1
    return {name: dict(outcomes) for name, outcomes in counts.items()}


def ended_matches(slug: str) -> list[list[Any]]:
    """Return [how it ended, who else moved for its players] for each of a study's matches."""
    matches = Match.objects.filter(seats__enrolment__placement__version__study__slug=slug).order_by("pk")
    return [
        [match.ending, sorted({event.data["by"] for event in match.log() if event.data.get("by")})] for match in matches
    ]


def add_endpoint(name: str, address: str, protocol: str = "openai", **fields: Any) -> None:
    """Add an endpoint with this name and address, without a key."""
    Endpoint.objects.create(name=name, protocol=protocol, base_url=address, structured="json_schema", **fields)
    MEMORY.expire()


def superuser_login() -> tuple[str, str]:
    """Return the name and password of a superuser, created if missing."""
    name, password = "boss", "long enough 123"
    users = User.objects
    if not users.filter(username=name).exists():
        users.create_superuser(name, password=password)
    return name, password


def superuser_session() -> str:
    """Sign in as that superuser; return the session's key."""
    client = Client()
    client.force_login(User.objects.get(username=superuser_login()[0]))
    return client.cookies["sessionid"].value


def await_failed_attempts(number: int, *, patience: float = 120) -> None:
    """Wait until at least this many attempts to send the latest result to oTree have failed."""
    _await_delivery(lambda delivery: delivery.attempts >= number and delivery.problem != "", patience)


def await_delivery(*, patience: float = 120) -> int:
    """Wait until the latest result has arrived in oTree; return the number of attempts."""
    return _await_delivery(lambda delivery: delivery.state == Delivery.State.DELIVERED, patience).attempts


def _await_delivery(condition: Callable[[Delivery], bool], patience: float) -> Delivery:
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        delivery = Delivery.objects.first()
        if delivery is not None and condition(delivery):
            return delivery
        time.sleep(0.2)
    raise TimeoutError(f"the latest delivery: {Delivery.objects.values().first()}")


def otree_vars(slug: str, code: str) -> dict[str, Any]:
    """Return the variables that Parley sends to oTree for one of its participants."""
    person = Identity.objects.select_related("enrolment").get(study=slug, worker=code)
    outcome = outcome_of(Study.objects.get(slug=slug), person.enrolment)
    return signed_vars(person, OtreeServer.objects.get(study=slug), outcome.model_dump(mode="json"))


def ledger(slug: str) -> list[list[str]]:
    """Return every amount due in the study: pseudonym, reason, amount, state."""
    rows = LedgerRow.objects.filter(enrolment__placement__version__study__slug=slug).order_by("pk")
    return [[row.enrolment.pseudonym, row.reason, str(row.amount), row.state] for row in rows]


def count_enrolments(slug: str) -> int:
    """Return the number of enrolments in the study."""
    return Placement.objects.filter(version__study__slug=slug).count()


def export_dataset(slug: str, folder: str, formats: list[str]) -> str:
    """Export the study's dataset; return its folder."""
    export(Study.objects.get(slug=slug), Path(folder), formats)
    return folder


def study_pages(slug: str, names: list[str]) -> dict[str, str]:
    """Return the paths of pages about a study, by URL name, and of its newest version's page."""
    study = Study.objects.get(slug=slug)
    version = "admin:studies_version_change"
    paths = {name: reverse(name, args=[study.pk]) for name in names}
    return {**paths, version: reverse(version, args=[study.versions.latest("number").pk])}


def open_tool_match(agent: str, periods: int) -> str:
    """Open a match for a model with tools and no other player, which the workers play; return its identifier."""
    settings = AgentSettings(strategy="tools", limit_seconds=600)
    players = {"agent": services.Player(agent=agent, settings=settings)}
    return str(services.open_match(game="pricing", config={"periods": periods}, players=players, seed=1).uid)


def start_tool_collection(slug: str, agent: str, periods: int) -> str:
    """Start a collection of one match of a model with tools; return its short name."""
    asking = {"strategy": "tools", "limit_seconds": 600}
    fields = {"configurations": [{"periods": periods}], "agents": [agent], "asking": asking}
    collecting.start(new_collection(slug, game="pricing", seed=1, **fields))
    return slug


def tool_match_of(slug: str) -> str:
    """Return the identifier of a collection's only match; empty before the match is opened."""
    match = Item.objects.get(collection__slug=slug).match
    return str(match.uid) if match else ""


def summarise_tool_match(match_uid: str) -> dict[str, Any]:
    """Count the moves and calls of a match whose turns use tools; return them with its status and the replay."""
    match = Match.objects.get(uid=match_uid)
    log, calls = match.log(), Call.objects.filter(match_uid=match.uid)
    moves = [event for event in log if event.kind == "move"]
    return {
        "status": match.status,
        "over": match.status != Match.Status.LIVE,
        "submissions": sum("prices" in event.data["move"] for event in moves),
        "notes": sum("note" in event.data["move"] for event in moves),
        "by_others": [event.data["by"] for event in moves if event.data.get("by")],
        "calls": calls.count(),
        "played": calls.filter(purpose="move", outcome=Call.Outcome.MOVE).count(),
        "replayed": replay_events(match.configured(), log).payoffs() == match.payoffs,
        "differences": differences(match.configured(), log, records_of(match.uid)),
    }


def draft_walk() -> tuple[int, str]:
    """Save a draft to walk through; return its key and the path of its link for co-authors."""
    contest = kit.document(
        "beauty_contest",
        config={"players": 3, "runs": 1},
        seats={"*": "person"},
        factors={"wording": {"levels": ["give", "take"]}},
    )
    offer = kit.document("bargaining", config={"rounds": 2}, roles=["alice"])
    consent, contest_stage = contest["journey"]
    why = {"name": "why", "kind": "long", "text": "Why did you take?"}
    contest["journey"] = [
        consent,
        {"stage": "page", "name": "opening", "title": "Before you start", "text": "You {{ wording }} something."},
        {**contest_stage, "name": "contest"},
        {**offer["journey"][1], "name": "offer"},
        {"stage": "questions", "name": "after", "show_if": "wording == 'take'", "items": [why]},
    ]
    Study.objects.filter(slug="walked").delete()
    study = kit.new_study("walked", plan={**contest, "title": "Giving and taking", "agents": offer["agents"]})
    return study.pk, Link.objects.create(study=study).get_absolute_url()


def row_counts() -> dict[str, int]:
    """Return the number of rows of every table but those that change on their own, such as heartbeats and tallies.

    Of events and of the ledger, those of walks: other tests' matches may run out of time meanwhile.
    """
    models = apps.get_models(include_auto_created=True)
    kept = [model for model in models if model._meta.app_label not in ("sessions", "uptime", "axes", "monitoring")]
    counts = {model._meta.label: model._default_manager.count() for model in kept}
    played = {"match__purpose": Match.Purpose.WALK}
    paid = {"enrolment__seats__match__purpose": Match.Purpose.WALK}
    return {
        **counts,
        Event._meta.label: Event.objects.filter(**played).count(),
        LedgerRow._meta.label: LedgerRow.objects.filter(**paid).count(),
        Posting._meta.label: Posting.objects.filter(row__in=LedgerRow.objects.filter(**paid)).count(),
    }


def end_closed_walks() -> None:
    """Wait until the pages of all walks have said that they were closed, and let the time for calling again pass."""
    end = time.monotonic() + 15
    while Walk.objects.filter(left_at=None).exists():
        assert time.monotonic() < end, "a closed page did not say so"
        time.sleep(0.1)
    Walk.objects.update(left_at=timezone.now() - timedelta(minutes=1))
    delete_old()
