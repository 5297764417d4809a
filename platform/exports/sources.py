"""Sources of datasets: a study with participants, or a collection of matches without people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import zip_longest
from typing import Any, NamedTuple

from django.db.models import Count

from checks.models import Verdict
from collecting.formats import agents_in
from collecting.models import Collection
from collecting.planning import matches_per_configuration
from exports.alike import mask
from exports.csvsafe import compact_json
from exports.errors import UnknownSource
from games.interface import Json
from matches.models import Match
from opponents.agents import counted_movers
from plans.questions import Question, questions_of
from studies.enrolling import steps_of
from studies.models import Cell, Study

PLAYED_HERE = "parley"
"""How this platform's own matches are marked, as opposed to imported ones."""


class Check(NamedTuple):
    """A check of a study; `stage` only if the study has several of this name."""

    name: str
    stage: str | None = None

    @property
    def label(self) -> str:
        return f"{self.name}_{self.stage}" if self.stage else self.name


@dataclass(frozen=True)
class FrozenVersion:
    """A version of the source: everything its matches depend on, with its hash."""

    number: int
    sha256: str
    content: Mapping[str, Any]
    code_revision: str
    launched_at: datetime


class StudySource:
    """A study with its versions."""

    asks_models = True
    repeated_names: frozenset[str] = frozenset()

    def __init__(self, study: Study):
        self.study = self.parent = study
        self.slug, self.title, self.purpose = study.slug, mask(study.title), str(study.purpose)
        self.origin = PLAYED_HERE
        self.demonstration = study.purpose == Match.Purpose.DEMO

    @cached_property
    def counted(self) -> frozenset[str]:
        return counted_movers(
            agent for version in self.versions() for agent in formats.agents_in(version.content).values()
        )

    def versions(self) -> list[FrozenVersion]:
        return [
            FrozenVersion(v.number, v.sha256, v.content, v.code_revision, v.launched_at)
            for v in self.study.versions.order_by("number")
        ]

    def configurations(self) -> Iterator[tuple[str, Mapping[str, Json]]]:
        """Yield (game, parameters) of every version; of the study itself before its first launch."""
        versions = self.versions()
        for version in versions:
            for game_content in (version.content, *version.content.get("further", ())):
                for config in game_content["configurations"]:
                    yield game_content["game"], config
        if not versions:
            yield from ((self.study.game, cell.config) for cell in plan_cells(self.study))

    def cells(self) -> Iterator[dict[str, Any]]:
        """Return every cell of cells.csv, without counts."""
        for cell in (
            Cell.objects.filter(version__study=self.study)
            .select_related("version")
            .order_by("version__number", "number")
        ):
            yield {
                "version": cell.version.number,
                "cell": cell.number,
                "kind": mask(cell.kind) or None,
                "lineup": mask(cell.lineup) or None,
                "seats": compact_json(cell.seats),
                "quota": cell.quota,
                "config": cell.version.content["configurations"][cell.configuration],
            }

    def steps(self) -> list[str]:
        """Return the labels of the steps of the study's enrolments."""
        labels: dict[str, None] = {}
        for version in self.study.versions.order_by("number").prefetch_related("cells"):
            for cell in version.cells.all():
                labels.update(dict.fromkeys(map(step_label, steps_of(version, cell, cell.people[0]))))
        return list(labels)

    def questions(self) -> list[tuple[bool, Question]]:
        """Return (whether it is asked before the game, question) for every question, as its latest version asks it.

        E-mail addresses and the like are masked, as in everything that researchers wrote.
        """
        questions: dict[tuple[bool, str], Question] = {}
        for version in self.versions():
            for survey, survey_content in version.content.get("surveys", {}).items():
                questions |= {
                    (survey == "before", question.name): _without_addresses(question)
                    for question in questions_of(survey_content)
                }
        return [(before_game, question) for (before_game, _name), question in questions.items()]

    def checks(self) -> list[Check]:
        """Return the checks of understanding and attention, by stage if there are several of a name."""
        verdicts = Verdict.objects.filter(enrolment__placement__cell__version__study=self.study)
        stages: dict[str, list[str]] = {"code_word": [], "quiz": []}
        for name, stage in sorted(verdicts.order_by().values_list("check_name", "stage").distinct()):
            stages.setdefault(name, []).append(stage)
        return [
            Check(name, stage if len(of_name) > 1 else None)
            for name, of_name in stages.items()
            for stage in of_name or [None]
        ]


class CollectionSource:
    """A collection, played here or imported: one version, no participants."""

    demonstration = False

    def __init__(self, collection: Collection):
        self.collection = self.parent = collection
        self.slug, self.title = collection.slug, mask(collection.title)
        played_here = collection.source == Collection.Source.PLAYED
        self.purpose = str(Match.Purpose.COLLECTION if played_here else Match.Purpose.IMPORTED)
        self.origin = PLAYED_HERE if played_here else str(collection.source)
        agents = agents_in(collection.content).values()
        self.asks_models = any(not agent.scripted for agent in agents)
        self.counted = counted_movers(agents)

    @cached_property
    def repeated_names(self) -> frozenset[str]:
        """Names shared by several imported games."""
        named_items = self.collection.items.exclude(name="").order_by().values("name")
        return frozenset(named_items.annotate(times=Count("pk")).filter(times__gt=1).values_list("name", flat=True))

    def versions(self) -> list[FrozenVersion]:
        parent = self.collection
        return [FrozenVersion(1, parent.sha256, parent.content, parent.code_revision, parent.created_at)]

    def configurations(self) -> Iterator[tuple[str, Mapping[str, Json]]]:
        stage_configurations = self.collection.made_stages.order_by("number").values_list("configurations", flat=True)
        for configurations in (self.collection.content["configurations"], *stage_configurations):
            for config in configurations:
                yield self.collection.game, config

    def cells(self) -> Iterator[dict[str, Any]]:
        planned = matches_per_configuration(self.collection) if self.origin == PLAYED_HERE else []
        for (number, (_game, config)), quota in zip_longest(enumerate(self.configurations(), start=1), planned):
            yield {"version": 1, "cell": number, "quota": quota, "config": config}

    def steps(self) -> list[str]:
        return []

    def questions(self) -> list[tuple[bool, Question]]:
        return []

    def checks(self) -> list[Check]:
        return []


def _without_addresses(question: Question) -> Question:
    texts = {name: mask(getattr(question, name)) for name in ("text", "low", "high")}
    rows = tuple(row.model_copy(update={"text": mask(row.text)}) for row in question.rows)
    return question.model_copy(update={**texts, "rows": rows, "options": tuple(map(mask, question.options))})


def step_label(step: Mapping[str, Any]) -> str:
    """Return a step's kind, with the name that researchers gave it."""
    return f"{step['kind']}_{step['name']}" if step.get("name") else str(step["kind"])


Source = StudySource | CollectionSource


def source_of(parent: Study | Collection) -> Source:
    """Return the source for a study or collection."""
    return StudySource(parent) if isinstance(parent, Study) else CollectionSource(parent)


def source_named(slug: str) -> Source:
    """Return the study or collection with this short name; studies take precedence.

    Raises:
        UnknownSource: listing the existing ones.
    """
    for model in (Study, Collection):
        if parent := model.objects.filter(slug=slug).first():
            return source_of(parent)
    slugs = [*Study.objects.values_list("slug", flat=True), *Collection.objects.values_list("slug", flat=True)]
    raise UnknownSource(
        f"No study or collection is called “{slug}”. Existing ones: {', '.join(sorted(slugs)) or 'none'}."
    )
