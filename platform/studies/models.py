"""Studies, their drafts and launched versions, the cells of each version, and the placements of participants."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from copy import copy
from decimal import Decimal
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import Any, NoReturn, TypeVar

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

import games.play
from games import registry
from games.interface import Game, Role
from matches.models import Match
from opponents.agents import Agent, people_in
from participants.models import Enrolment, new_seed
from participants.states import State
from participants.wording import UNTITLED
from plans import stages
from plans.canonical import plan_hash, sha256_of
from plans.collection import CollectionPlan
from plans.languages import languages_of
from plans.pay import PayRule, cents
from plans.plan import Entry as EntryRules
from plans.plan import Plan
from plans.reading import Reader, reader_of, stage_nodes
from plans.seats import fitted
from rights.models import Membership
from studies.fields import OrderedJSONField
from studies.frozen import FrozenRows, refuse

T = TypeVar("T")


class Study(models.Model):
    """A study: the plan as its researchers edit it.

    Launching freezes the plan into a `Version`, which is all that participants see.

    Attributes:
        draft: the plan as written; it may be unfinished.
        edit: counts the saved edits of the draft.
    """

    class Status(models.TextChoices):
        DRAFT = "draft", _("draft")
        LAUNCHED = "launched", _("launched")
        PAUSED = "paused", _("paused")
        CLOSED = "closed", _("closed")

    class Entry(StrEnum):
        """Entry types of every installation; marketplaces add theirs (`recruiters.arrivals`)."""

        OPEN = "open"
        CODES = "codes"
        MTURK = "mturk"
        OTREE = "otree"

    slug = models.SlugField(
        _("short name"), max_length=60, unique=True, help_text=_("Part of the link that participants follow.")
    )
    status = models.CharField(_("status"), max_length=12, choices=Status.choices, default=Status.DRAFT)
    draft = OrderedJSONField(_("plan"), default=dict, blank=True)
    edit = models.PositiveIntegerField(_("edit"), default=0, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, editable=False)

    class Meta:
        verbose_name = _("study")
        verbose_name_plural = _("studies")
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("studies:join", args=[self.slug])

    @property
    def title(self) -> str:
        return str(self.draft.get("title") or self.slug)

    @property
    def purpose(self) -> str:
        purpose: str = self.draft.get("purpose", Match.Purpose.STUDY)
        return purpose

    @property
    def entry(self) -> str:
        """The kind of link by which participants enter now."""
        return self.entry_rules().via

    def reader(self) -> Reader:
        """Return the draft, ready to be read.

        Raises:
            BadPlan: it cannot be read.
        """
        return reader_of(self.draft)

    @property
    def games(self) -> list[str]:
        """The keys of the games in the draft, each once."""
        return games_in(self.draft)

    def latest_version(self) -> Version | None:
        """Return the version that new participants get; None if nothing was launched."""
        return self.versions.order_by("-number").first()

    def entry_rules(self) -> EntryRules:
        """Return who may enter and how often: as last launched, or as the draft says if nothing was launched."""
        launched = self.launched_entry if hasattr(self, "launched_entry") else self.in_force("entry")
        return EntryRules.model_validate(self.draft.get("entry", {}) if launched is None else launched)

    @classmethod
    def with_entry(cls) -> models.QuerySet[Study]:
        """Return the studies, read together with what `entry_rules` needs."""
        entries = LogEntry.objects.filter(study=models.OuterRef("pk"), path="entry").order_by("-pk")
        return cls.objects.annotate(launched_entry=models.Subquery(entries.values("after")[:1]))

    @classmethod
    def entered(cls, slug: str) -> tuple[Study | None, Version | None]:
        """Return the study of this short name as `with_entry`, and its latest version, in one statement."""
        found: Any = next(iter(cls.objects.raw(_ENTERED, [slug])), None)
        if found is None:
            return None, None
        found.launched_entry = None if found.launched_entry is None else json.loads(found.launched_entry)
        if found.version is None:
            return found, None
        version = copy(_version(found.version, found.version_seed, found.version_sha256))
        version.study = found
        return found, version

    def in_force(self, path: str, otherwise: Any = None) -> Any:
        """Return what was last launched of a part that is outside the hash; `otherwise` if nothing was launched."""
        change = self.changes.filter(path=path).order_by("-pk").values_list("after", flat=True).first()
        return otherwise if change is None else change


def games_in(document: Mapping[str, Any]) -> list[str]:
    """Return the keys of a plan's games, each once, and last that of its chats; what cannot be read has none."""
    journey = document.get("journey")
    nodes = (node for _path, node in stage_nodes(journey if isinstance(journey, list) else ()))
    stages = [node for node in nodes if isinstance(node, Mapping)]
    keys = [registry.CONVERSATION if each.get("stage") == "chat" else each.get("game") for each in stages]
    return sorted(dict.fromkeys(key for key in keys if isinstance(key, str)), key=registry.CONVERSATION.__eq__)


class Member(Membership):
    """A user's membership in a study."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="members")

    class Meta:
        verbose_name = _("member of a study")
        verbose_name_plural = _("members of studies")
        constraints = [models.UniqueConstraint(fields=["study", "user"], name="one_part_per_study")]


class Draft(models.Model):
    """An earlier draft of a study, kept so that it can be looked at and brought back."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="drafts")
    edit = models.PositiveIntegerField(_("edit"))
    document = OrderedJSONField(_("plan"))
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    at = models.DateTimeField(_("saved"), default=timezone.now)

    class Meta:
        verbose_name = _("earlier draft")
        verbose_name_plural = _("earlier drafts")
        ordering = ["-edit"]
        constraints = [models.UniqueConstraint(fields=["study", "edit"], name="one_draft_per_edit")]

    def __str__(self) -> str:
        return f"{self.study} {self.edit}"


class LogEntry(models.Model):
    """A dated change to what a version's hash leaves out: title, quotas, weights, entry, analysis.

    Attributes:
        path: "title", "entry", "analysis", or a cell's "cells.NUMBER.quota" or "cells.NUMBER.weight".
        before: None at the first launch.
        ended: of a change of the analysis, how many {participants, matches} had ended.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="changes")
    at = models.DateTimeField(_("time"), default=timezone.now)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    path = models.CharField(_("what"), max_length=60)
    before = models.JSONField(_("before"), null=True)
    after = models.JSONField(_("after"), null=True)
    ended = models.JSONField(_("ended before"), null=True)

    class Meta:
        verbose_name = _("change without a new version")
        verbose_name_plural = _("changes without a new version")
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.study} {self.path}"


class Version(models.Model):
    """A launched study: everything its matches depend on, hashed and immutable.

    Attributes:
        document: the plan in canonical form, as it was when this version was first launched.
        frozen: what the plan takes from the code: {rules_versions and instructions by game, about_minutes, media by
            name (`pages.models.Media.as_shown`)}, and instructions_in further languages if it has any.
    """

    study = models.ForeignKey(Study, models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField(_("number"))
    document = OrderedJSONField(_("plan"))
    sha256 = models.CharField("SHA-256", max_length=64)
    code_revision = models.CharField(max_length=64, blank=True)
    seed = models.BigIntegerField(default=new_seed)
    launched_at = models.DateTimeField(_("launched"), default=timezone.now)
    frozen = models.JSONField(default=dict)

    objects = FrozenRows.as_manager()
    _language = ""

    class Meta:
        verbose_name = _("version")
        verbose_name_plural = _("versions")
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["study", "number"], name="one_version_per_number")]

    def __str__(self) -> str:
        return f"{self.study.slug} v{self.number}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save the version for the first time.

        Raises:
            Frozen: it was saved before.
        """
        if not self._state.adding:
            refuse()
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise Frozen: versions are kept as evidence."""
        refuse()

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of its participants: the study's, then those that they may choose instead."""
        return languages_of(self.document)

    @property
    def language(self) -> str:
        """The language in which it is read here."""
        return self._language or self.languages[0]

    def in_language(self, language: str) -> Version:
        """Return the version as participants read it who chose this language."""
        if language == self.language or language not in self.languages:
            return self
        version = copy(self)
        version.__dict__.pop("reader", None)
        version._language = language
        return version

    def instructions(self, game: str) -> str:
        """Return a game's own instructions, as they were at launch."""
        translated = self.frozen.get("instructions_in", {})
        return str(translated.get(self.language, self.frozen["instructions"])[game])

    @cached_property
    def reader(self) -> Reader:
        """The plan, ready to be read; cached in the process."""
        return _reader(self)

    @property
    def plan(self) -> Plan:
        """The first cell's plan, for what no factor varies."""
        return self.reader.plan(self.reader.cells[0].factors)

    @property
    def purpose(self) -> Match.Purpose:
        return Match.Purpose(self.plan.purpose)

    @property
    def shown_title(self) -> str:
        """What participants read as its title; without one, nothing that names the question, except in the demo."""
        own = self.plan.title if self.purpose == Match.Purpose.DEMO else ""
        return self.plan.shown_title or own or str(UNTITLED)

    @property
    def games(self) -> list[str]:
        """The keys of its games, each once."""
        return games_in(self.document)

    def agents(self) -> dict[str, Agent]:
        """Return its agents by label; those of a label that varies by label and hash."""
        return _agents(self)

    def planned_cells(self) -> list[Cell]:
        """Return the cells that its plan defines, unsaved."""
        hashes: dict[int, str] = {}
        seats: dict[int, Any] = {}
        return [Cell.planned(self, cell.number, hashes=hashes, seats=seats) for cell in self.reader.cells]


_ENTERED = f"""
SELECT {", ".join(f"studies_study.{field.column}" for field in Study._meta.concrete_fields)},
(SELECT after FROM studies_logentry WHERE study_id = studies_study.id AND path = 'entry' ORDER BY id DESC LIMIT 1)
AS launched_entry, version.id AS version, version.seed AS version_seed, version.sha256 AS version_sha256
FROM studies_study LEFT JOIN studies_version version ON version.study_id = studies_study.id
WHERE slug = %s ORDER BY version.number DESC LIMIT 1
"""


@lru_cache(maxsize=64)
def _version(key: int, seed: int, sha256: str) -> Version:
    """Return a stored version; cached in the process, by what tells it from those of other databases."""
    return Version.objects.get(pk=key, seed=seed, sha256=sha256)


class _Identity:
    """A version, saved or not, as a key of caches."""

    def __init__(self, version: Version):
        self.version = version
        self.key = (version.pk, version.seed, version.sha256, version.language)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


def kept(find: Callable[[Version], T]) -> Callable[[Version], T]:
    """Decorator: keep in the process what follows from a version and the language in which it is read."""

    @lru_cache(maxsize=64)
    def found(identity: _Identity) -> T:
        return find(identity.version)

    return lambda version: found(_Identity(version))


@kept
def _reader(version: Version) -> Reader:
    return reader_of(version.document, language=version.language)


@kept
def _agents(version: Version) -> dict[str, Agent]:
    reader = version.reader
    plans = {id(plan.agents): plan for plan in (reader.plan(cell.factors) for cell in reader.cells)}
    return by_label(agents_of(plan) for plan in plans.values())


def by_label(found: Iterable[Mapping[str, Agent]]) -> dict[str, Agent]:
    """Return all agents of several plans by label; those of a label that varies by label and hash."""
    labels: dict[str, dict[str, Agent]] = {}
    for agents in found:
        for label, agent in agents.items():
            labels.setdefault(label, {})[agent.hash] = agent
    return {
        label if len(by_hash) == 1 else f"{label} {digest}": agent
        for label, by_hash in labels.items()
        for digest, agent in by_hash.items()
    }


@kept
def _undrawn_pay(version: Version) -> PayRule:
    """Return the pay rule of those whose cell is not drawn: the announced average is the mean over all groups."""
    reader = version.reader
    rules = [(cell.quota, reader.plan(cell.factors).pay.rule_for()) for cell in reader.cells]
    first = rules[0][1]
    if len({(rule.announced_average, rule.cap) for _quota, rule in rules}) == 1:
        return first
    total = sum((quota * min(rule.announced_average, rule.cap) for quota, rule in rules), Decimal(0))
    average = cents(total / sum(quota for quota, _rule in rules))
    return first.model_copy(update={"announced_average": average, "cap": max(rule.cap for _quota, rule in rules)})


def agents_of(plan: Plan | CollectionPlan, *, only: Collection[str] | None = None) -> dict[str, Agent]:
    """Return the agents of a concrete plan by label, or some of them."""
    return {
        label: Agent(spec=agent.spec, delay=agent.delay, settings=agent.settings(plan.agents))
        for label, agent in plan.agents.items()
        if only is None or label in only
    }


def configured(stage: stages.Game) -> Game[Any, Any]:
    """Return a stage's game with its parameters."""
    return games.play.configure(registry.get(stage.game), stage.config, amounts=stage.amounts)


def seats_of(stage: stages.Game) -> dict[Role, str | list[str]]:
    """Return who takes each seat of a stage's game (`opponents.agents.Seats`)."""
    return fitted(stage.seats, configured(stage))


class Cell(models.Model):
    """One combination of the levels of a version's factors between participants.

    Attributes:
        factors: {factor: level}.
        quota: complete matches needed, that is, groups of `group_size` participants.
        weight: how often it is drawn, compared with other cells.
        sha256: of the cell's resolved plan; cells of several versions with the same hash count together.
        seats: who takes each seat of its first game, see `opponents.agents.Seats`.
        role: the participant's in that game, if only one plays; otherwise empty.
    """

    version = models.ForeignKey(Version, models.PROTECT, related_name="cells")
    number = models.PositiveIntegerField()
    factors = OrderedJSONField(_("factors"), default=dict)
    quota = models.PositiveIntegerField(_("quota"))
    weight = models.PositiveSmallIntegerField(_("weight"), default=1)
    sha256 = models.CharField("SHA-256", max_length=64, db_index=True)
    seats = OrderedJSONField(_("seats"))
    role = models.CharField(_("role"), max_length=40, blank=True)
    group_size = models.PositiveSmallIntegerField(_("participants per match"), default=1)

    class Meta:
        verbose_name = _("cell")
        verbose_name_plural = _("cells")
        ordering = ["version", "number"]
        constraints = [models.UniqueConstraint(fields=["version", "number"], name="one_cell_per_number")]

    def __str__(self) -> str:
        return f"{self.version} {self.title}"

    @classmethod
    def planned(
        cls, version: Version, number: int, *, hashes: dict[int, str] | None = None, seats: dict[int, Any] | None = None
    ) -> Cell:
        """Return a version's cell of this number as its plan defines it, unsaved.

        Args:
            hashes, seats: what is known of parts of the plan that cells share, by their ids.
        """
        planned = version.reader.cells[number - 1]
        cell = cls(
            version=version,
            number=number,
            factors=dict(planned.factors),
            quota=planned.quota,
            weight=planned.weight,
        )
        cell.sha256 = sha256_of({"factors": cell.factors, "plan": plan_hash(cell.plan, hashes)})
        seats, game = {} if seats is None else seats, cell.game
        if id(game) not in seats:
            seats[id(game)] = seats_of(game)
        cell.seats = seats[id(game)]
        people = people_in(cell.seats)
        cell.role = people[0] if len(people) == 1 else ""
        cell.group_size = len(people)
        return cell

    @classmethod
    def counted(cls, version: Version) -> models.QuerySet[Any]:
        """Return a version's cells by number, each with how many places are `held`, and by people who `completed`."""
        held = models.Q(placements__released_at=None)
        completed = held & models.Q(placements__enrolment__state=State.COMPLETED)
        return version.cells.order_by("number").annotate(
            held=models.Count("placements", filter=held), completed=models.Count("placements", filter=completed)
        )

    @cached_property
    def plan(self) -> Plan:
        """The version's plan with the levels of this cell."""
        reader = self.version.reader
        return reader.plan(reader.cells[self.number - 1].factors)

    @property
    def games(self) -> list[stages.Game]:
        """The stages that play games, in order; those of a block as in its first pass."""
        return self.plan.games()

    @property
    def game(self) -> stages.Game:
        """The first stage that plays a game; a chat if there is none."""
        return next((stage for stage in self.games if not isinstance(stage, stages.Conversation)), self.games[0])

    @property
    def config(self) -> dict[str, Any]:
        """The complete configuration of its first game."""
        return configured(self.game).config.model_dump(mode="json")

    @property
    def people(self) -> list[Role]:
        """The seats that participants take in the first game."""
        return people_in(self.seats)

    @property
    def places(self) -> int:
        """How many participants its quota needs."""
        return self.quota * self.group_size

    def pay(self) -> PayRule:
        """Return the pay rule of participants in this cell."""
        return self.plan.pay.rule_for()

    @property
    def title(self) -> str:
        """The levels in words; without factors, who takes part."""
        if self.factors:
            return " · ".join(f"{name} {level}" for name, level in self.factors.items())
        return self.role or gettext("{number} participants").format(number=self.group_size)


def _of_draw(sql: str) -> models.Func:
    """Return SQL about the draw's record, as `studies.seats` writes it, for an index."""
    return models.Func("draw", template=sql.format("%(expressions)s"))


class Placement(models.Model):
    """A participant's place in a version, and from the draw on in one of its cells.

    A released placement no longer counts towards the quota.

    Attributes:
        cell: None until the draw.
        role: the participant's seat. Where a group fills several seats of one kind, the lobby may still change it.
        draw: how the cell was drawn (`studies.drawing`); empty before.
    """

    enrolment = models.OneToOneField(Enrolment, models.CASCADE, related_name="placement")
    version = models.ForeignKey(Version, models.PROTECT, related_name="placements")
    cell = models.ForeignKey(Cell, models.PROTECT, null=True, blank=True, related_name="placements")
    role = models.CharField(_("role"), max_length=40, blank=True)
    draw = models.JSONField(_("draw"), default=dict, blank=True)
    placed_at = models.DateTimeField(default=timezone.now)
    released_at = models.DateTimeField(null=True, blank=True)
    tallied = models.BooleanField(
        default=False, editable=False, help_text=_("counted in the totals of finished sessions")
    )

    class Meta:
        verbose_name = _("placement")
        verbose_name_plural = _("placements")
        indexes = [
            models.Index(fields=["cell"], condition=models.Q(released_at=None), name="placement_held"),
            models.Index(fields=["cell"], condition=models.Q(tallied=False), name="placement_untallied"),
            models.Index("version", _of_draw("CAST({} ->> 'number' AS integer)"), name="placement_number"),
            models.Index(
                "version",
                _of_draw("({} ->> 'stratum')"),
                _of_draw("CAST({} ->> 'block' AS integer)"),
                name="placement_block",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.enrolment} in {self.cell or self.version}"

    @property
    def plan(self) -> Plan:
        """The plan of its cell; before the draw, of the first one."""
        version = self.version.in_language(self.enrolment.language)
        if self.cell is None:
            return version.plan
        self.cell.version = version
        return self.cell.plan

    def pay(self) -> PayRule:
        """Return the participant's pay rule; before the draw, with the mean of what the cells announce."""
        return self.plan.pay.rule_for() if self.cell is not None else _undrawn_pay(self.version)


class PeopleCheck(models.Model):
    """The result of the last nightly check of everybody's pay (`studies.recomputing`).

    Attributes:
        differences: [study's short name, sentence] for each.
    """

    at = models.DateTimeField(default=timezone.now)
    people = models.PositiveIntegerField()
    seconds = models.FloatField()
    differences = models.JSONField(default=list)

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d}: {len(self.differences)}"
