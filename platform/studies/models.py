"""Studies, their frozen versions, the cells of each version, and the placements of participants."""

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
from matches.disclosing import Discloses
from matches.models import Match
from opponents.agents import Agent, agent_problem, agents_from_specs, parse_agents, people_in, problems_in
from opponents.endpoints import refresh_if_old
from opponents.listing import retired_problem
from participants.models import Enrolment, new_seed
from payouts.rules import PayRule, endings_with
from plans.questions import BadQuestions, questions_of
from recruiters import arrivals
from rights.models import Membership
from studies.design import PlannedCell, plan_cells
from studies.formats import agents_in, seats_in
from studies.frozen import FrozenRows, refuse
from studies.lineups import BadLineup, first_of_each_kind
from studies.sessions import MAX_MATCHES, MAX_OTHERS, Session


def game_choices() -> list[tuple[str, str]]:
    return [(key, registry.get(key).title) for key in registry.keys()]


class Study(models.Model):
    """A study as the researcher edits it. Launching freezes it into a `Version`, which is all that participants see."""

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

    title = models.CharField(_("title"), max_length=120)
    slug = models.SlugField(
        _("short name"), max_length=60, unique=True, help_text=_("Part of the link that participants follow.")
    )
    status = models.CharField(_("status"), max_length=12, choices=Status.choices, default=Status.DRAFT)
    purpose = models.CharField(_("purpose"), max_length=12, choices=Match.Purpose.choices, default=Match.Purpose.STUDY)

    game = models.CharField(_("game"), max_length=40, choices=game_choices)
    config = models.JSONField(_("parameters"), default=dict, blank=True)
    design = models.JSONField(
        _("design"),
        default=dict,
        blank=True,
        help_text=_(
            'Leave empty to play the parameters as they are. Several values of a parameter: {"grid": '
            '{"rounds": [1, 12]}}. Custom configurations: {"configurations": [{"config": {…}, "quota": '
            '5}]}. GLEE\'s table or its selection for participants: {"table": "glee"}, {"selection": '
            '"glee", "seed": 1}.'
        ),
    )
    roles = models.JSONField(_("roles for participants"), default=list, blank=True)
    quota = models.PositiveIntegerField(
        _("matches per cell"),
        default=20,
        validators=[MinValueValidator(1)],
        help_text=_(
            "How many complete matches you need of each line-up in each configuration. Matches in which "
            "the clock or a fallback moved are paid but stay out of the dataset and don't count here."
        ),
    )
    agents = models.JSONField(
        _("agents"),
        default=dict,
        blank=True,
        help_text=_("The study's models and scripted players by label, with their settings (see opponents.agents)."),
    )
    lineups = models.JSONField(
        _("line-ups"),
        default=list,
        blank=True,
        help_text=_(
            "Who takes which seat (see studies.lineups). Leave empty for a participant in each role against each agent."
        ),
    )

    discloses = models.CharField(
        _("what participants learn about the other players"),
        max_length=10,
        default=Discloses.COUNTS,
        choices=Discloses.choices,
        help_text=_(
            "Before they consent, in the default text or beside your own, and on the game's page. If you choose "
            "nothing, people, models and scripts look alike and every agent answers after the time that a person "
            "would take; the last page tells participants afterwards. The dataset records what each participant was "
            "told."
        ),
    )
    amounts = models.CharField(
        _("unit of payoffs"),
        max_length=10,
        default="points",
        choices=[("points", _("points")), ("dollars", _("dollars"))],
        help_text=_(
            "How participants and models see payoffs. Points cannot be mistaken for real pay. Choose "
            "dollars to follow the published studies."
        ),
    )
    consent = models.TextField(
        _("consent text"), blank=True, help_text=_("Markdown. Leave empty for the default text.")
    )
    instructions = models.TextField(
        _("instructions"), blank=True, help_text=_("Markdown template. Leave empty for the game's own instructions.")
    )
    survey_before = models.JSONField(_("questions before the game"), default=list, blank=True)
    survey_after = models.JSONField(_("questions after the game"), default=list, blank=True)
    debriefing = models.TextField(
        _("debriefing"),
        blank=True,
        help_text=_("Markdown. Shown on the last page to everyone who started the game. Leave empty for none."),
    )
    asks_code_word = models.BooleanField(_("hide a code word in the instructions"), default=True)
    code_word_again = models.BooleanField(
        _("second try at the code word"),
        default=True,
        help_text=_(
            "Participants who get the code word wrong may try once more. Capitals, quotation marks, extra "
            "words and one wrong letter are always accepted."
        ),
    )
    counts_behaviour = models.BooleanField(
        _("record page behaviour"),
        default=True,
        help_text=_(
            "Records typing rhythm, text that appears without typing, pointer movement, and a hidden field "
            "that only programs fill in. From these, Parley scores how likely an answer came from a "
            "program. Participants are told before they consent. The score has no effect on pay or data."
        ),
    )
    asks_quiz = models.BooleanField(_("ask the quiz after the game"), default=True)

    entry = models.CharField(_("who may enter"), max_length=12, choices=arrivals.choices, default="codes")
    most_participations = models.PositiveSmallIntegerField(
        _("sessions per participant"),
        null=True,
        blank=True,
        default=1,
        validators=[MinValueValidator(1)],
        help_text=_("How often the same person may take part. Leave empty for no limit."),
    )
    rest_hours = models.PositiveSmallIntegerField(
        _("hours between sessions"),
        default=0,
        validators=[MaxValueValidator(24 * 366)],
        help_text=_(
            "How long the same person must wait after starting a game of this kind, in any study. Enter 0 for no wait."
        ),
    )
    turn_seconds = models.PositiveIntegerField(_("seconds per turn"), default=180, validators=[MinValueValidator(5)])
    extension_seconds = models.PositiveIntegerField(
        _("extra seconds per turn"),
        default=60,
        help_text=_("Added once per turn when the time is up. Enter 0 for none."),
    )
    report_seconds = models.PositiveIntegerField(
        _("extra seconds for problem reports"),
        default=60,
        help_text=_("Added once per turn when a player opens “Report a problem”."),
    )
    on_timeout = models.CharField(
        _("when the time is up"),
        max_length=10,
        default="end",
        choices=[
            ("end", _("end the match")),
            ("default", _("play a default move, flagged in the data")),
            ("agent", _("an agent takes over the seat, if others are playing")),
        ],
    )
    absence_seconds = models.PositiveIntegerField(
        _("seconds of lost connection"),
        default=120,
        validators=[MaxValueValidator(3600)],
        help_text=_(
            "How long a match waits for a participant who loses the connection during their turns, in total per "
            "match. After that, the time counts as up. Enter 0 not to wait longer than for others."
        ),
    )
    grace_seconds = models.PositiveIntegerField(
        _("seconds to deliver an answer late"),
        default=60,
        validators=[MaxValueValidator(600)],
        help_text=_(
            "After a lost connection or an outage of your server, an answer that was given in time still counts if it "
            "arrives within this time, but never longer than the connection was lost."
        ),
    )
    returns = models.BooleanField(
        _("participants may return to their seat"),
        default=True,
        help_text=_(
            "A participant whose seat an agent has taken over plays again from their next turn if they come back. "
            "The agent's moves are flagged in the data."
        ),
    )
    lobby_seconds = models.PositiveIntegerField(
        _("seconds in the lobby"),
        default=300,
        validators=[MinValueValidator(10), MaxValueValidator(3600)],
        help_text=_("The longest a participant waits for others."),
    )
    ready_seconds = models.PositiveSmallIntegerField(
        _("seconds to get ready"),
        default=20,
        validators=[MaxValueValidator(300)],
        help_text=_(
            "When a group is complete, everyone in it is asked “Ready?” for this long. Anyone who does not press the "
            "button goes back to the queue, once. Enter 0 to start at once."
        ),
    )
    lobby_after = models.CharField(
        _("if too few participants arrive"),
        max_length=10,
        default="leave",
        choices=[
            ("leave", _("end the study for those who waited, with pay")),
            ("agents", _("fill each free seat with an agent, flagged in the data")),
            ("fewer", _("play with fewer seats, if the game allows it")),
        ],
    )
    fills_in = models.CharField(
        _("substitute agent"),
        max_length=200,
        blank=True,
        help_text=_(
            "Fills free seats in the lobby and takes over from participants who leave, if you chose that above."
        ),
    )
    waiting_rate = models.DecimalField(
        _("hourly pay for waiting when no group forms"),
        max_digits=8,
        decimal_places=2,
        default=Decimal("6.00"),
        validators=[MinValueValidator(0)],
        help_text=_("Paid pro rata to participants for whom no group formed, in addition to what that ending pays."),
    )
    whole_groups = models.BooleanField(
        _("keep whole groups only"),
        default=False,
        help_text=_("If one participant is excluded, everyone who played with them is excluded too."),
    )
    session_matches = models.PositiveSmallIntegerField(
        _("matches per session"), default=1, validators=[MinValueValidator(1), MaxValueValidator(MAX_MATCHES)]
    )
    session_order = models.CharField(
        _("order of matches"),
        max_length=10,
        default="again",
        choices=[
            ("again", _("the same configuration every time")),
            ("fixed", _("the configurations, or games, in order")),
            ("random", _("the configurations, or games, in random order")),
        ],
    )
    session_games = models.JSONField(
        _("other games"),
        default=list,
        blank=True,
        help_text=_("Studies whose games are played in the same session, in order."),
    )
    session_partners = models.CharField(
        _("partners"),
        max_length=10,
        default="new",
        choices=[("new", _("new partners, as long as others may arrive")), ("any", _("anyone who is available"))],
    )
    session_pays = models.CharField(
        _("paid match"),
        max_length=10,
        default="all",
        choices=[
            ("all", _("the average of all matches")),
            ("last", _("the last match")),
            ("random", _("one match, drawn at the end")),
        ],
    )
    minutes = models.PositiveIntegerField(
        _("maximum minutes"),
        default=120,
        validators=[MinValueValidator(5)],
        help_text=_("After this time, a participant's place is given to someone else."),
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
            ("fixed", _("the same for everyone")),
        ],
    )
    announced_average = models.DecimalField(
        _("announced average bonus"), max_digits=8, decimal_places=2, default=Decimal("1.00")
    )
    rate = models.DecimalField(_("rate per unit of payoff"), max_digits=12, decimal_places=6, default=Decimal(0))
    cap = models.DecimalField(_("maximum bonus"), max_digits=8, decimal_places=2, default=Decimal("10.00"))
    failure_cap = models.DecimalField(
        _("spending limit for failed matches"),
        max_digits=8,
        decimal_places=2,
        null=True,
        blank=True,
        default=Decimal("50.00"),
        validators=[MinValueValidator(0)],
        help_text=_(
            "Pause the study when matches whose opponent failed have cost more than this. Leave empty for no limit."
        ),
    )
    pauses_on_failure = models.BooleanField(
        _("pause when an opponent fails"),
        default=False,
        help_text=_(
            "Close the study to new participants when a match fails because its model did not answer. You "
            "reopen it yourself."
        ),
    )
    endings = models.JSONField(
        _("what other endings pay"), default=dict, blank=True, help_text=_("only where it differs from payouts.rules")
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
        """Return the game with this study's parameters.

        Raises:
            GameError
        """
        return games.play.configure(registry.get(self.game), self.config, amounts=self.amounts)

    def agents_by_label(self) -> dict[str, Agent]:
        """Return its agents by label; the game's sparring partner if none were chosen and a line-up needs one.

        Raises:
            ValueError: a label or an agent is invalid.
        """
        if self.agents or self.lineups:
            return parse_agents(self.agents)
        return parse_agents(agents_from_specs(f"script:{registry.get(self.game).default_script}"))

    def latest_version(self) -> Version | None:
        """Return the version that new participants get; None if nothing was launched."""
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
        """Return how many matches a participant plays, and which count."""
        return Session(
            matches=self.session_matches,
            order=self.session_order,
            partners=self.session_partners,
            pays=self.session_pays,
        )

    def other_game_studies(self) -> list[Study]:
        """Return the studies whose games are played in the same session, in order, without deleted ones."""
        keys = self.session_games if isinstance(self.session_games, list) else []
        studies = Study.objects.in_bulk([key for key in keys if isinstance(key, int)])
        return [studies[key] for key in keys if key in studies]

    def clean(self) -> None:
        """Raise ValidationError, by field, for settings that cannot be played."""
        errors: dict[str, Any] = {}
        refresh_if_old()
        try:
            game = self.configured()
        except GameError as error:
            raise ValidationError({"config": str(error)}) from None
        if not self.roles and not self.lineups:
            self.roles = first_of_each_kind(game, game.roles() if self.design else game.people())
        playable_roles = game.roles() if self.design else game.people()
        if unknown := set(self.roles) - set(playable_roles):
            errors["roles"] = _("Participants cannot play {roles} here. They can play {people}.").format(
                roles=", ".join(sorted(unknown)), people=", ".join(playable_roles)
            )
        self.agents, self.lineups = self.agents or {}, self.lineups or []
        if not self.agents and not self.lineups and len(game.roles()) > 1:
            self.agents = {label: agent.kept() for label, agent in self.agents_by_label().items()}
        errors |= self._agent_problems(game)
        cells: list[PlannedCell] = []
        try:
            cells = [] if errors else plan_cells(self)
        except BadLineup as error:
            errors["lineups"] = str(error)
        except GameError as error:
            errors["design"] = str(error)
        errors |= self._substitute_problems()
        errors |= self._session_problems()
        try:
            for config in {id(cell.config): cell.config for cell in cells}.values():
                game = games.play.configure(registry.get(self.game), config)
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
            errors["currency"] = _(
                "Enter the currency as three capital letters, such as USD, and amounts of 0 or more."
            )
        for name in ("survey_before", "survey_after"):
            try:
                questions = questions_of(getattr(self, name) or [], may_end=name == "survey_before")
                setattr(self, name, [question.as_data() for question in questions])
            except BadQuestions as error:
                errors[name] = str(error)
        if errors:
            raise ValidationError(errors)

    def _substitute_problems(self) -> dict[str, str]:
        """Return the problem with the substitute agent; empty if there is none."""
        if self.fills_in and self.fills_in not in self.agents:
            return {
                "fills_in": _("There is no agent “{label}”. The agents are {labels}.").format(
                    label=self.fills_in, labels=", ".join(self.agents) or _("none")
                )
            }
        if not self.fills_in and "agent" in (self.on_timeout, self.lobby_after.removesuffix("s")):
            return {"fills_in": _("Choose the agent that takes over participants' seats.")}
        return {}

    def _session_problems(self) -> dict[str, str]:
        """Return the problems with the session's other games, by field."""
        self.session_games = self.session_games or []
        others = self.other_game_studies()
        if len(others) < len(self.session_games) or len({other.pk for other in others}) < len(others):
            return {"session_games": _("Choose existing studies as other games, each only once.")}
        if len(others) > MAX_OTHERS:
            return {"session_games": _("Choose at most {most} other games.").format(most=MAX_OTHERS)}
        if not others:
            return {}
        agents = {label: agent.kept() for label, agent in self.agents_by_label().items()}
        for other in others:
            message = _("“{title}”: {problem}")
            if other.pk == self.pk or other.session_matches > 1:
                problem = _("It already has several games of its own. Choose a study with one game.")
                return {"session_games": message.format(title=other.title, problem=problem)}
            try:
                plan_cells(other)
            except GameError as error:
                return {"session_games": message.format(title=other.title, problem=error)}
            for label, agent in other.agents_by_label().items():
                if agents.setdefault(label, agent.kept()) != agent.kept():
                    problem = _("Its agent “{label}” has different settings here. Rename one of the two agents.")
                    problem = problem.format(label=label)
                    return {"session_games": message.format(title=other.title, problem=problem)}
        if self.session_order == "again":
            return {"session_order": _("With other games, choose “in order” or “in random order”.")}
        if self.session_matches <= len(others):
            message = _("This session has {games} games. Enter at least {games} matches per session.")
            return {"session_matches": message.format(games=len(others) + 1)}
        return {}

    def _agent_problems(self, game: games.play.Game) -> dict[str, Any]:
        """Return the problems with the agents, each named."""
        try:
            agents = parse_agents(self.agents)
        except (ValueError, AttributeError, TypeError) as error:
            return {"agents": str(error)}
        problems = problems_in(agents, game) or self._retired_problems(agents)
        return {"agents": problems} if problems else {}

    def _retired_problems(self, agents: Mapping[str, Agent]) -> list[str]:
        """Return one sentence per agent at a retired endpoint, except for models that the study was launched with."""
        retired = {label: agent for label, agent in agents.items() if retired_problem(agent.specs)}
        latest = self.latest_version() if self.pk and retired else None
        launched = {spec for agent in (latest.agents() if latest else {}).values() for spec in agent.specs}
        problems = {label: retired_problem(set(agent.specs) - launched) for label, agent in retired.items()}
        return [agent_problem(label, problem) for label, problem in problems.items() if problem]


class Member(Membership):
    """A user's membership in a study."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="members")

    class Meta:
        verbose_name = _("member of a study")
        verbose_name_plural = _("members of studies")
        constraints = [models.UniqueConstraint(fields=["study", "user"], name="one_part_per_study")]


class Version(models.Model):
    """A launched study: everything its matches depend on, hashed and immutable."""

    study = models.ForeignKey(Study, models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField(_("number"))
    content = models.JSONField(_("content"))
    sha256 = models.CharField("SHA-256", max_length=64)
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

    def pay(self) -> PayRule:
        """Return its pay rule; a cell may announce a different average bonus."""
        return PayRule.model_validate(self.content["pay"])

    def agents(self) -> dict[str, Agent]:
        """Return its agents by label."""
        return agents_in(self.content)

    def planned_cells(self) -> list[Cell]:
        """Return the cells defined by its content, unsaved."""
        return self.cells_of_part(self.content)

    def cells_of_part(self, part: Mapping[str, Any]) -> list[Cell]:
        """Return the cells defined by its content, or by another game's part of it (`studies.sessions`), unsaved."""
        return [_planned(self, number, cell) for number, cell in enumerate(part["cells"], start=1)]


class Cell(models.Model):
    """One combination of what a version varies: a configuration in a line-up.

    Attributes:
        seats: who takes each seat, see `opponents.agents.Seats`.
        role: the participant's, if only one plays; otherwise empty.
        quota: complete matches needed, that is, groups of `group_size` participants.
    """

    version = models.ForeignKey(Version, models.PROTECT, related_name="cells")
    number = models.PositiveIntegerField()
    configuration = models.PositiveIntegerField(help_text=_("index into the version's configurations"))
    kind = models.CharField(_("kind"), max_length=20, blank=True, help_text=_("such as main, variant or random"))
    lineup = models.CharField(_("line-up"), max_length=200, blank=True)
    seats = models.JSONField(_("seats"))
    role = models.CharField(_("role"), max_length=40, blank=True)
    group_size = models.PositiveSmallIntegerField(_("participants per match"), default=1)
    quota = models.PositiveIntegerField(_("quota"))
    announced_average = models.DecimalField(
        _("announced average bonus"),
        max_digits=8,
        decimal_places=2,
        null=True,
        help_text=_("if it depends on the cell"),
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
        """The seats that participants take."""
        return people_in(self.seats)

    @property
    def places(self) -> int:
        """How many participants its quota needs."""
        return self.quota * self.group_size

    def pay(self) -> PayRule:
        """Return the pay rule of participants in this cell."""
        rule = self.version.pay()
        if self.announced_average is None:
            return rule
        return rule.model_copy(update={"announced_average": self.announced_average})


def _planned(version: Version, number: int, data: Mapping[str, Any]) -> Cell:
    seats = seats_in(data)
    people = people_in(seats)
    return Cell(
        version=version,
        number=number,
        configuration=data["configuration"],
        kind=data["kind"],
        lineup=data.get("lineup", ""),
        seats=seats,
        role=people[0] if len(people) == 1 else "",
        group_size=len(people),
        quota=data["quota"],
        announced_average=Cell._meta.get_field("announced_average").to_python(data["announced_average"]),
    )


class Placement(models.Model):
    """A participant's placement in a cell. A released placement no longer counts towards the quota.

    Attributes:
        role: the participant's seat. Where a group fills several seats of one kind, the lobby may still change it.
    """

    enrolment = models.OneToOneField(Enrolment, models.CASCADE, related_name="placement")
    cell = models.ForeignKey(Cell, models.PROTECT, related_name="placements")
    role = models.CharField(_("role"), max_length=40, blank=True)
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
        ]

    def __str__(self) -> str:
        return f"{self.enrolment} in {self.cell}"


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
