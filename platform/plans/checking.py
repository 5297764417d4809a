"""Check a whole plan: every cell and pass is read, and everything in it must fit together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

import games.play
from games import registry, texts
from games.catalogues import SOURCE
from games.errors import BadText, GameError
from games.interface import Game as AnyGame
from games.interface import Role
from games.words import gettext as _
from llm_agents.errors import AgentError
from llm_agents.strategies import strategy_named
from plans.agents import PERSON, PlannedAgent, label_problem
from plans.asking import AgentSettings
from plans.collection import MAX_MATCHES, AgentsGame, CollectionPlan, CollectionReader, is_collection
from plans.conditions import Condition
from plans.factors import RESERVED_NAMES
from plans.hypotheses import PAYOFF, outcomes_of_game
from plans.hypotheses import problems as hypothesis_problems
from plans.languages import in_english, lacking, languages_of
from plans.plan import Document, Plan
from plans.questions import faults as question_faults
from plans.reading import CONDITIONS, BadPlan, Fault, PlannedCell, Problems, Reader, location, names_used, reader_of
from plans.schedule import schedule_of
from plans.seats import OTHERS, fitted
from plans.stages import DEFAULT_TEXT, Block, Consent, Conversation, Debriefing, Game, Lobby, Questions, Stage, walk
from plans.varying import Levels, Path, at_path

Problem = tuple[Path, str]
"""Where something is wrong in the resolved plan, and what."""
MAX_FAULTS = 200
"""Maximum number of faults that a check lists."""


@dataclass(frozen=True)
class Checked:
    """The result of a check.

    Attributes:
        cells: empty if the plan cannot be read.
        matches: in all cells together; None if the plan cannot be read.
    """

    cells: Sequence[PlannedCell] = ()
    matches: int | None = None
    faults: Sequence[Fault] = ()

    def as_data(self) -> dict[str, Any]:
        """Return what `manage.py study check --json` prints."""
        return {
            "cells": [{"factors": dict(cell.factors), "quota": cell.quota} for cell in self.cells],
            "matches": self.matches,
            "faults": [fault.as_data() for fault in self.faults],
        }


def check(document: Document) -> Checked:
    """Read and check a plan in every cell. Agents with endpoints are checked for form only."""
    if is_collection(document):
        return _check_collection(document)
    try:
        reader = reader_of(document)
    except BadPlan as error:
        return Checked(faults=[*error.faults, *_faults_besides(document, error.faults)][:MAX_FAULTS])
    checked = check_read(reader)
    found = [Fault(".".join(map(str, path)), what) for path, what in lacking(document)]
    for language in languages_of(document)[1:]:
        found += check_read(reader_of(document, language=language)).faults
    if more := [fault for fault in found if fault not in checked.faults]:
        return replace(checked, faults=[*checked.faults, *more][:MAX_FAULTS])
    return checked


_checked: WeakKeyDictionary[Reader, Checked] = WeakKeyDictionary()


def check_read(reader: Reader) -> Checked:
    """Check a plan that can be read."""
    if reader not in _checked:
        _checked[reader] = _check(reader)
    return _checked[reader]


def _check(reader: Reader) -> Checked:
    faults, unreadable = _Faults(), _Faults()
    checker = _Checker(reader)
    matches: int | None = 0
    for cell in reader.cells:
        try:
            plan = reader.plan(cell.factors)
        except BadPlan as error:
            unreadable.add(error.faults)
            matches = None
        else:
            faults.add(checker.faults(plan, cell.factors))
            matches = None if matches is None else matches + cell.quota * checker.matches(plan)
        if len(faults.found) + len(unreadable.found) >= MAX_FAULTS:
            break
    if unreadable.found:
        known = list(unreadable.found.values())
        faults.add(known)
        faults.add(_faults_besides(reader.document, known))
    return Checked(reader.cells, matches, list(faults.found.values())[:MAX_FAULTS])


def _faults_besides(document: Document, faults: Sequence[Fault]) -> list[Fault]:
    """Return faults of the parts that can be read, if others cannot.

    Stages with faults become empty pages and sections their defaults; nothing is said of what may refer to them.
    """
    readable = {**document, "journey": deepcopy(document.get("journey"))}
    used = set(names_used(document))
    for fault in faults:
        section, *path = fault.at.split(".")
        if section == "journey" and path:
            _empty(readable["journey"], path)
        elif section == "factors" and len(path) == 1 and path[0] not in used:
            readable["factors"] = {name: each for name, each in document["factors"].items() if name != path[0]}
        elif section in ("journey", "factors", "cells", "format", ""):
            return []
        else:
            readable.pop(section, None)
    refers = {*CONDITIONS, "name", *(() if "agents" in readable else ("seats", "stand_in", "fill", "agent"))}
    return [
        fault
        for fault in (check(readable).faults if readable != document else ())
        if (parts := fault.at.split("."))[0] != "cells"
        and (parts[0] != "factors" or used.isdisjoint(parts))
        and fault.at != "journey"
        and refers.isdisjoint(parts)
    ]


def _empty(stages: Any, path: Sequence[str]) -> None:
    """Replace the innermost stage that a path leads to by an empty page of the same name."""
    index, *rest = path
    stage = stages[int(index)]
    if rest[:1] == ["of"] and len(rest) > 1:
        return _empty(stage["of"], rest[1:])
    name = stage.get("name") if isinstance(stage, Mapping) else None
    kind = "consent" if isinstance(stage, Mapping) and stage.get("stage") == "consent" else "page"
    stages[int(index)] = {"stage": kind, **({"name": name} if kind == "page" else {})}
    return None


def matches_of(stages: Sequence[Stage], *, games: bool = False) -> int:
    """Return how many matches a participant plays, with chats as matches or, if only `games` count, without."""
    total = 0
    for stage in stages:
        if isinstance(stage, Game):
            total += 0 if games and isinstance(stage, Conversation) else stage.repeats
        elif isinstance(stage, Block):
            counts = [matches_of(each.stages, games=games) for each in stage.each_pass]
            total += sum(counts[: stage.take] if stage.take else counts)
    return total


class _Faults:
    """Faults, each once."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str, tuple[tuple[str, str], ...]], Fault] = {}

    def add(self, faults: Sequence[Fault]) -> None:
        for fault in faults:
            self.found.setdefault((fault.at, fault.what, tuple(sorted(fault.factors.items()))), fault)


@dataclass(frozen=True, eq=False)
class _Names:
    """What conditions may refer to at a point of the journey.

    Attributes:
        values: names of factors, and of questions answered so far.
        games: per path to an earlier game's results ("talk", "short"), the names of the results.
        used: names that nothing else may have.
    """

    values: frozenset[str]
    games: Mapping[tuple[str, ...], frozenset[str]] = field(default_factory=dict)
    used: frozenset[str] = frozenset()

    def knows(self, reference: tuple[str, ...]) -> bool:
        if reference[0] == "recruiter":
            return len(reference) > 1
        if len(reference) == 1:
            return reference[0] in self.values
        return reference[-1] in self.games.get(reference[:-1], ())


Found = tuple[_Names, Problems]
"""The names after some stages, and what is wrong with the stages."""


class _Checker:
    """Checks the plans of one document, each part once for the levels that matter."""

    def __init__(self, reader: Reader):
        self.reader = reader
        self._known: dict[tuple[Any, ...], Found] = {}
        self._names: dict[tuple[Any, ...], _Names] = {}
        self._used_in: dict[int, tuple[str, ...]] = {}
        self._agents = reader.document.get("agents", {})
        self._start = _Names(frozenset(reader.between), used=frozenset(reader.factors))
        self._matches: dict[int, int] = {}
        self._is_first = True

    def faults(self, plan: Plan, levels: Levels) -> list[Fault]:
        """Return what does not fit together in a cell's plan."""
        agents = self.reader.key(self._agents, levels)
        if agents not in self._known:
            self._known[agents] = self._start, [(at, what, {}) for at, what in _agent_problems(plan)]
        found = [*self._known[agents][1], *self._walk(plan, plan.journey, ("journey",), levels, self._start, agents)[1]]
        if self._is_first:
            found += [(at, what, {}) for at, what in self._problems_of_all(plan)]
            self._is_first = False
        return [self.reader.fault(path, what, {**levels, **own}) for path, what, own in found]

    def matches(self, plan: Plan) -> int:
        """Return how many matches a participant plays in a cell."""
        for stage in plan.journey:
            if id(stage) not in self._matches:
                self._matches[id(stage)] = matches_of([stage])
        return sum(self._matches[id(stage)] for stage in plan.journey)

    def _problems_of_all(self, plan: Plan) -> Iterator[Problem]:
        """Yield what no factor can vary."""
        if not plan.title.strip():
            yield ("title",), _("Please give the study a title.")
        yield from _order_problems(plan)
        yield from self._strata_problems(plan)
        yield from hypothesis_problems(plan.analysis, self.reader, plan)

    def _walk(
        self, plan: Plan, stages: Sequence[Stage], path: Path, levels: Levels, names: _Names, agents: tuple[Any, ...]
    ) -> Found:
        problems: Problems = []
        for index, stage in enumerate(stages):
            at = (*path, index)
            needed = agents if isinstance(stage, Game | Block) else ()
            if id(stage) not in self._used_in:
                used = set(names_used(at_path(self.reader.document, at)))
                self._used_in[id(stage)] = tuple(name for name in self.reader.factors if name in used)
            key = (id(stage), id(names), needed, *map(levels.get, self._used_in[id(stage)]))
            if key not in self._known:
                after, found = (
                    self._in_block(plan, stage, at, levels, names, agents)
                    if isinstance(stage, Block)
                    else self._in_stage(plan, stage, at, levels, names)
                )
                same = (after.values, frozenset(after.games.items()), after.used)
                self._known[key] = self._names.setdefault(same, after), found
            names, found = self._known[key]
            problems += found
        return names, problems

    def _in_stage(self, plan: Plan, stage: Stage, at: Path, levels: Levels, names: _Names) -> Found:
        variables = {name: levels[name] for name in self.reader.factors if name in levels}
        problems = [
            *_name_problems(stage, at, names.used),
            *_condition_problems(stage.show_if, (*at, "show_if"), names),
        ]
        problems += _stage_problems(stage, at, plan, variables)
        values, games = names.values, names.games
        if isinstance(stage, Questions):
            problems += _question_problems(stage, at, names)
        values |= {item.name for item in stage.questions()}
        if isinstance(stage, Game) and stage.name:
            results = frozenset(outcomes_of_game(stage.game) if stage.game in registry.known() else {PAYOFF})
            games = {**games, (stage.name,): results}
            if stage.repeats > 1:
                games |= {(stage.name, str(number)): results for number in range(1, stage.repeats + 1)}
        after = _Names(values, games, names.used | set(stage.names()))
        return after, [(where, what, {}) for where, what in problems]

    def _in_block(
        self, plan: Plan, block: Block, at: Path, levels: Levels, names: _Names, agents: tuple[Any, ...]
    ) -> Found:
        own = [*_name_problems(block, at, names.used), *_condition_problems(block.show_if, (*at, "show_if"), names)]
        own += _groups_problems(block, at, plan)
        if block.take is not None and block.take > len(block.each_pass):
            own.append(((*at, "take"), _("There are only {passes} passes.").format(passes=len(block.each_pass))))
        problems: Problems = [(where, what, {}) for where, what in own]
        values, games, used = names.values, dict(names.games), names.used | set(block.names())
        before = used
        for each, combination in zip(block.each_pass, self.reader.passes_of(str(block.name)), strict=True):
            start = _Names(names.values | set(each.levels), names.games, before)
            inside, found = self._walk(plan, each.stages, (*at, "of"), {**levels, **each.levels}, start, agents)
            problems += [(where, what, {**each.levels, **inner}) for where, what, inner in found]
            values, used = values | inside.values - set(each.levels), used | inside.used
            for where, results in inside.games.items():
                games[where if where in names.games else (where[0], *combination.values(), *where[1:])] = results
        return _Names(values, games, used), problems

    def _strata_problems(self, plan: Plan) -> Iterator[Problem]:
        asked = [item.name for stage in plan.stages() for item in stage.questions()]
        before = plan.journey[: self.reader.common_stages]
        known = {item.name for stage in before for item in stage.questions()}
        for index, name in enumerate(plan.cells.strata):
            if name not in asked:
                yield ("cells", "strata", index), _("There is no question “{name}”.").format(name=name)
            elif name not in known:
                what = _(
                    "“{name}” is asked too late: a participant's cell is drawn before the first stage that plays a "
                    "game or depends on a factor."
                )
                yield ("cells", "strata", index), what.format(name=name)


def _name_problems(stage: Stage, at: Path, used: Collection[str]) -> Iterator[Problem]:
    if stage.needs_name and not stage.name:
        yield (*at, "name"), _("Please give this stage a name.")
    seen: set[str] = set()
    for name in stage.names():
        where: Path = (*at, "name")
        if isinstance(stage, Questions) and name != stage.name:
            where = (*at, "items", next(i for i, item in enumerate(stage.items) if item.name == name), "name")
        if name in RESERVED_NAMES:
            yield where, _("“{name}” has a meaning of its own. Choose another name.").format(name=name)
        elif name in used or name in seen:
            yield where, _("“{name}” is the name of something else, too.").format(name=name)
        seen.add(name)


def _condition_problems(text: str, at: Path, names: _Names) -> list[Problem]:
    if not text:
        return []
    return [
        (at, _("“{name}” is not known at this point of the journey.").format(name=".".join(reference)))
        for reference in Condition.parse(text).references()
        if not names.knows(reference)
    ]


def _question_problems(stage: Questions, at: Path, names: _Names) -> Iterator[Problem]:
    """Yield the faults of a page of questions; its names become known one after the other."""
    for index, setting, what in question_faults(stage.items, order=stage.order, may_end=not names.games):
        yield (*at, "items", index, setting), what
    together = {item.name for item in stage.items} if stage.order == "random" else set()
    earlier: set[str] = set()
    values = set(names.values)
    for index, item in enumerate(stage.items):
        for setting, condition in item.conditions().items():
            own = {item.name} if setting != "show_if" else set()
            known = _Names(frozenset(values - together | own), names.games)
            for reference in condition.references():
                if not known.knows(reference):
                    what = _("“{name}” is not known at this point of the journey.")
                    yield (*at, "items", index, setting), what.format(name=".".join(reference))
        if item.show_if and _compares_hidden(Condition.parse(item.show_if).tree, earlier):
            what = _(
                "This compares an answer on the page with something that participants may not see. Ask the question on "
                "a later page."
            )
            yield (*at, "items", index, "show_if"), what
        values.add(item.name)
        earlier.add(item.name)


def _compares_hidden(tree: Any, on_page: set[str]) -> bool:
    """Return whether a condition computes with an answer on its page and something else at once.

    The page's script would have to know both. Parts joined by `and` and `or` are judged apart.
    """
    kind, *operands = tree
    if kind in ("value", "name"):
        return False
    if kind in ("and", "or", "not"):
        return any(_compares_hidden(operand, on_page) for operand in operands)
    names = {path[0] for path in Condition(tree).references()}
    return bool(names & on_page) and bool(names - on_page)


def _order_problems(plan: Plan) -> Iterator[Problem]:
    consents = [i for i, stage in enumerate(plan.journey) if isinstance(stage, Consent)]
    if consents != [0] or sum(isinstance(stage, Consent) for stage in plan.stages()) != 1:
        yield ("journey",), _("A journey begins with its consent page, and has only one.")
    debriefings = [i for i, stage in enumerate(plan.journey) if isinstance(stage, Debriefing)]
    if sum(isinstance(stage, Debriefing) for stage in plan.stages()) > 1 or (
        debriefings and debriefings[0] != len(plan.journey) - 1
    ):
        yield ("journey",), _("The debriefing is the last stage, and there is only one.")
    if not plan.games():
        yield ("journey",), _("A journey needs at least one game.")
    elif not matches_of(plan.journey, games=True) and plan.pay.bonus.average:
        yield ("pay", "bonus", "average"), _("A chat pays no bonus, and there is no game. Set the average to 0.")


def _agent_problems(plan: Plan | CollectionPlan) -> list[Problem]:
    problems: list[Problem] = []
    for label, agent in plan.agents.items():
        if problem := label_problem(label):
            problems.append((("agents", label), problem))
        if getattr(plan, "language", SOURCE) != SOURCE and agent.information == "published":
            what = _("The published prompts are in English only. Choose “explained”, or English.")
            problems.append((("agents", label, "information"), what))
        at: Path = ("agents", label, "fallback")
        for number, other in enumerate(agent.fallbacks, start=1):
            if other == label or other not in plan.agents:
                problems.append((at, _no_agent(other, plan)))
            elif plan.agents[other].script is not None and number < len(agent.fallbacks):
                what = _("“{label}” is a script, which never fails. Put it last.")
                problems.append((at, what.format(label=other)))
    return problems


def _no_agent(label: str, plan: Plan | CollectionPlan) -> str:
    return _("There is no agent “{label}”. Describe it among the plan's agents ({labels}).").format(
        label=label, labels=", ".join(plan.agents) or _("none")
    )


def _stage_problems(stage: Stage, at: Path, plan: Plan, variables: Mapping[str, str]) -> Iterator[Problem]:
    """Yield what is wrong with one stage on its own."""
    if isinstance(stage, Game):
        yield from _game_problems(stage, at, plan, variables)
        return
    for name, info in type(stage).model_fields.items():
        hints = info.json_schema_extra
        if name == "title" or (isinstance(hints, dict) and hints.get("text")):
            yield from _text_problems(getattr(stage, name), (*at, name), variables)
    for index, item in enumerate(stage.items if isinstance(stage, Questions) else ()):
        for name in ("text", "help"):
            yield from _text_problems(getattr(item, name), (*at, "items", index, name), variables)


def _text_problems(text: str, at: Path, variables: Mapping[str, str]) -> Iterator[Problem]:
    if "{" not in text:
        return
    try:
        texts.check(text, variables)
    except BadText as error:
        yield at, str(error)


def _game_problems(stage: Game, at: Path, plan: Plan, variables: Mapping[str, str]) -> Iterator[Problem]:
    kind, game, problems = _configured(stage, at, amounts=stage.amounts)
    yield from problems
    if game is None:
        return
    try:
        seats = fitted(stage.seats, game)
    except GameError as error:
        yield (*at, "seats"), str(error)
        return
    people = [role for role, player in seats.items() if player == PERSON]
    lacked = texts.lacks(kind.key, str(plan.language))
    if lacked and not (lacked.endswith(".md") and stage.instructions != DEFAULT_TEXT):
        what = _("{game} has no texts in {language}: “{file}” is missing.")
        yield (*at, "game"), what.format(game=kind.title, language=in_english(str(plan.language)), file=lacked)
    for role, player in seats.items():
        seat = role if role in stage.seats else OTHERS
        for label in [player] if isinstance(player, str) else player:
            if label != PERSON:
                yield from _player_problems(label, (*at, "seats", seat), plan, kind, game)
    takes_over = "agent" in (stage.timing.on_timeout, stage.timing.on_absence)
    yield from _helper_problems(stage.timing.stand_in, takes_over, (*at, "timing", "stand_in"), plan, kind, game)
    yield from _filling_problems(stage.lobby, (*at, "lobby"), plan, kind, game, people)
    yield from _chat_problems(stage, (*at, "chat"), plan, game)
    for setting in ("instructions", "examples"):
        yield from _template_problems(getattr(stage, setting), (*at, setting), game, people, variables)
    if stage.quiz and not any(game.quiz(role) for role in people):
        words = _("{game} was published without a quiz after it. Ask comprehension questions before play.")
        yield (*at, "quiz"), words.format(game=kind.title)
    if stage.comprehension is not None and not isinstance(stage.comprehension.questions, str):
        if not stage.comprehension.questions:
            yield (*at, "comprehension", "questions"), _("Add at least one question, or choose the game's own.")
        for index, question in enumerate(stage.comprehension.questions):
            if question.answer not in question.options:
                yield (*at, "comprehension", "questions", index, "answer"), _("The right answer is not an option.")


def _helper_problems(label: str | None, needed: bool, at: Path, plan: Plan, kind: Any, game: Any) -> Iterator[Problem]:
    """Yield what is wrong with the agent that takes participants' seats; None if none is chosen."""
    if label is not None:
        yield from _player_problems(label, at, plan, kind, game)
    elif needed:
        yield at, _("Choose the agent that takes over participants' seats.")


def _filling_problems(
    lobby: Lobby, at: Path, plan: Plan, kind: Any, game: Any, people: Sequence[Role]
) -> Iterator[Problem]:
    fills = lobby.otherwise == "agents" and len(people) > 1
    yield from _helper_problems(lobby.fill, fills, (*at, "fill"), plan, kind, game)


def _chat_problems(stage: Game | AgentsGame, at: Path, plan: Plan | CollectionPlan, game: Any) -> Iterator[Problem]:
    """Yield what is wrong with a game's chat: unknown seats, nobody to talk to, or a mediator that is no model."""
    if (chat := stage.chat) is None:
        return
    mediator = chat.mediator.agent if chat.mediator else None
    seated = set(stage.agent_labels()) - {mediator} if isinstance(stage, Game) else set()
    known = ", ".join(game.roles())
    for index, circle in enumerate(chat.between):
        for role in circle:
            if role not in game.roles():
                what = _("There is no seat “{role}”. The seats are {known}.")
                yield (*at, "between", index), what.format(role=role, known=known)
    if len(game.roles()) < 2 and chat.mediator is None:
        yield at, _("Nobody else could read the chat: this game has one seat. Add a mediator.")
    if chat.early and chat.when == "during":
        yield (*at, "early"), _("Only a chat before play can end early.")
    elif chat.early and isinstance(plan, Plan) and plan.told.others == "none" and seated:
        words = _("Agents are always ready, so in a blind study a chat that ends at once would show who they are.")
        yield (*at, "early"), words
    if chat.mediator is not None:
        agent = plan.agents.get(chat.mediator.agent or "")
        if chat.mediator.agent is not None and agent is None:
            yield (*at, "mediator", "agent"), _no_agent(chat.mediator.agent, plan)
        elif agent is None or agent.script is not None:
            yield (*at, "mediator", "agent"), _("Choose a model for the mediator. Scripts do not write.")


def _groups_problems(block: Block, at: Path, plan: Plan) -> Iterator[Problem]:
    """Yield what is wrong with the lobby of groups that stay together through a block."""
    if block.groups is None:
        return
    where = (*at, "groups", "lobby")
    for stage in (met.stage for met in walk([block]) if isinstance(met.stage, Game)):
        kind, game, _problems = _configured(stage, at, amounts=stage.amounts)  # reported at the game
        with suppress(GameError):
            seats = fitted(stage.seats, game) if game is not None else {}
            people = [role for role, player in seats.items() if player == PERSON]
            yield from _filling_problems(block.groups.lobby, where, plan, kind, game, people) if people else ()


def _configured(stage: Game | AgentsGame, at: Path, **own: Any) -> tuple[Any, Any, list[Problem]]:
    """Return the kind of game, the game with its parameters, and why there is none."""
    if stage.game not in registry.known():
        what = _("There is no game “{game}”. The games are {games}.")
        return None, None, [((*at, "game"), what.format(game=stage.game, games=", ".join(registry.keys())))]
    kind = registry.get(stage.game)
    try:
        return kind, games.play.configure(kind, stage.config, **own), []
    except GameError as error:
        return kind, None, list(_config_problems(kind, stage, at, str(error)))


def _config_problems(kind: Any, stage: Game | AgentsGame, at: Path, reason: str) -> Iterator[Problem]:
    """Yield the faults of a game's parameters, each at its place; `reason` is why they are refused as a whole."""
    found = games.play.config_faults(kind, stage.config)
    for path, sentence in found:
        name = path[0] if path else ""
        if path and name not in kind.Config.model_fields:
            what = _("{game} has no parameter “{key}”; it has {names}.")
            sentence = what.format(game=kind.key, key=name, names=", ".join(kind.Config.model_fields))
        yield (*at, "config", *location(path, stage.config)), sentence
    if not found:
        yield (*at, "config"), reason


def _player_problems(label: str, at: Path, plan: Plan | CollectionPlan, kind: Any, game: Any) -> Iterator[Problem]:
    """Yield why an agent cannot sit in this game."""
    agent = plan.agents.get(label)
    if agent is None:
        yield at, _no_agent(label, plan)
        return
    scripts = [agent.script, *(plan.agents[other].script for other in agent.fallbacks if other in plan.agents)]
    for script in scripts:
        if script is not None and script not in kind.scripts:
            what = _("Agent “{label}”: {game} has no script “{script}”; it has {scripts}.")
            yield at, what.format(label=label, game=kind.key, script=script, scripts=", ".join(kind.scripts))
    if agent.script is None:
        for setting, what in _asking_faults(agent, game):
            title = PlannedAgent.model_fields[setting].title if setting in PlannedAgent.model_fields else setting
            words = _("Agent “{label}”: {setting}: {what}")
            yield at, words.format(label=label, setting=title, what=what)


def _asking_faults(agent: PlannedAgent, game: Any) -> Iterator[tuple[str, str]]:
    settings = AgentSettings.model_validate_json(
        agent.model_dump_json(include=set(AgentSettings.model_fields) - {"script"})
    )
    try:
        strategy_named(agent.strategy, game)
    except AgentError as error:
        yield "strategy", str(error)
        return
    yield from settings.check(game).items()


def _template_problems(
    template: str, at: Path, game: Any, people: Sequence[Role], variables: Mapping[str, str]
) -> Iterator[Problem]:
    if template in ("", DEFAULT_TEXT):
        return
    for role in people:
        try:
            texts.check(template, {**variables, **game.template_variables(role)})
        except BadText as error:
            yield at, str(error)
            return


# ---- collections -------------------------------------------------------------------------------------------------


GAME: Path = ("journey", 0)
"""A collection's only stage."""


def _check_collection(document: Document) -> Checked:
    """Read and check a collection's plan in every configuration. Agents with endpoints are checked for form only."""
    try:
        reader = CollectionReader(document)
    except BadPlan as error:
        return Checked(faults=error.faults)
    faults, plans, played = _Faults(), list[CollectionPlan](), list[AnyGame[Any, Any]]()
    for cell in reader.cells:
        try:
            plan = reader.collection(cell.factors)
            if not plan.journey:
                raise BadPlan([Fault("journey", _("A collection's journey is one game."))])
        except BadPlan as error:
            faults.add(error.faults)
        else:
            game, problems = _collection_problems(plan, cell.factors)
            faults.add([reader.fault(path, what, cell.factors) for path, what in problems])
            plans.append(plan)
            played.append(game)
        if len(faults.found) >= MAX_FAULTS:
            break
    if faults.found:
        return Checked(reader.cells, None, list(faults.found.values())[:MAX_FAULTS])
    try:
        total = schedule_of(plans, played).total
        if total > MAX_MATCHES:
            what = _("This plan has {matches} matches; the maximum is {most}.")
            raise BadPlan([Fault("", what.format(matches=f"{total:,}", most=f"{MAX_MATCHES:,}"))])
    except BadPlan as error:
        return Checked(reader.cells, None, error.faults)
    except GameError as error:
        return Checked(reader.cells, None, [Fault("journey.0.seats", str(error))])
    return Checked(reader.cells, total)


def _collection_problems(plan: CollectionPlan, levels: Levels) -> tuple[Any, list[Problem]]:
    """Return the configured game, if its parameters are valid, and what does not fit together."""
    stage = plan.game
    problems: list[Problem] = [(("title",), _("Please give the collection a title."))] if not plan.title.strip() else []
    problems += _agent_problems(plan)
    kind, game, found = _configured(stage, GAME)
    if game is None:
        return None, [*problems, *found]
    if plan.stages > 1 and kind.stage_configurations.__func__ is AnyGame.stage_configurations.__func__:  # type: ignore[attr-defined]
        problems.append((("stages",), _("This game makes no configurations from earlier results. Use 1.")))
    for label in plan.lineups.labels():
        problems += _player_problems(label, (*GAME, "seats"), plan, kind, game)
    problems += _template_problems(stage.instructions, (*GAME, "instructions"), game, game.roles(), levels)
    problems += _chat_problems(stage, (*GAME, "chat"), plan, game)
    models = [label for label in plan.lineups.labels() if label in plan.agents and plan.agents[label].model]
    if stage.chat is not None and stage.chat.mediator is None and not models:
        problems.append(((*GAME, "chat"), _("Nobody would write: no model plays. Scripts and programs do not write.")))
    try:
        plan.lineups.count(game.roles())
    except GameError as error:
        problems.append(((*GAME, "seats"), str(error)))
    return game, problems
