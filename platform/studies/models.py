"""Studies, their frozen versions, the cells people are placed in, and who was placed where."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Any, NoReturn

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

import games.play
from games import registry
from games.errors import BadText, GameError
from games.interface import Role
from matches.models import Match
from opponents.agents import Agent, agents_of, named, people_in, problems_in
from opponents.endpoints import refresh_if_old
from participants.models import Enrolment, new_seed
from payouts.rules import PayRule, endings_with
from recruiters import arrivals
from rights.models import Membership
from studies.design import WantedCell, cells_wanted
from studies.formats import agents_in, seats_in
from studies.frozen import FrozenRows, refuse
from studies.lineups import BadLineup, one_of_each_kind
from studies.sessions import MOST_MATCHES, MOST_OTHERS, Session
from surveys.questions import BadQuestions, questions_of


def game_choices() -> list[tuple[str, str]]:
    return [(key, registry.get(key).title) for key in registry.keys()]


class Study(models.Model):
    """A study as the researcher edits it. Launching freezes it into a `Version`; people meet only versions."""

    class Status(models.TextChoices):
        DRAFT = "draft", _("draft")
        LAUNCHED = "launched", _("launched")
        PAUSED = "paused", _("paused")
        CLOSED = "closed", _("closed")

    class Entry(StrEnum):
        """The ways in that every installation has; marketplaces add theirs (`recruiters.arrivals`)."""

        OPEN = "open"
        CODES = "codes"
        MTURK = "mturk"
        OTREE = "otree"

    title = models.CharField(_("title"), max_length=120)
    slug = models.SlugField(
        _("short name"), max_length=60, unique=True, help_text=_("Part of the link that people follow.")
    )
    status = models.CharField(_("status"), max_length=12, choices=Status.choices, default=Status.DRAFT)
    purpose = models.CharField(_("purpose"), max_length=12, choices=Match.Purpose.choices, default=Match.Purpose.STUDY)

    game = models.CharField(_("game"), max_length=40, choices=game_choices)
    config = models.JSONField(_("parameters"), default=dict, blank=True)
    design = models.JSONField(
        _("what is varied"),
        default=dict,
        blank=True,
        help_text=_(
            'Empty: nothing. Several values of a parameter: {"grid": {"rounds": [1, 12]}}. Configurations by hand: '
            '{"configurations": [{"config": {…}, "quota": 5}]}. GLEE\'s table or its selection for people: '
            '{"table": "glee"}, {"selection": "glee", "seed": 1}.'
        ),
    )
    roles = models.JSONField(_("roles for people"), default=list, blank=True)
    quota = models.PositiveIntegerField(
        _("matches per cell"),
        default=20,
        validators=[MinValueValidator(1)],
        help_text=_(
            "Complete matches wanted of each line-up in each configuration. One in which the clock or a fallback "
            "moved is paid, stays out of the dataset and fills no place."
        ),
    )
    agents = models.JSONField(
        _("agents"),
        default=dict,
        blank=True,
        help_text=_("Models and scripted players by label, and how they are asked: see opponents.agents."),
    )
    lineups = models.JSONField(
        _("line-ups"),
        default=list,
        blank=True,
        help_text=_("Who takes which seat: see studies.lineups. Empty: a person in each role against each agent."),
    )

    tells_opponent = models.BooleanField(
        _("say that the opponent is a program"),
        default=True,
        help_text=_(
            "Before people agree, in the default consent text and beside one of your own. If you keep it back, the "
            "last page says afterwards with whom they played. What each person was told is in the dataset."
        ),
    )
    amounts = models.CharField(
        _("amounts of the game"),
        max_length=10,
        default="points",
        choices=[("points", _("points")), ("dollars", _("dollars"))],
        help_text=_(
            "How people and models read them. Points cannot be taken for the pay; the published studies say dollars."
        ),
    )
    consent = models.TextField(_("consent text"), blank=True, help_text=_("Markdown. Empty: a default text."))
    instructions = models.TextField(
        _("instructions"), blank=True, help_text=_("Markdown template. Empty: the game's own.")
    )
    survey_before = models.JSONField(_("questions before the game"), default=list, blank=True)
    survey_after = models.JSONField(_("questions after the game"), default=list, blank=True)
    debriefing = models.TextField(
        _("debriefing"),
        blank=True,
        help_text=_("Markdown. Shown on the last page to everybody who began the game. Empty: nothing."),
    )
    asks_code_word = models.BooleanField(_("hide a code word in the instructions"), default=True)
    code_word_again = models.BooleanField(
        _("a second try at the code word"),
        default=True,
        help_text=_("Capitals, quotes, words around it and one wrong letter are forgiven anyway."),
    )
    counts_behaviour = models.BooleanField(
        _("count how pages are used by hand"),
        default=True,
        help_text=_(
            "Rhythm of typing, text without typing, the pointer's path, a field that only programs fill in: for a "
            "score of how much speaks for a program. People are told before they agree. It decides nothing."
        ),
    )
    asks_quiz = models.BooleanField(_("ask the quiz after the game"), default=True)

    entry = models.CharField(_("who may enter"), max_length=12, choices=arrivals.choices, default="codes")
    most_participations = models.PositiveSmallIntegerField(
        _("games per person"),
        null=True,
        blank=True,
        default=1,
        validators=[MinValueValidator(1)],
        help_text=_("How often the same person may take part. Empty: any number."),
    )
    rest_hours = models.PositiveSmallIntegerField(
        _("hours between two games"),
        default=0,
        validators=[MaxValueValidator(24 * 366)],
        help_text=_(
            "How long after beginning a game of this kind, in any study, the same person must wait. 0: not at all."
        ),
    )
    turn_seconds = models.PositiveIntegerField(_("seconds per turn"), default=180, validators=[MinValueValidator(5)])
    extension_seconds = models.PositiveIntegerField(
        _("extra seconds"), default=60, help_text=_("Given once per turn when the time is up.")
    )
    report_seconds = models.PositiveIntegerField(
        _("pause for a report"),
        default=60,
        help_text=_("Seconds that a turn waits longer, once, when somebody opens “Report a problem” during it."),
    )
    on_timeout = models.CharField(
        _("after that"),
        max_length=10,
        default="end",
        choices=[
            ("end", _("end the game")),
            ("default", _("play a default move, flagged in the data")),
            ("agent", _("an agent takes the seat, where others play on")),
        ],
    )
    lobby_seconds = models.PositiveIntegerField(
        _("seconds in the lobby"),
        default=300,
        validators=[MinValueValidator(10), MaxValueValidator(3600)],
        help_text=_("How long somebody waits for others at most."),
    )
    lobby_after = models.CharField(
        _("when too few have come by then"),
        max_length=10,
        default="leave",
        choices=[
            ("leave", _("the study ends for whoever waited, with pay")),
            ("agents", _("an agent takes each free seat, flagged in the data")),
            ("fewer", _("fewer seats are played, where the game allows it")),
        ],
    )
    fills_in = models.CharField(
        _("agent that fills in"),
        max_length=200,
        blank=True,
        help_text=_("It takes free seats of the lobby, and the seats of people who leave, where that is chosen."),
    )
    waiting_rate = models.DecimalField(
        _("pay for an hour of waiting in vain"),
        max_digits=8,
        decimal_places=2,
        default=Decimal("6.00"),
        validators=[MinValueValidator(0)],
        help_text=_("Paid in proportion to whoever found nobody to play with, beside what that ending pays."),
    )
    whole_groups = models.BooleanField(
        _("keep whole groups only"),
        default=False,
        help_text=_("One person who is excluded excludes everybody who played with them."),
    )
    session_matches = models.PositiveSmallIntegerField(
        _("games in a row"), default=1, validators=[MinValueValidator(1), MaxValueValidator(MOST_MATCHES)]
    )
    session_order = models.CharField(
        _("which games"),
        max_length=10,
        default="again",
        choices=[
            ("again", _("the same configuration again")),
            ("fixed", _("the configurations, or the games, in their order")),
            ("random", _("the configurations, or the games, in a random order")),
        ],
    )
    session_games = models.JSONField(
        _("other games"),
        default=list,
        blank=True,
        help_text=_("The keys of studies whose games are played in the same session, in their order."),
    )
    session_partners = models.CharField(
        _("with whom"),
        max_length=10,
        default="new",
        choices=[("new", _("new partners, as long as others may come")), ("any", _("whoever is there"))],
    )
    session_pays = models.CharField(
        _("which game pays"),
        max_length=10,
        default="all",
        choices=[
            ("all", _("all: the average over them")),
            ("last", _("the last one")),
            ("random", _("one that is drawn at the end")),
        ],
    )
    minutes = models.PositiveIntegerField(
        _("minutes in all"),
        default=120,
        validators=[MinValueValidator(5)],
        help_text=_("After this long a place is given back."),
    )

    currency = models.CharField(_("currency"), max_length=3, default="USD")
    base = models.DecimalField(_("base pay"), max_digits=8, decimal_places=2, default=Decimal("1.00"))
    pay_rule = models.CharField(
        _("bonus rule"),
        max_length=10,
        default="share",
        choices=[
            ("share", _("share: twice the average × success")),
            ("linear", _("linear in the payoff")),
            ("fixed", _("the same for everybody")),
        ],
    )
    announced_average = models.DecimalField(
        _("announced average bonus"), max_digits=8, decimal_places=2, default=Decimal("1.00")
    )
    rate = models.DecimalField(_("rate per unit of payoff"), max_digits=12, decimal_places=6, default=Decimal(0))
    cap = models.DecimalField(_("highest bonus"), max_digits=8, decimal_places=2, default=Decimal("10.00"))
    failure_cap = models.DecimalField(
        _("most for failed matches"),
        max_digits=8,
        decimal_places=2,
        null=True,
        blank=True,
        default=Decimal("50.00"),
        validators=[MinValueValidator(0)],
        help_text=_("The study pauses itself once matches whose opponent failed have cost more. Empty: never."),
    )
    pauses_on_failure = models.BooleanField(
        _("pause when an opponent fails"),
        default=False,
        help_text=_("The first match that ends because its model did not answer closes the door, until you go on."),
    )
    endings = models.JSONField(
        _("what other endings pay"), default=dict, blank=True, help_text=_("where it differs from payouts.rules")
    )

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

    def configured(self) -> games.play.Game:
        """The game with this study's parameters.

        Raises:
            GameError
        """
        return games.play.configure(registry.get(self.game), self.config, amounts=self.amounts)

    def agents_by_label(self) -> dict[str, Agent]:
        """Its agents; the game's default script where none were chosen and no line-up says that none play.

        Raises:
            ValueError: a label or an agent cannot be read.
        """
        if self.agents or self.lineups:
            return agents_of(self.agents)
        return agents_of(named(f"script:{registry.get(self.game).default_script}"))

    def latest_version(self) -> Version | None:
        """The version that whoever comes now meets; None where nothing was launched."""
        return self.versions.order_by("-number").first()

    def pay(self) -> PayRule:
        return PayRule(
            currency=self.currency,
            base=self.base,
            rule=self.pay_rule,
            announced_average=self.announced_average,
            rate=self.rate,
            cap=self.cap,
            endings=endings_with(self.endings),
            waiting_rate=self.waiting_rate,
        )

    def session(self) -> Session:
        """How many matches a person plays, and what counts."""
        return Session(
            matches=self.session_matches,
            order=self.session_order,
            partners=self.session_partners,
            pays=self.session_pays,
        )

    def further(self) -> list[Study]:
        """The studies whose games are played in the same session, in their order; those that are gone are left out."""
        written = self.session_games if isinstance(self.session_games, list) else []
        found = Study.objects.in_bulk([key for key in written if isinstance(key, int)])
        return [found[key] for key in written if key in found]

    def clean(self) -> None:
        """Refuse what could not be played, at the field that is wrong."""
        errors: dict[str, Any] = {}
        refresh_if_old()
        try:
            game = self.configured()
        except GameError as error:
            raise ValidationError({"config": str(error)}) from None
        if not self.roles and not self.lineups:
            self.roles = one_of_each_kind(game, game.roles() if self.design else game.people())
        known = game.roles() if self.design else game.people()
        if unknown := set(self.roles) - set(known):
            errors["roles"] = _("People cannot play {roles} here; they can play {people}.").format(
                roles=", ".join(sorted(unknown)), people=", ".join(known)
            )
        self.agents, self.lineups = self.agents or {}, self.lineups or []
        if not self.agents and not self.lineups and len(game.roles()) > 1:
            self.agents = {label: agent.kept() for label, agent in self.agents_by_label().items()}
        errors |= self._problems_of_agents(game)
        cells: list[WantedCell] = []
        try:
            cells = [] if errors else cells_wanted(self)
        except BadLineup as error:
            errors["lineups"] = str(error)
        except GameError as error:
            errors["design"] = str(error)
        errors |= self._problems_of_filling_in()
        errors |= self._problems_of_session()
        try:
            for varied in {id(cell.config): cell.config for cell in cells}.values():
                game = games.play.configure(registry.get(self.game), varied)
                for role in game.roles():
                    game.instructions(role, self.instructions or None)
        except BadText as error:
            errors["instructions"] = str(error)
        try:
            self.endings = dict(self.endings or {})
            endings_with(self.endings)
        except (ValueError, TypeError) as error:
            errors["endings"], self.endings = str(error), {}
        try:
            self.pay()
        except ValueError:
            errors["currency"] = _("Pay needs a currency of three capital letters and amounts that are not negative.")
        for name in ("survey_before", "survey_after"):
            try:
                asked = questions_of(getattr(self, name) or [], may_end=name == "survey_before")
                setattr(self, name, [question.kept() for question in asked])
            except BadQuestions as error:
                errors[name] = str(error)
        if errors:
            raise ValidationError(errors)

    def _problems_of_filling_in(self) -> dict[str, str]:
        """What is wrong with the agent that takes seats in people's place."""
        if self.fills_in and self.fills_in not in self.agents:
            return {
                "fills_in": _("There is no agent “{label}”; the agents are {labels}.").format(
                    label=self.fills_in, labels=", ".join(self.agents) or _("none")
                )
            }
        if not self.fills_in and "agent" in (self.on_timeout, self.lobby_after.removesuffix("s")):
            return {"fills_in": _("Which agent? Seats of people are to be taken by one.")}
        return {}

    def _problems_of_session(self) -> dict[str, str]:
        """What is wrong with the other games of a session, at the field that says it."""
        self.session_games = self.session_games or []
        others = self.further()
        if len(others) < len(self.session_games) or len({other.pk for other in others}) < len(others):
            return {"session_games": _("Each of the other games is a study that exists, named once.")}
        if len(others) > MOST_OTHERS:
            return {"session_games": _("At most {most} other games can be played.").format(most=MOST_OTHERS)}
        if not others:
            return {}
        agents = {label: agent.kept() for label, agent in self.agents_by_label().items()}
        for other in others:
            says = _("“{title}”: {problem}")
            if other.pk == self.pk or other.session_matches > 1:
                problem = _("it is itself a study of several games.")
                return {"session_games": says.format(title=other.title, problem=problem)}
            try:
                cells_wanted(other)
            except GameError as error:
                return {"session_games": says.format(title=other.title, problem=error)}
            for label, agent in other.agents_by_label().items():
                if agents.setdefault(label, agent.kept()) != agent.kept():
                    problem = _("its agent “{label}” is asked in another way than the one of the same name here.")
                    problem = problem.format(label=label)
                    return {"session_games": says.format(title=other.title, problem=problem)}
        if self.session_order == "again":
            return {"session_order": _("Other games are played in their order, or in a random one.")}
        if self.session_matches <= len(others):
            says = _("There are {games} games: let people play at least as many in a row.")
            return {"session_matches": says.format(games=len(others) + 1)}
        return {}

    def _problems_of_agents(self, game: games.play.Game) -> dict[str, Any]:
        """What is wrong with the agents, in words that name them."""
        try:
            agents = agents_of(self.agents)
        except (ValueError, AttributeError, TypeError) as error:
            return {"agents": str(error)}
        problems = problems_in(agents, game)
        return {"agents": problems} if problems else {}


class Member(Membership):
    """Somebody's part in a study."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="members")

    class Meta:
        verbose_name = _("member of a study")
        verbose_name_plural = _("members of studies")
        constraints = [models.UniqueConstraint(fields=["study", "user"], name="one_part_per_study")]


class Version(models.Model):
    """A study as it was launched: everything a match depends on, hashed. Never changed."""

    study = models.ForeignKey(Study, models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField(_("number"))
    content = models.JSONField(_("content"))
    sha256 = models.CharField(max_length=64)
    code_revision = models.CharField(max_length=64, blank=True)
    seed = models.BigIntegerField(default=new_seed)
    launched_at = models.DateTimeField(_("launched"), default=timezone.now)

    objects = FrozenRows.as_manager()

    class Meta:
        verbose_name = _("version")
        verbose_name_plural = _("versions")
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["study", "number"], name="one_version_per_number")]

    def __str__(self) -> str:
        return f"{self.study.slug} v{self.number}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Write the version once.

        Raises:
            Frozen: it was written before.
        """
        if not self._state.adding:
            refuse()
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raises Frozen: versions are evidence."""
        refuse()

    def pay(self) -> PayRule:
        """The pay rule that it promises; a cell of it may announce another average."""
        return PayRule.model_validate(self.content["pay"])

    def agents(self) -> dict[str, Agent]:
        """Its agents by label."""
        return agents_in(self.content)

    def planned_cells(self) -> list[Cell]:
        """The cells that its content says, not saved."""
        return self.cells_of_part(self.content)

    def cells_of_part(self, part: Mapping[str, Any]) -> list[Cell]:
        """The cells that its content, or the part of another game in it (`studies.sessions`), says; not saved."""
        return [_planned(self, number, cell) for number, cell in enumerate(part["cells"], start=1)]


class Cell(models.Model):
    """One combination of what a version varies: a configuration in a line-up.

    Attributes:
        seats: who takes each seat, see `opponents.agents.Seats`.
        role: the person's, where one person plays; empty where several do.
        quota: complete matches wanted, and so groups of `group_size` people.
    """

    version = models.ForeignKey(Version, models.PROTECT, related_name="cells")
    number = models.PositiveIntegerField()
    configuration = models.PositiveIntegerField(help_text=_("index into the version's configurations"))
    kind = models.CharField(_("kind"), max_length=20, blank=True, help_text=_("main, variant or random, for instance"))
    lineup = models.CharField(_("line-up"), max_length=200, blank=True)
    seats = models.JSONField(_("seats"))
    role = models.CharField(_("role"), max_length=40, blank=True)
    group_size = models.PositiveSmallIntegerField(_("people in a match"), default=1)
    quota = models.PositiveIntegerField(_("quota"))
    announced_average = models.DecimalField(
        _("announced average bonus"),
        max_digits=8,
        decimal_places=2,
        null=True,
        help_text=_("where it depends on the cell"),
    )

    class Meta:
        verbose_name = _("cell")
        verbose_name_plural = _("cells")
        ordering = ["version", "number"]
        constraints = [models.UniqueConstraint(fields=["version", "number"], name="one_cell_per_number")]

    def __str__(self) -> str:
        return f"{self.version} {self.lineup or ', '.join(self.people)}"

    @property
    def people(self) -> list[Role]:
        """The seats that people take."""
        return people_in(self.seats)

    @property
    def places(self) -> int:
        """How many people its quota is."""
        return self.quota * self.group_size

    def pay(self) -> PayRule:
        """The pay rule of whoever plays here."""
        rule = self.version.pay()
        if self.announced_average is None:
            return rule
        return rule.model_copy(update={"announced_average": self.announced_average})


def _planned(version: Version, number: int, written: Mapping[str, Any]) -> Cell:
    seats = seats_in(written)
    people = people_in(seats)
    return Cell(
        version=version,
        number=number,
        configuration=written["configuration"],
        kind=written["kind"],
        lineup=written.get("lineup", ""),
        seats=seats,
        role=people[0] if len(people) == 1 else "",
        group_size=len(people),
        quota=written["quota"],
        announced_average=Cell._meta.get_field("announced_average").to_python(written["announced_average"]),
    )


class Placement(models.Model):
    """Who was placed in which cell. A released placement no longer counts towards the quota.

    Attributes:
        role: the seat that is kept for the person. Where seats of one kind are filled by a group, the lobby may
            still change it.
    """

    enrolment = models.OneToOneField(Enrolment, models.CASCADE, related_name="placement")
    cell = models.ForeignKey(Cell, models.PROTECT, related_name="placements")
    role = models.CharField(_("role"), max_length=40, blank=True)
    placed_at = models.DateTimeField(default=timezone.now)
    released_at = models.DateTimeField(null=True, blank=True)
    tallied = models.BooleanField(default=False, editable=False, help_text=_("counted in the sums of what is over"))

    class Meta:
        verbose_name = _("placement")
        verbose_name_plural = _("placements")
        indexes = [
            models.Index(fields=["cell"], condition=models.Q(released_at=None), name="placement_held"),
            models.Index(fields=["cell"], condition=models.Q(tallied=False), name="placement_untallied"),
        ]

    def __str__(self) -> str:
        return f"{self.enrolment} in {self.cell}"
