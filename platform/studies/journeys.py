"""From a cell's plan to the steps of a participant's path: one function per kind of stage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from hashlib import sha256
from math import gcd, lcm
from random import Random
from typing import Any

import games.texts
from games.catalogues import SOURCE
from games.errors import BadText
from games.interface import Role
from games.words import in_language
from matches.disclosing import Discloses
from matches.models import Match
from opponents.agents import labels_in, people_in
from plans import chat, stages
from plans.checking import matches_of
from plans.pay import least_of
from plans.plan import Plan
from plans.reading import BadPlan, Reader, reader_of
from plans.stages import DEFAULT_TEXT, walk
from plans.varying import level_key
from studies import disclosure, texts
from studies.disclosure import Outlook, all_games
from studies.models import Cell, Version, agents_of, configured, kept, seats_of

Steps = list[dict[str, Any]]
Maker = Callable[[Any, "Way"], Steps]
DRAW = "draw"
"""The kind of the step in whose place the steps of the drawn cell come (`studies.enrolling`)."""
MAX_POOL_LENGTH = 200
_makers: dict[type[stages.Stage], Maker] = {}
_BEFORE_PLAY = ("screened_out", "withdrew", "timed_out", "dropped_out")
"""Endings that participants bring about before their first game."""


def register_steps(kind: type[stages.Stage]) -> Callable[[Maker], Maker]:
    """Decorator: register the function that makes the steps of a kind of stage."""

    def add(maker: Maker) -> Maker:
        _makers[kind] = maker
        return maker

    return add


@dataclass
class Way:
    """A participant's way through a journey, as far as it has been made.

    Attributes:
        role: the participant's seat in the first game.
        number: the participant's number within the cell, from 1, among those of the same `together`.
        together: the participant meets only others with the same text; empty for anyone.
        levels: of the factors within participants, here.
        passes: the keys of those levels, block by block.
        group: what keeps people together here.
        conditional: whether a condition decides if what is made here is shown.
        matches: how many matches were made so far.
        played: whether one of them is shown whatever the conditions say.
        read: what the last instructions said; None if they may not have been shown.
    """

    version: Version
    cell: Cell
    role: Role
    number: int = 1
    together: str = ""
    levels: Mapping[str, str] = field(default_factory=dict)
    passes: tuple[str, ...] = ()
    group: Group | None = None
    conditional: bool = False
    matches: int = 0
    played: bool = False
    read: Any = None

    @property
    def plan(self) -> Plan:
        return self.cell.plan

    @cached_property
    def outlook(self) -> Outlook:
        return outlook_of(self.version)

    @property
    def variables(self) -> dict[str, Any]:
        """The factors as texts see them."""
        return variables_of(self.version.reader, {**self.cell.factors, **self.levels})

    def steps(self, journey: Iterable[stages.Stage]) -> Steps:
        """Return the steps of stages in order; each carries its stage's condition and the levels that it may name."""
        made: Steps = []
        outside = self.conditional
        for stage in journey:
            self.conditional = outside or bool(stage.show_if)
            for step in _makers[type(stage)](stage, self):
                if stage.show_if:
                    inner = step.get("show_if")
                    step["show_if"] = f"({stage.show_if}) and ({inner})" if inner else stage.show_if
                if self.passes and "given" not in step:
                    step["given"] = variables_of(self.version.reader, self.levels)
                    step["passes"] = list(self.passes)
                made.append(step)
        self.conditional = outside
        return made

    def rendered(self, text: str) -> str:
        """Return a text with the factors filled in."""
        return rendered(text, self.variables)

    def index_among(self, people: Sequence[Role]) -> int:
        """Return which of a game's seats the participant has: the same as in the first game, as far as possible."""
        first = self.cell.people
        if self.role in people:
            return people.index(self.role)
        if self.role in first and len(first) % len(people) == 0:
            return first.index(self.role) % len(people)
        return (self.number - 1) % len(people)


@dataclass(frozen=True)
class Group:
    """What keeps people together in a block, or in the matches of one game.

    Attributes:
        key: tells it apart from others of the journey, and people with other orders of its stages apart.
        cohort: the number of people who meet only each other; None if one group plays everything.
    """

    key: str
    lobby: stages.Lobby
    cohort: int | None = None


def steps_of(version: Version, cell: Cell, role: Role, *, number: int = 1, together: str = "", start: int = 0) -> Steps:
    """Return the frozen steps through this version for a participant in this seat of this cell.

    Args:
        number: the participant's number within the cell, from 1, among those of the same `together`.
        together: the participant meets only others with the same text; empty for anyone.
        start: leave out the stages before this one.
    """
    cell.version = version
    way = Way(version, cell, role, number, together)
    with in_language(version.language):
        return way.steps(cell.plan.journey[start:])


def common_steps(version: Version, *, number: int = 1) -> Steps:
    """Return the steps that come before the draw, the same in every cell, and the draw's own step.

    Args:
        number: the participant's within the version, from 1.
    """
    cell = Cell(version=version, number=1)
    way = Way(version, cell, role="", number=number)
    with in_language(version.language):
        return [*way.steps(cell.plan.journey[: draw_point(version)]), {"kind": DRAW}]


@kept
def draw_point(version: Version) -> int:
    """Return the index of the first stage that depends on a factor between participants, or plays a game.

    0 if the consent page does, with all that its default text says, or if there is only one cell.
    """
    reader = version.reader
    if len(reader.cells) == 1:
        return 0
    return 0 if _consent_differs(version) else reader.common_stages


def _consent_differs(version: Version) -> bool:
    """Return whether the cells' consent pages differ, or what they pay people who stop before the game."""
    first = None
    for cell in version.reader.cells:
        way = Way(version, Cell(version=version, number=cell.number, factors=cell.factors), role="")
        rule = way.plan.pay.rule_for()
        made = (_consent(way.plan.journey[0], way), [least_of(rule, ending=ending) for ending in _BEFORE_PLAY])
        first = first or made
        if made != first:
            return True
    return False


def variables_of(reader: Reader, levels: Mapping[str, str]) -> dict[str, Any]:
    """Return the factors as texts and conditions see them: a word or number itself, of an object its name."""
    variables = {}
    for name, key in levels.items():
        value = reader.values[name][key]
        variables[name] = key if isinstance(value, Mapping) else value
    return variables


def rendered(text: str, variables: Mapping[str, Any]) -> str:
    """Return a text with the variables filled in; as it is if it cannot be rendered."""
    if "{" not in text:
        return text
    try:
        return games.texts.render(text, variables)
    except BadText:
        return text


def template_with(template: str, variables: Mapping[str, Any]) -> str:
    """Return a game's template with the factors that it uses set in front."""
    used = games.texts.used_variables(template)
    lines = [f"{{% set {name} = {_literal(value)} %}}\n" for name, value in variables.items() if name in used]
    return "".join(lines) + template


def _literal(value: Any) -> str:
    """Return a level as a literal of the templates' language."""
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"'
    return level_key(value)


# ---- what holds for all cells -----------------------------------------------------------------------------


@kept
def outlook_of(version: Version) -> Outlook:
    """Return the outlook of a version."""
    reader = version.reader
    with in_language(version.language):
        return Outlook.of(reader.plan(cell.factors) for cell in reader.cells)


# ---- stages without a game --------------------------------------------------------------------------------


@register_steps(stages.Consent)
def _consent(stage: stages.Consent, way: Way) -> Steps:
    plan, outlook = way.plan, way.outlook
    rule, others = plan.pay.rule_for(), outlook.disclosures[plan.told.others]
    text = texts.default_consent(plan, outlook) if stage.text == DEFAULT_TEXT else way.rendered(stage.text)
    length = outlook.lengths[0] if len(outlook.lengths) == 1 else ""
    facts = texts.key_facts(plan, rule, length=length, about_minutes=way.version.frozen.get("about_minutes"))
    return [
        {
            "kind": "consent",
            "text": text,
            "facts": facts,
            "leaving": texts.leaving_promise(rule),
            "others": dict(others),
            **({"behaviour": texts.behaviour_counted()} if plan.checks.behaviour else {}),
            **({"demo": True} if plan.purpose == Match.Purpose.DEMO else {}),
        },
        {"kind": "name", "reserved": list(outlook.reserved), "visible": outlook.visible},
    ]


def consent_of(version: Version) -> str:
    """Return the consent text of the first cell (Markdown)."""
    cell = Cell(version=version, number=1)
    stage = cell.plan.consent
    assert stage is not None
    with in_language(version.language):
        text: str = _consent(stage, Way(version, cell, role=""))[0]["text"]
    return text


def media_in(reader: Reader) -> set[str]:
    """Return the names of the images and videos that a plan's pages show in any cell."""
    parts = {id(stage): stage for cell in reader.cells for stage in reader.plan(cell.factors).journey}
    pages = [met.stage for met in walk(parts.values()) if isinstance(met.stage, stages.Page)]
    return {name for page in pages for name in (page.image, page.video) if name}


def media_names(document: Mapping[str, Any]) -> set[str]:
    """Return the names of the images and videos that a plan's pages show; none if it cannot be read."""
    try:
        return media_in(reader_of(document))
    except BadPlan:
        return set()


@register_steps(stages.Page)
def _page(stage: stages.Page, way: Way) -> Steps:
    files = way.version.frozen.get("media", {})
    shown = {
        kind: {**files[name], "alt": stage.media_text}
        for kind in ("image", "video")
        if (name := getattr(stage, kind)) in files
    }
    page = {"kind": "page", "name": named(stage, way), "title": way.rendered(stage.title)}
    before = {"seconds": stage.seconds, "before_game": way.matches == 0}
    return [{**page, "text": way.rendered(stage.text), **shown, **before}]


@register_steps(stages.Questions)
def _questions(stage: stages.Questions, way: Way) -> Steps:
    items = [
        item.model_copy(update={name: way.rendered(getattr(item, name)) for name in ("text", "help")})
        for item in stage.items
    ]
    return [
        {
            "kind": "questions",
            "name": named(stage, way),
            "title": way.rendered(stage.title),
            "items": [item.as_data() for item in items],
            "order": stage.order,
            "before_game": way.matches == 0,
        }
    ]


@register_steps(stages.Debriefing)
def _debriefing(stage: stages.Debriefing, way: Way) -> Steps:
    return []  # on the last page (`studies.endings`)


def named(stage: stages.Stage, way: Way) -> str:
    """Return a stage's name, with the levels of the pass that it is in."""
    return stages.place_of(str(stage.name), way.passes)


# ---- blocks -------------------------------------------------------------------------------------------------


@register_steps(stages.Block)
def _block(stage: stages.Block, way: Way) -> Steps:
    passes = list(stage.each_pass)
    unit = _unit(stage, way)
    seed = f"{way.version.seed}/{way.cell.number}/{named(stage, way)}/{way.together}"
    if stage.take is not None and stage.take < len(passes):
        around = list(range(len(passes)))
        Random(f"{seed}/around").shuffle(around)
        start = stage.take * _turn(unit, len(passes) // gcd(len(passes), stage.take), f"{seed}/take")
        chosen = sorted(around[(start + i) % len(around)] for i in range(stage.take))
        passes = [passes[i] for i in chosen]
    pass_order = ordered(len(passes), stage.passes, unit, f"{seed}/passes")
    stage_order = ordered(len(stage.of), stage.order, unit, f"{seed}/order")
    group = way.group
    if stage.groups is not None:
        own_order = "-".join(map(str, [*pass_order, *stage_order]))
        key = f"{stage.name}/{own_order}"
        group = Group(key, stage.groups.lobby, stage.groups.cohort)
    made: Steps = []
    before = way.levels, way.passes, way.group
    for index in pass_order:
        each = passes[index]
        own = [each.levels[name] for name in way.version.reader.passes_of(str(stage.name))[0]]
        way.levels, way.passes, way.group = each.levels, (*before[1], *own), group
        made += way.steps(each.stages[i] for i in stage_order)
    way.levels, way.passes, way.group = before
    return made


def _unit(block: stages.Block, way: Way) -> int:
    """Return which order through the block is the participant's: consecutive people who may meet share it."""
    plays = [met.stage for met in walk([block]) if isinstance(met.stage, stages.Game)]
    sizes = {len(people_in(seats_of(stage))) for stage in plays} or {1}
    if block.groups is not None and block.groups.cohort:
        size = block.groups.cohort
    elif block.groups is not None or all(stage.partners != "new" for stage in plays):
        size = lcm(*sizes)
    else:
        size = lcm(*sizes) * max(sizes)
    return (way.number - 1) // size


def ordered(count: int, rule: str, unit: int, seed: str) -> list[int]:
    """Return an order of `count` things: fixed, random, or the unit's row of a Williams design."""
    if rule == "balanced" and count > 1:
        rows = williams(count)
        return rows[_turn(unit, len(rows), seed)]
    order = list(range(count))
    if rule == "random":
        Random(f"{seed}/{unit}").shuffle(order)
    return order


def _turn(unit: int, count: int, seed: str) -> int:
    """Return which of `count` possibilities is the unit's: each comes once in every `count` units, in a drawn order.

    The drawn order keeps what is balanced in one block independent of what is balanced in another.
    """
    around, place = divmod(unit, count)
    return Random(f"{seed}/{around}").sample(range(count), count)[place]


@lru_cache(maxsize=32)
def williams(count: int) -> list[list[int]]:
    """Return orders of `count` things in which each stands in each place, and follows each other one, equally often."""
    first = [0]
    for step in range(1, count):
        first.append((first[-1] + (step if step % 2 else -step)) % count)
    rows = [[(value + shift) % count for value in first] for shift in range(count)]
    return rows if count % 2 == 0 else [*rows, *(row[::-1] for row in rows)]


# ---- games --------------------------------------------------------------------------------------------------


@register_steps(stages.Game)
def _game(stage: stages.Game, way: Way) -> Steps:
    """Return the steps of a game: instructions, comprehension, for each match its lobby and play, the quiz."""
    play = _Play(stage, way)
    steps = [*play.instructions(play.role(1), asks_code_word=not way.played)]
    steps += play.comprehension()
    for repeat in range(1, stage.repeats + 1):
        if repeat > 1:
            steps += play.instructions(play.role(repeat), asks_code_word=False)
        way.matches += 1
        steps += play.match(repeat)
    if stage.quiz and play.game.quiz(play.role(stage.repeats)):
        quiz = play.about(play.role(stage.repeats))
        steps.append({"kind": "quiz", "stage": play.name, **quiz, "stake": texts.quiz_stake(way.plan.pay.rule_for())})
    way.played = way.played or not way.conditional
    if way.conditional:
        way.read = None
    return steps


@register_steps(stages.Conversation)
def _conversation(stage: stages.Conversation, way: Way) -> Steps:
    """Return the steps of a chat: its lobby and the chat itself, which pays nothing."""
    way.matches += 1
    return _Play(stage, way).match(1)


class _Play:
    """One stage's game, for one participant."""

    def __init__(self, stage: stages.Game, way: Way):
        self.stage, self.way, self.plan = stage, way, way.plan
        self.game = configured(stage)
        self.rule = way.plan.pay.rule_for(stage.pay)
        self.agents = way.version.agents()
        self.labels = {
            label: label if label in self.agents else f"{label} {agent.hash}"
            for label, agent in agents_of(way.plan).items()
        }
        self.seats = {role: self._kept(player) for role, player in seats_of(stage).items()}
        self.people = people_in(self.seats)
        self.name = str(stage.name)

    def _kept(self, player: str | Sequence[str]) -> str | list[str]:
        """Return a seat's player under the labels of the version's agents."""
        if isinstance(player, str):
            return self.labels.get(player, player)
        return [self.labels[label] for label in player]

    def role(self, repeat: int) -> Role:
        shift = repeat - 1 if self.stage.roles == "rotate" else 0
        return self.people[(self.way.index_among(self.people) + shift) % len(self.people)]

    @cached_property
    def template(self) -> str:
        own = self.stage.instructions
        written = self.way.version.instructions(self.stage.game) if own == DEFAULT_TEXT else own
        return template_with(written, self.way.variables)

    def about(self, role: Role) -> dict[str, Any]:
        """Return what every step about the game holds."""
        own = self.stage.instructions
        published = self.way.version.frozen["published"].get(self.stage.game) if own == DEFAULT_TEXT else self.template
        shown = {"instructions": self.template, "amounts": self.stage.amounts, "published": published}
        if self.way.version.language != SOURCE:
            shown["language"] = self.way.version.language
        if self.plan.told.bonus == "shown" and self.game.pays:
            note = texts.counted_matches(self.plan.pay.bonus.of, matches_of(self.plan.journey, games=True))
            shown |= {"pay": self.rule.model_dump(mode="json", exclude={"endings"}), "pay_note": note}
        config = self.game.config.model_dump(mode="json")
        return {"game": self.stage.game, "config": config, "role": role, "texts": shown}

    def instructions(self, role: Role, *, asks_code_word: bool) -> Steps:
        """Return the instructions; nothing if the participant has just read the same."""
        said = (self.stage.game, self.game.instructions(role, self.template), self.stage.examples, self.rule)
        if said == self.way.read:
            return []
        self.way.read = said
        matches = matches_of(self.plan.journey, games=True)
        played = {
            (stage.game, repr(stage.config))
            for stage, _lobby in all_games(self.plan.journey)
            if not isinstance(stage, stages.Conversation)
        }
        promises = [
            texts.session_promise(self.plan.pay.bonus.of, matches, several=len(played) > 1),
            texts.pay_promise(self.rule, alike=self.game.pays_alike()),
            texts.worked_examples(self.rule, self.game, role),
        ]
        endings = texts.possible_endings(self.plan, screens=False, groups=self._meets_people())
        code_word = self.stage.code_word if asks_code_word else None
        examples = self.stage.examples
        return [
            {
                "kind": "instructions",
                "stage": self.name,
                **self.about(role),
                "pay": " ".join(filter(None, promises)),
                "endings": texts.endings_table(self.plan.pay.rule_for(), endings),
                "code_word": {"tries": code_word.tries} if code_word else None,
                **({"examples": template_with(examples, self.way.variables)} if examples else {}),
            }
        ]

    def _meets_people(self) -> bool:
        """Return whether the participant plays with others; in a blind study, whether anyone does."""
        if self.plan.told.others == Discloses.NONE:
            return self.way.outlook.longest is not None
        return any(len(people_in(seats_of(stage))) > 1 for stage, _lobby in all_games(self.plan.journey))

    def comprehension(self) -> Steps:
        """Return the questions about the rules before play; nothing if there are none."""
        asked, role = self.stage.comprehension, self.role(1)
        if asked is None or (asked.questions == "default" and not self.game.comprehension(role)):
            return []
        questions = None if isinstance(asked.questions, str) else [each.model_dump() for each in asked.questions]
        return [
            {
                "kind": "comprehension",
                "stage": self.name,
                **self.about(role),
                "questions": questions,
                "tries": asked.tries,
                "failed": asked.failed,
            }
        ]

    def match(self, repeat: int) -> Steps:
        """Return the steps of one match, preceded by the lobby if several participants play it together."""
        stage, way, plan = self.stage, self.way, self.plan
        where = ".".join([self.name, *way.passes, *([str(repeat)] if stage.repeats > 1 else [])])
        group, lobby = way.group, way.group.lobby if way.group else stage.lobby
        if group is None and stage.partners == "same" and stage.repeats > 1:
            group = Group(f"{'.'.join([self.name, *way.passes])}", stage.lobby)
        alone = len(self.people) == 1
        fill = self.labels.get(lobby.fill or "", "") if not alone else ""
        labels = [*labels_in(self.seats), *filter(None, [fill])]
        cohort, pool = "", f"{way.cell.number}/{way.matches}/{where}"
        if group is not None and not alone:
            pool += f"/{group.key}"
            if group.cohort:
                cohort = f"{way.cell.number}.{(way.number - 1) // group.cohort + 1}"
                pool += f"/{cohort}"
        if way.version.language != way.version.languages[0]:
            pool += f"/{way.version.language}"
            cohort += f".{way.version.language}" if cohort else ""
        if way.together:
            pool += f"/{way.together}"
            cohort += f".{Random(f'{way.version.seed}/{way.together}').randrange(2**31)}" if cohort else ""
        seed = f"{way.version.seed}/{pool}"
        if len(pool) > MAX_POOL_LENGTH:
            pool = f"{pool[: MAX_POOL_LENGTH - 65]}/{sha256(pool.encode()).hexdigest()}"
        keep = {"keep": group.key} if group is not None and not group.cohort and not alone else {}
        match_step = {
            "kind": "match",
            "stage": self.name,
            "where": where,
            **self.about(self.role(repeat)),
            "seats": self.seats,
            "agents": {label: self.agents[label].frozen() for label in labels},
            "purpose": plan.purpose,
            "timers": self._timers(),
            "budget_of": f"study:{way.version.study.slug}",
            **({"repeat": repeat} if stage.repeats > 1 else {}),
            **({"cluster": cohort} if cohort else {}),
            **keep,
        }
        if alone:
            return [{**match_step, "seed": Random(f"{seed}/{way.number}").randrange(2**31)}]
        returns = plan.entry.participations != 1
        meets_again = way.matches > 1 or returns
        lobby_step = {
            "kind": "lobby",
            "stage": self.name,
            "hall": lobby_hall(way.version),
            "pool": pool,
            "limit": lobby.wait,
            "ready": lobby.ready,
            "after": lobby.otherwise,
            "fill": fill,
            "strangers": stage.partners == "new" and meets_again and not keep,
            "seed": seed,
            **keep,
            **({"rotates": True} if stage.roles == "rotate" else {}),
            **({"join": way.version.study.get_absolute_url()} if plan.purpose == Match.Purpose.DEMO else {}),
        }
        return [lobby_step, match_step]

    def _timers(self) -> dict[str, Any]:
        timing = self.stage.timing
        timers: dict[str, Any] = {
            "turn_seconds": timing.turn,
            "extension_seconds": timing.extension,
            "report_seconds": timing.report,
            "on_timeout": timing.on_timeout,
            "on_absence": timing.on_absence,
            "absence": timing.absence,
            "grace": timing.grace,
            "returns": timing.returns,
        }
        if timing.stand_in and "agent" in (timing.on_timeout, timing.on_absence):
            timers["standin"] = self.agents[self.labels[timing.stand_in]].frozen()
        if self.plan.help.asking and self.plan.help.pauses_clock:
            timers["help_seconds"] = self.plan.help.longest_pause
        if self.stage.chat is not None:
            by_label = {label: self.agents[known].frozen() for label, known in self.labels.items()}
            timers["chat"] = chat.frozen(self.stage.chat, by_label)
        others = list(self.way.version.agents().values())
        return {
            **timers,
            "told": {"others": self.plan.told.others, "longest_answer": disclosure.longest_answer(timers, others)},
        }


def lobby_hall(version: Version) -> str:
    """Return the lobby in which the version's participants wait for each other."""
    return f"version-{version.pk}"
