"""Sources of datasets: a study with participants, or a collection of matches without people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import accumulate, zip_longest
from typing import Any, NamedTuple

from django.db.models import Count

from checks.models import Verdict
from collecting.models import Collection
from collecting.planning import agents_in, configured, matches_per_configuration, planned_match
from exports import designs
from exports.alike import mask
from exports.csvsafe import compact_json
from exports.errors import UnknownSource
from games.interface import Json
from matches.models import Match
from opponents.agents import Agent, counted_movers
from studies.models import Study, Version
from studies.planned import frozen_analysis

PLAYED_HERE = "parley"
"""How this platform's own matches are marked, as opposed to imported ones."""


class Check(NamedTuple):
    """A check of a study; `stage` only if the study has several of this name."""

    name: str
    stage: str | None = None

    @property
    def label(self) -> str:
        return f"{self.name}_{designs.as_column(self.stage)}" if self.stage else self.name


@dataclass(frozen=True)
class FrozenVersion:
    """A version of the source: everything its matches depend on, with its hash.

    Attributes:
        content: of a study, its plan in canonical form; of a collection, its plan as frozen.
        games: the version of the rules by game.
        agents: by label, with all settings.
        texts: of a study, the games' own instructions at launch, by game.
    """

    number: int
    sha256: str
    content: Mapping[str, Any]
    code_revision: str
    launched_at: datetime
    games: Mapping[str, int]
    agents: Mapping[str, Agent]
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def information(self) -> set[str]:
        """What its models were told: "published" or "explained"."""
        return {agent.settings.information for agent in self.agents.values() if not agent.scripted}


class StudySource:
    """A study with its versions."""

    asks_models = True
    repeated_names: frozenset[str] = frozenset()

    def __init__(self, study: Study):
        self.study = self.parent = study
        self.slug, self.title, self.purpose = study.slug, mask(study.title), str(study.purpose)
        self.origin = PLAYED_HERE
        self.demonstration = study.purpose == Match.Purpose.DEMO

    def __reduce__(self) -> tuple[type[StudySource], tuple[Study]]:
        """Let other processes read the same study again."""
        return type(self), (self.study,)

    @cached_property
    def counted(self) -> frozenset[str]:
        return counted_movers(agent for version in self._versions for agent in version.agents().values())

    @cached_property
    def _versions(self) -> list[Version]:
        return list(self.study.versions.order_by("number"))

    def versions(self) -> list[FrozenVersion]:
        return [
            FrozenVersion(
                v.number,
                v.sha256,
                v.document,
                v.code_revision,
                v.launched_at,
                games=v.frozen["rules_versions"],
                agents=v.agents(),
                texts=v.frozen["instructions"],
            )
            for v in self._versions
        ]

    @property
    def changes(self) -> Sequence[Mapping[str, Any]]:
        """What was changed after the first launch without making a new version: {at, path, before, after}."""
        changed = self.study.changes.exclude(before=None).order_by("pk")
        return [{"at": entry.at, "path": entry.path, "before": entry.before, "after": entry.after} for entry in changed]

    @property
    def analysis_plan(self) -> dict[str, Any] | None:
        """The planned analysis for the manifest; None if no hypothesis was ever planned."""
        frozen = frozen_analysis(self.study)
        return None if frozen is None else frozen.as_data()

    def configurations(self) -> Iterator[tuple[str, Mapping[str, Json]]]:
        """Yield (game, parameters) of every version."""
        for version in self._versions:
            yield from designs.configurations_of(version)

    @cached_property
    def factors(self) -> list[designs.FactorColumn]:
        return designs.factors_in(version.reader for version in self._versions)

    @cached_property
    def chats(self) -> bool:
        """Whether players of one of the games may chat."""
        return any(map(designs.chats_in, self._versions))

    @cached_property
    def conditions(self) -> list[str]:
        """The names of the stages that a condition may leave out."""
        return list(dict.fromkeys(name for version in self._versions for name in designs.conditions_of(version)))

    def cells(self) -> Iterator[dict[str, Any]]:
        """Return every cell of cells.csv, without counts."""
        for version in self._versions:
            for cell in version.cells.order_by("number"):
                cell.version = version
                pay = cell.pay()
                yield {
                    "version": version.number,
                    "cell": cell.number,
                    "factors": {name: mask(level) for name, level in cell.factors.items()},
                    "kind": mask(designs.kind_of(cell)) or None,
                    "seats": compact_json(cell.seats),
                    "quota": cell.quota,
                    "weight": cell.weight,
                    "sha256": cell.sha256,
                    "base_pay": pay.base,
                    "announced_average": pay.announced_average,
                    "currency": pay.currency,
                    "config": cell.config,
                }

    @property
    def steps(self) -> Sequence[str]:
        """The labels of the steps of the study's enrolments."""
        return list(dict.fromkeys(label for version in self._versions for label in designs.labels_of(version)))

    @cached_property
    def questions(self) -> dict[tuple[str, str], designs.AskedQuestion]:
        """Every question by its stage and name, as its latest version asks it."""
        return {
            (asked.stage, asked.question.name): asked
            for version in self._versions
            for asked in designs.questions_of(version)
        }

    @cached_property
    def checks(self) -> Sequence[Check]:
        """The checks of understanding and attention, by stage if there are several of a name."""
        verdicts = Verdict.objects.filter(enrolment__placement__version__study=self.study)
        stages: dict[str, list[str | None]] = {"code_word": [], "quiz": []}
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
    changes: Sequence[Mapping[str, Any]] = ()
    analysis_plan: dict[str, Any] | None = None
    steps: Sequence[str] = ()
    checks: Sequence[Check] = ()
    conditions: Sequence[str] = ()
    questions: Mapping[tuple[str, str], designs.AskedQuestion] = {}

    def __init__(self, collection: Collection):
        self.collection = self.parent = collection
        self.slug, self.title = collection.slug, mask(collection.title)
        played_here = collection.source == Collection.Source.PLAYED
        self.purpose = str(Match.Purpose.COLLECTION if played_here else Match.Purpose.IMPORTED)
        self.origin = PLAYED_HERE if played_here else str(collection.source)
        agents = agents_in(collection).values()
        self.asks_models = any(not agent.scripted for agent in agents)
        self.counted = counted_movers(agents)
        self.chats = played_here and any(plan.game.chat for plan in configured(collection).plans)

    def __reduce__(self) -> tuple[type[CollectionSource], tuple[Collection]]:
        """Let other processes read the same collection again."""
        return type(self), (self.collection,)

    @cached_property
    def repeated_names(self) -> frozenset[str]:
        """Names shared by several imported games."""
        named_items = self.collection.items.exclude(name="").order_by().values("name")
        return frozenset(named_items.annotate(times=Count("pk")).filter(times__gt=1).values_list("name", flat=True))

    def versions(self) -> list[FrozenVersion]:
        parent = self.collection
        frozen = (parent.sha256, parent.content, parent.code_revision, parent.created_at)
        games = {parent.game: parent.content["rules_version"]}
        return [FrozenVersion(1, *frozen, games=games, agents=agents_in(parent))]

    @cached_property
    def factors(self) -> list[designs.FactorColumn]:
        if not self.collection.document:
            return []
        return designs.factors_in([configured(self.collection).reader])

    def configurations(self) -> Iterator[tuple[str, Mapping[str, Json]]]:
        stage_configurations = self.collection.made_stages.order_by("number").values_list("configurations", flat=True)
        for configurations in (self.collection.configurations, *stage_configurations):
            for config in configurations:
                yield self.collection.game, config

    def cells(self) -> Iterator[dict[str, Any]]:
        planned = matches_per_configuration(self.collection) if self.origin == PLAYED_HERE else []
        for (number, (_game, config)), quota in zip_longest(enumerate(self.configurations(), start=1), planned):
            yield {"version": 1, "cell": number, "quota": quota, "factors": self.levels(number), "config": config}

    def levels(self, cell: int) -> dict[str, str]:
        """Return the levels of a cell's factors; later stages and imported matches have none."""
        planned = configured(self.collection).reader.cells if self.collection.document else ()
        return {name: mask(level) for name, level in planned[cell - 1].factors.items()} if cell <= len(planned) else {}

    def cell_of(self, number: int) -> int:
        """Return the number of a planned match's cell: configurations stage by stage."""
        match = planned_match(self.collection, number)
        return self._cells_before[match.stage] + match.configuration + 1

    @cached_property
    def _cells_before(self) -> list[int]:
        stages = self.collection.made_stages.order_by("number").values_list("configurations", flat=True)
        return [0, *accumulate(map(len, (self.collection.configurations, *stages)))]


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
