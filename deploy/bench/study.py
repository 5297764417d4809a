"""The studies that the benchmark's participants play; run inside the stack by `Stack.call`."""

from __future__ import annotations

from matches.models import Match, Seat
from opponents.agents import agents_from_specs
from opponents.endpoints import MEMORY
from opponents.models import Endpoint
from participants import services as people
from recruiters.arrivals import Arrival
from studies import freezing
from studies.enrolling import enrol
from studies.models import Study

HUNG = "hung"


def launch(slug: str) -> None:
    """Launch an endless bargaining study: neither the participants nor their opponent ever accept."""
    _launch(slug, agents=agents_from_specs("script:fair"))


def launch_hung(slug: str, url: str) -> None:
    """Launch the same study against a model at `url`; people wait for it as long as the benchmark lasts."""
    Endpoint.objects.create(name=HUNG, title="Hung", protocol="openai", base_url=url, concurrency=1_000)
    MEMORY.expire()
    _launch(slug, agents=agents_from_specs(f"{HUNG}:any", settings={"call_seconds": 600.0, "limit_seconds": 600.0}))


def _launch(slug: str, **values: object) -> None:
    study = Study.objects.create(
        slug=slug,
        title="Benchmark",
        game="bargaining",
        config={"rounds": None, "cap": 100_000},
        roles=["alice"],
        purpose=Match.Purpose.DEMO,
        entry=Study.Entry.OPEN,
        quota=1_000_000,
        minutes=1_000,
        **values,
    )
    freezing.launch(study)


def people_before_lobby(slug: str, people: int, group_size: int) -> list[tuple[str, int]]:
    """Launch a study of groups with people on the page before its lobby; return their pages' paths and positions."""
    _contest(slug, players=group_size, runs=1)
    return [_walk(slug, until="instructions") for _person in range(people)]


def seated_group(slug: str, people: int, runs: int) -> list[str]:
    """Seat one group at its first question; return the paths of their pages."""
    _contest(slug, players=people, runs=runs)
    return [_walk(slug, until="match")[0] for _person in range(people)]


def groups_of(paths: list[str]) -> dict[str, int]:
    """Return the match of each page whose person has one."""
    seats = Seat.objects.filter(enrolment__token__in=[path.split("/")[2] for path in paths])
    matches = dict(seats.values_list("enrolment__token", "match"))
    return {path: matches[path.split("/")[2]] for path in paths if path.split("/")[2] in matches}


def _contest(slug: str, *, players: int, runs: int) -> None:
    study = Study.objects.create(
        slug=slug,
        title="Together",
        game="beauty_contest",
        config={"players": players, "runs": runs},
        lineups=[{"name": "", "seats": {"*": "person"}}],
        purpose=Match.Purpose.DEMO,
        entry=Study.Entry.OPEN,
        quota=1_000,
        asks_code_word=False,
    )
    freezing.launch(study)


def _walk(slug: str, *, until: str) -> tuple[str, int]:
    enrolment = enrol(Study.objects.get(slug=slug), Arrival("open", worker="", proof=""))
    while enrolment.step is not None and enrolment.step["kind"] not in (until, "lobby", "match"):
        answers = {"agree": "yes", "name": "Worker"}
        people.answer_step(enrolment_id=enrolment.pk, position=enrolment.position, data=answers)
        enrolment.refresh_from_db()
    return enrolment.get_absolute_url(), enrolment.position
