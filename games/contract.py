"""The contract: checks that every game must pass, whatever its rules.

`games/tests/test_contract.py` runs them on every game; so does `python -m games.contract`, which also reports
what a game's folder lacks. `games/examples.py` chooses the matches that are checked.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from random import Random
from traceback import extract_tb
from typing import Any

from pydantic import BaseModel

from games import pictures, registry
from games.errors import BadConfig, GameError, Refused
from games.examples import (
    Case,
    ContractBroken,
    cases,
    config_value,
    each_once,
    play_random,
    require,
    script_answer,
)
from games.interface import (
    OBSERVER,
    Block,
    Chart,
    Event,
    Fact,
    Facts,
    Json,
    Move,
    MoveData,
    Question,
    Role,
    Said,
    Table,
    Talk,
    Text,
    View,
)
from games.play import (
    Play,
    applied_moves,
    check,
    configure,
    form_for,
    learnt,
    replay_events,
    replay_moves,
    restore,
    snapshot,
    start,
    submit,
    use_tool,
)
from games.results import Row

ROUNDING = 1e-6
"""By how much a result may be beyond its range."""
MAX_QUESTIONS = 4
"""Questions before play: more take participants' time and keep them from the game."""
MAX_SNAPSHOT_BYTES = 500_000
"""Limit in bytes for a saved play: every move writes one, so it must not grow without bound."""

# ---- the checks --------------------------------------------------------------------------------

Check = Callable[[Case], None]
CHECKS: dict[str, Check] = {}


def _in_contract(check: Check) -> Check:
    CHECKS[check.__name__] = check
    return check


@_in_contract
def identity_is_complete(case: Case) -> None:
    """A game has a key, a title, a summary, a version and a script called "random"."""
    game = case.game
    require(game.key and game.title and game.summary, "key, title and summary must not be empty")
    require(isinstance(game.rules_version, int) and game.rules_version >= 1, "rules_version must be 1 or more")
    require("random" in game.scripts, "there must be a script called random")


@_in_contract
def picture_fits_every_page(case: Case) -> None:
    """The picture is small, scales, follows the theme, and contains no text, script or reference."""
    for problem in pictures.problems(pictures.picture(case.game.key)):
        raise ContractBroken(problem)


@_in_contract
def configuration_is_plain_data(case: Case) -> None:
    """A configuration survives JSON; defaults are valid; unknown keys are refused."""
    kind, config = type(case.game), case.game.config
    reread = configure(kind, json.loads(json.dumps(config.model_dump(mode="json"), allow_nan=False)))
    require(reread.config == config, "the configuration changes when it is converted to JSON and back")
    configure(kind, {})
    json.dumps(kind.Config.model_json_schema())
    try:
        configure(kind, {"no_such_key": 1})
    except BadConfig:
        return
    raise ContractBroken("a configuration with an unknown key was accepted")


@_in_contract
def roles_are_stable(case: Case) -> None:
    """Roles never change, are unique and have titles."""
    game, roles = case.game, case.game.roles()
    require(roles and len(set(roles)) == len(roles), f"roles must be unique: {roles}")
    require(set(game.people()) <= set(roles), "people() must be some of the roles")
    require(all(game.role_title(role) for role in roles), "every role needs a title")
    require(all(isinstance(game.kind(role), str) and game.kind(role) for role in roles), "every role needs a kind")
    for moment in case.walk().selected_moments():
        turn = moment.before.turn
        require(turn is not None and turn.forms, "a turn must ask at least one role for a move")
        require(turn is not None and set(turn.forms) <= set(roles), "a turn names an unknown role")
    require(game.roles() == roles, "roles() changed during a match")


@_in_contract
def same_seed_same_log(case: Case) -> None:
    """The same seed and scripts produce byte-identical events."""
    repeated = play_random(case.game, case.seed, sorted(case.game.scripts))
    require(_bytes(repeated.events) == _bytes(case.walk().events), "two matches of the same seed and scripts differ")


@_in_contract
def scripts_play_legally_to_the_end(case: Case) -> None:
    """A match of each script against itself ends, with a finite payoff for every role."""
    for end in [case.walk().end, *(_end(case, script) for script in sorted(case.game.scripts))]:
        payoffs = end.payoffs()
        require(set(payoffs) == set(case.game.roles()), "payoffs() must include every role")
        for role, payoff in payoffs.items():
            require(_finite(payoff), f"the payoff of {role} is {payoff!r}")


@_in_contract
def results_are_described(case: Case) -> None:
    """Every field of the results' types holds one kind of flat value, and has a meaning and, if measured, a unit."""
    game = case.game
    for row_type in (game.Results, game.SeatResults, game.Record):
        for name, (info, kinds) in _columns(row_type).items():
            field = f"{row_type.__qualname__}.{name}"
            flat = len(kinds) == 1 and kinds[0]["type"] in ("number", "integer", "boolean", "string")
            require(flat, f"{field} must hold one kind of flat value")
            require(info.get("description"), f"{field} has no meaning: use column()")
            require(kinds[0]["type"] != "number" or kinds[0].get("unit"), f"{field} has no unit: use a type like Share")
    of_seats = {f"{role}_{name}" for role in game.roles() for name in game.SeatResults.model_fields}
    repeated = of_seats & game.Results.model_fields.keys()
    require(not repeated, f"seat_metrics repeats names of metrics: {repeated}")


@_in_contract
def results_fit_their_types(case: Case) -> None:
    """Results are of the game's types; numbers are finite and within the ranges that these state."""
    game = case.game
    for state in [case.walk().end.state, *(_end(case, script).state for script in sorted(game.scripts))]:
        rows = [(row, game.Record) for row in game.records(state)]
        rows += [(game.seat_metrics(state, role), game.SeatResults) for role in game.roles()]
        for row, row_type in [(game.metrics(state), game.Results), *rows]:
            require(type(row) is row_type, f"{row!r} is not of the type {row_type.__qualname__}")
            for name, (_info, kinds) in _columns(row_type).items():
                value, low, high = getattr(row, name), kinds[0].get("minimum"), kinds[0].get("maximum")
                if isinstance(value, float):
                    fits = (low is None or value >= low - ROUNDING) and (high is None or value <= high + ROUNDING)
                    require(fits and math.isfinite(value), f"{row_type.__qualname__}.{name} is out of range: {value}")


@cache
def _columns(row_type: type[Row]) -> dict[str, tuple[Mapping[str, Any], list[Mapping[str, Any]]]]:
    """Return each field's JSON schema, and those of its kinds of value other than null."""
    schemas = _schema(row_type)["properties"]
    return {
        name: (schema, [kind for kind in schema.get("anyOf", [schema]) if kind["type"] != "null"])
        for name, schema in schemas.items()
    }


@_in_contract
def bonus_share_is_within_bounds(case: Case) -> None:
    """Bonus shares are from 0 to 1, whatever the payoff."""
    end = case.walk().end
    for role in case.game.roles():
        share = case.game.pay_share(end.state, role)
        require(_finite(share) and 0 <= share <= 1, f"pay_share of {role} is {share!r}")
    for role, payoff in end.payoffs().items():
        for value in (payoff, 0.0, -1e12, 1e12):
            share = case.game.bonus_share(role, float(value or 0))
            wrong = f"bonus_share of {value} for {role} is {share!r}, not from 0 to 1"
            require(_finite(share) and 0 <= share <= 1, wrong)


@_in_contract
def share_played_grows_from_0_to_1(case: Case) -> None:
    """The share of the match that has been played is 0 at the start, never falls, and is 1 when the match is over."""
    for walk in [
        case.walk(),
        *(play_random(case.game, case.seed, [script]) for script in sorted(case.game.scripts)),
    ]:
        plays = walk.plays()
        shares = [case.game.share_played(play.state) for play in plays]
        require(plays[0].over or shares[0] == 0, f"share_played is {shares[0]!r} at the start")
        require(shares == sorted(shares), f"share_played falls: {shares}")
        require(shares[-1] == 1, f"share_played is {shares[-1]!r} at the end")
        require(all(0 <= share <= 1 for share in shares), f"share_played leaves [0, 1]: {shares}")


@_in_contract
def log_replays(case: Case) -> None:
    """Replaying the log, or only its moves, gives the same state, payoffs and metrics."""
    walk = case.walk()
    log = [_event(json.loads(json.dumps(event.as_dict(), allow_nan=False))) for event in walk.events]
    moves = [(moment.role, moment.move) for moment in walk.moments]
    for replayed in (replay_events(case.game, log), replay_moves(case.game, case.seed, moves)[0]):
        require(replayed.state == walk.end.state, "a replay ends in a different state")
        require(replayed.payoffs() == walk.end.payoffs(), "a replay gives different payoffs")
        require(replayed.metrics() == walk.end.metrics(), "a replay gives different metrics")


@_in_contract
def events_are_numbered(case: Case) -> None:
    """Events are numbered 1, 2, 3…, from "start" to "end"."""
    events = case.walk().events
    require([event.number for event in events] == list(range(1, len(events) + 1)), "event numbers have gaps")
    require((events[0].kind, events[-1].kind) == ("start", "end"), "a log must go from start to end")


@_in_contract
def snapshots_change_nothing(case: Case) -> None:
    """A play saved as JSON and restored is the same play and continues the same way."""
    for moment in case.walk().selected_moments():
        text = json.dumps(snapshot(moment.before), allow_nan=False)
        require(len(text) <= MAX_SNAPSHOT_BYTES, f"a saved play has {len(text)} bytes: keep less in the state")
        saved = json.loads(text)
        restored = restore(case.game, saved)
        require(restored.state == moment.before.state, "a restored state differs (are its fields typed?)")
        require(_shown_to_all(restored) == _shown_to_all(moment.before), "a restored play shows something different")
        after, events = submit(restored, moment.role, moment.move)
        require(after.state == moment.after.state, "a restored play continues differently")
        require(events[0].number == moment.before.last + 1, "a restored play numbers its events differently")


@_in_contract
def defaults_are_legal(case: Case) -> None:
    """`default` is always a legal move that ends the turn; so is `forfeit`, if the game has one."""
    for moment in case.walk().selected_moments():
        for role in moment.before.waiting_for():
            state = moment.before.state
            for name, move in (
                ("default", case.game.default(state, role)),
                ("forfeit", case.game.forfeit(state, role)),
            ):
                if name == "forfeit" and move is None:
                    continue
                try:
                    form, _checked = check(moment.before, role, move)
                    submit(moment.before, role, move or {}, by="rules")
                except Refused as refusal:
                    raise ContractBroken(f"{name} of {role} is not legal: {move}: {refusal}") from None
                require(form.ends_turn, f"{name} of {role} leaves the turn open: {move}")


@_in_contract
def warnings_change_nothing(case: Case) -> None:
    """`warning` has a text and changes nothing, and a page never refuses the default move."""
    for moment in case.walk().selected_moments():
        before = moment.before
        for role in before.waiting_for():
            own_moves = [moment.move] if role == moment.role else []
            for move in (case.game.default(before.state, role), *own_moves):
                state = repr(before.state)
                warning = case.game.warning(before.state, role, check(before, role, move)[1])
                require(all(one.what for one in case.game.usual(before.state, role).values()), "usual without a name")
                require(warning is None or warning.words, "a warning must give its reason")
                require(repr(before.state) == state, "warning changed the state")
                is_default = move is not moment.move
                require(warning is None or warning.may_send or not is_default, f"a page refuses the default of {role}")


@_in_contract
def turns_do_not_stay_open(case: Case) -> None:
    """No turn stays open forever: after `open_moves` moves that leave it open, the next one is refused."""
    limit = case.game.open_moves
    require(isinstance(limit, int) and limit >= 1, "open_moves must be 1 or more")
    for moment in case.walk().moments:
        if form_for(moment.before.forms(moment.role), moment.move).ends_turn:
            continue
        full = replace(moment.before, kept_open={moment.role: limit})
        _refuses(full, moment.role, moment.move)
        return


@_in_contract
def refusals_change_nothing(case: Case) -> None:
    """Moves out of turn, after the end or of the wrong shape are refused and change nothing."""
    walk = case.walk()
    for moment in walk.selected_moments():
        play = moment.before
        for role in play.waiting_for():
            legal_moves = [case.game.default(play.state, role), *([moment.move] if role == moment.role else [])]
            for move in legal_moves:
                for invalid_move in _misshapen(play, role, move):
                    _refuses(play, role, invalid_move)
        for role in set(case.game.roles()) - set(play.waiting_for()):
            _refuses(play, role, moment.move)
        _refuses(play, "no such role", moment.move)
    if walk.moments:
        _refuses(walk.end, walk.moments[-1].role, walk.moments[-1].move)


def _misshapen(play: Play, role: Role, move: MoveData) -> Iterator[Any]:
    yield from (None, True, 3, "accept", [], [dict(move)])
    yield {**move, "no_such_key": 1}
    forms = play.forms(role)
    if all(_required(form.model) for form in forms):
        yield {}
    if len(forms) == 1:
        for key in _required(forms[0].model) & move.keys():
            yield {name: value for name, value in move.items() if name != key}
    for invalid in (math.nan, math.inf, -math.inf, True):
        yield from _with_numbers_replaced(move, invalid)


def _with_numbers_replaced(value: Json, invalid: Json) -> Iterator[Json]:
    """Yield copies of `value`, each with one of its numbers replaced."""
    if isinstance(value, bool):
        return
    if isinstance(value, int | float):
        yield invalid
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from ({**value, key: changed} for changed in _with_numbers_replaced(item, invalid))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for index, item in enumerate(value):
            yield from (
                [*value[:index], changed, *value[index + 1 :]] for changed in _with_numbers_replaced(item, invalid)
            )


def _refuses(play: Play, role: Role, move: Any) -> None:
    before = _bytes(snapshot(play))
    try:
        submit(play, role, move)
    except Refused as refusal:
        require(str(refusal), "a refusal must say why")
        require(_bytes(snapshot(play)) == before, f"a refused move changed the play: {move!r}")
        return
    raise ContractBroken(f"{role}'s move should have been refused: {move!r}")


@_in_contract
def forms_can_be_told_apart(case: Case) -> None:
    """Forms open at the same time have unique names and share no required key."""
    for play in case.walk().plays():
        for role in play.waiting_for():
            forms = play.forms(role)
            require(len({form.name for form in forms}) == len(forms) > 0, f"forms of {role} share a name")
            required = [key for form in forms for key in _required(form.model)]
            require(len(set(required)) == len(required), f"forms of {role} share required keys: {required}")
            always_shown = [form for form in forms if form.ends_turn and not form.on_request]
            require(always_shown, f"{role} has no form that ends its turn and is always shown")
            for form in forms:
                require(form.title, "a form needs a title")
                require(issubclass(form.model, Move), f"{form.model.__name__} is not a Move")
                require(form.model.model_config.get("extra") == "forbid", f"{form.model.__name__} accepts unknown keys")
                json.dumps(_schema(form.model))


@_in_contract
def moves_are_declared(case: Case) -> None:
    """Every form has the fields of one of the game's `move_types`, of the same kinds."""
    declared = [_fields_of(model) for model in case.game.move_types]
    for play in case.walk().plays():
        for role in play.waiting_for():
            for form in play.forms(role):
                require(_fields_of(form.model) in declared, f"move_types lacks the form {form.name}, or its fields")


def _fields_of(model: type[Move]) -> dict[str, Json]:
    """Return the types of a model's fields, and whether they are choices."""
    properties = _schema(model)["properties"].items()
    return {
        name: [(option.get("type"), "enum" in option or "const" in option) for option in schema.get("anyOf", [schema])]
        for name, schema in properties
    }


@_in_contract
def views_can_be_rendered(case: Case) -> None:
    """Blocks are of the known types, well formed and have unique keys."""
    for play in case.walk().plays():
        for role in case.game.roles():
            _renderable(play.view(role), f"the view of {role}")
    for moment in case.walk().selected_moments():
        for role in case.game.roles():
            _renderable(learnt(moment.before, moment.role, moment.move, moment.after, role), f"a notice to {role}")


def _renderable(view: View, view_name: str) -> None:
    keys = [block.key for block in view]
    require(len(set(keys)) == len(keys), f"{view_name} has two blocks with the same key: {keys}")
    for block in view:
        require(_well_formed(block), f"{view_name} has a block that cannot be rendered: {block!r}")


def _well_formed(block: Block) -> bool:
    match block:
        case Text():
            return isinstance(block.body, str)
        case Facts():
            return all(
                isinstance(fact, Fact) and isinstance(fact.shown, str) and _cell(fact.value) for fact in block.facts
            )
        case Table():
            rows = block.rows
            return all(len(row) == len(block.columns) and all(map(_cell, row)) for row in rows)
        case Talk():
            return all(isinstance(line, Said) and _cell(line) for line in block.lines)
        case Chart():
            points = [series.points for series in block.series]
            ordered = all([x for x, _y in line] == sorted(x for x, _y in line) for line in points)
            return ordered and all(_finite(x) and _finite(y) for line in points for x, y in line)
    return False


def _cell(cell: Any) -> bool:
    if isinstance(cell, Said):
        return isinstance(cell.speaker, str) and isinstance(cell.words, str)
    return cell is None or isinstance(cell, str | bool) or _finite(cell)


@_in_contract
def results_are_pictures(case: Case) -> None:
    """A picture of the result has labelled bars, each with a text and, where the value is known, a finite length."""
    game, play = case.game, case.walk().end
    for role in game.people():
        picture = game.result_bars(play.state, role)
        if picture is None:
            continue
        require(picture.title and picture.bars, f"the picture for {role} is empty")
        for bar in picture.bars:
            require(bar.label and bar.shown, f"a bar has no text: {bar}")
            require(bar.role in ("", *game.roles()), f"there is no such seat: {bar}")
            require(bar.end is None or (_finite(bar.start) and _finite(bar.end)), f"a bar is not finite: {bar}")
        require({mover for mover, _words in picture.moves} <= set(game.roles()), f"there is no such seat: {picture}")


@_in_contract
def notices_report_others_moves(case: Case) -> None:
    """A role gets a notice when others' moves change its view; otherwise a model's conversation would miss it."""
    for moment in case.walk().selected_moments():
        if moment.after.step == moment.before.step:
            continue
        movers = {*moment.before.sealed, moment.role}
        for role in case.game.roles():
            if not case.game.remembers(role) or movers == {role}:
                continue
            if moment.before.view(role) != moment.after.view(role):
                notices = learnt(moment.before, moment.role, moment.move, moment.after, role)
                require(notices, f"the view of {role} changed after {moment.role}'s move, but {role} got no notice")


@_in_contract
def texts_are_complete(case: Case) -> None:
    """Every role has instructions; questions have their answer among the options; the default script exists."""
    require(
        case.game.default_script in case.game.scripts,
        f"there is no scripted player “{case.game.default_script}” to play with",
    )
    require(
        case.game.default_script not in case.game.oracles,
        f"“{case.game.default_script}” knows hidden information, but people play against it",
    )
    require(case.game.oracles <= set(case.game.scripts), "oracles names an unknown script")
    for role in case.game.roles():
        require(case.game.instructions(role).strip(), f"there are no instructions for {role}")
        questions = case.game.comprehension(role)
        require(len(questions) <= MAX_QUESTIONS, f"{role} is asked more than {MAX_QUESTIONS} questions before play")
        require(len({q.key for q in questions}) == len(questions), f"two questions of {role} share a key")
        for question in (*questions, *case.game.quiz(role)):
            require(isinstance(question, Question) and question.prompt, "a question needs a prompt")
            require(question.explanation, f"the question {question.key} needs an explanation of its answer")
            require(len(set(question.options)) == len(question.options) > 1, f"options repeat: {question.options}")
            require(question.answer in question.options, f"the answer is not among the options: {question}")


@_in_contract
def tools_only_read(case: Case) -> None:
    """Tools return plain data, change nothing and refuse invalid arguments."""
    for play in case.walk().plays():
        for role in case.game.roles():
            before = _bytes(snapshot(play))
            for tool in case.game.tools(play.state, role):
                require(issubclass(tool.arguments, Move) and tool.help, f"tool {tool.name} needs help and arguments")
                if not _required(tool.arguments):
                    json.dumps(use_tool(play, role, tool.name, {}), allow_nan=False, default=_words_of)
                try:
                    use_tool(play, role, tool.name, {"no_such_key": 1})
                except Refused:
                    pass
                else:
                    raise ContractBroken(f"tool {tool.name} accepts unknown arguments")
            require(_bytes(snapshot(play)) == before, "a tool changed the play")


def _words_of(value: object) -> str:
    if not isinstance(value, Said):
        raise ContractBroken(f"a tool returned something other than plain data: {value!r}")
    return value.words


# ---- hidden information --------------------------------------------------------------------------


def seen(play: Play, role: Role, *, without: Collection[str] = ()) -> str:
    """Return everything that a role can be shown at this moment, on any page or in any prompt.

    Args:
        without: keys of view blocks to leave out.
    """
    return "\n".join(_seen_as_told(told, role, without) for told in _tellings(play))


def _tellings(play: Play) -> list[Play]:
    """Return the play as it is told with each kind of information that the game has."""
    return [play.informed("explained"), *([play.informed("published")] if play.game.is_published() else [])]


def _seen_as_told(play: Play, role: Role, without: Collection[str]) -> str:
    game = play.game
    tools = game.tools(play.state, role)
    return repr(
        (
            [block for block in (*play.view(role), *game.public_view(play.state)) if block.key not in without],
            [block for block in game.before_lookups(play.state, role) if block.key not in without],
            [(form.name, form.title, form.help, form.ends_turn, _schema(form.model)) for form in play.forms(role)],
            [(tool.name, tool.help, _schema(tool.arguments)) for tool in tools],
            [use_tool(play, role, tool.name, {}) for tool in tools if not _required(tool.arguments)],
            [game.role_title(other) for other in game.roles()],
            dict(game.text_variables(role)),
            game.instructions(role),
            game.comprehension(role),
            game.quiz(role),
            game.prospects(play.state, role),
            game.pay_examples(role),
            [game.result_bars(play.state, reader) for reader in (role, OBSERVER)] if play.finished else None,
        )
    )


@lru_cache(maxsize=1024)  # some games make a model for every turn
def _schema(model: type[BaseModel]) -> Mapping[str, Any]:
    return model.model_json_schema()


@_in_contract
def sealed_moves_stay_sealed(case: Case) -> None:
    """Others' moves in an open turn change neither a role's view nor the turn that its move answers."""
    for play in case.walk().plays():
        for mover in play.waiting_for():
            if len(play.waiting_for()) < 2 or play.turn is None or play.turn.closes == "first":
                continue
            move = case.game.default(play.state, mover)
            if not form_for(play.forms(mover), move).ends_turn:
                continue
            sealed, _events = submit(play, mover, move)
            for role in set(play.waiting_for()) - {mover}:
                require(seen(sealed, role) == seen(play, role), f"{role} sees something of {mover}'s sealed move")
                require(sealed.opened[role] == play.opened[role], f"{mover}'s sealed move reopened {role}'s turn")


@_in_contract
def secret_parameters_stay_secret(case: Case) -> None:
    """Config keys in `secrets(role)` change nothing that the role sees or that scripts do in that role."""
    for role in case.game.roles():
        for key in sorted(case.game.secrets(role)):
            alternatives = case.alternatives(key)
            require(alternatives, f"no other valid value of {key} found: add some to Examples.alternatives")
            for alternative in alternatives:
                shadow, _events = start(alternative, case.seed)
                secret, revealing = f"{key} = {config_value(alternative, key)!r}", case.examples.reveals_secrets
                _alike(case, role, case.walk().opening, shadow, secret, revealing=revealing)


@_in_contract
def paired_configurations_look_alike(case: Case) -> None:
    """A role cannot tell the configurations of `Examples.pairs` apart until a step reveals the difference."""
    if case.config:
        return
    kind = type(case.game)
    for pair in case.examples.pairs:
        for seed in range(case.seed, case.seed + 3):
            true, shadow = (start(configure(kind, config), seed)[0] for config in (pair.one, pair.other))
            _alike(case, pair.role, true, shadow, f"{dict(pair.one)} and not {dict(pair.other)}", revealing=True)


@_in_contract
def hidden_draws_stay_hidden(case: Case) -> None:
    """Draws unknown to a role change nothing that it sees or that scripts do in that role."""
    walk, rng = case.walk(), Random(f"forks/{case.seed}")
    if all(event.data.get("known_to") is None for event in walk.events):
        return
    advice = "" if case.examples.reveals else "; if steps may reveal them, say which: Examples.reveals in examples.py"
    for role in case.game.roles():
        for seed in range(case.seed, case.seed + 3):
            true, shadow = (start(case.game, seed, redraw_unknown_to=unknown_to)[0] for unknown_to in (None, role))
            _alike(case, role, true, shadow, f"draws unknown to it with seed {seed}{advice}", revealing=True)
        for moment in rng.sample(walk.moments, min(4, len(walk.moments))):
            redrawn = replace(moment.before, redraw_unknown_to=role)
            secret = f"draws unknown to it since event {moment.before.last}{advice}"
            _alike(case, role, moment.before, redrawn, secret, revealing=True)


def _alike(case: Case, role: Role, true: Play, shadow: Play, secret: str, *, revealing: bool) -> None:
    """Make the same moves in both plays and check that `role` cannot tell them apart.

    Stops once they may differ: when a move is legal in only one of them, when only one is over, or when a step
    reveals what was drawn.
    """
    scripts = sorted(set(case.game.scripts) - case.game.oracles)
    disclosed = case.examples.discloses
    rng = Random(f"{case.seed}/{role}/{secret}")
    for _number in range(2 * case.moments):
        if true.over != shadow.over:
            return
        views = seen(true, role, without=disclosed), seen(shadow, role, without=disclosed)
        require(views[0] == views[1], f"{role} sees a difference, but must not know: {secret}")
        if role in true.waiting_for() and not disclosed:
            for script in scripts:
                seed = rng.random()
                moves = script_answer(true, role, script, seed), script_answer(shadow, role, script, seed)
                require(moves[0] == moves[1], f"script {script} as {role} uses hidden information: {secret}")
        if role in true.waiting_for():
            refusals = _refusals(true, role), _refusals(shadow, role)
            require(refusals[0] == refusals[1], f"{role} is refused differently, but must not know: {secret}")
        if true.over:
            return
        mover = rng.choice(true.waiting_for())
        move = script_answer(true, mover, rng.choice(scripts), rng.random())
        try:
            next_true, next_shadow = submit(true, mover, move)[0], submit(shadow, mover, move)[0]
        except Refused:
            return
        if mover == role:
            warnings = [play.game.warning(play.state, role, check(play, role, move)[1]) for play in (true, shadow)]
            require(warnings[0] == warnings[1], f"{role} gets a different warning, but must not know: {secret}")
        differed = true.state != shadow.state or true.game.config != shadow.game.config
        if next_true.over != next_shadow.over:
            return
        if revealing and differed and _reveals(case, true, mover, move, next_true, role):
            return
        notices = [
            [learnt(*told, role) for told in _steps(before, mover, move, after)]
            for before, after in ((true, next_true), (shadow, next_shadow))
        ]
        require(notices[0] == notices[1], f"{role} gets different notices, but must not know: {secret}")
        true, shadow = next_true, next_shadow


def _refusals(play: Play, role: Role) -> list[str]:
    """Return how moves are refused that are empty, too low or too high; "" for those that are not."""
    move, found = play.game.default(play.state, role), list[str]()
    moves: list[Any] = [{}, *_with_numbers_replaced(move, -1), *_with_numbers_replaced(move, 1e9)]
    for wrong in moves:
        try:
            submit(play, role, wrong)
            found.append("")
        except Refused as refusal:
            found.append(f"{refusal.field}: {refusal}")
    return found


def _steps(before: Play, mover: Role, move: MoveData, after: Play) -> list[tuple[Play, Role, MoveData, Play]]:
    """Return a step as it is told with each kind of information."""
    return [(told, mover, move, then) for told, then in zip(_tellings(before), _tellings(after), strict=True)]


def _reveals(case: Case, before: Play, mover: Role, move: MoveData, after: Play, role: Role) -> bool:
    if case.examples.reveals is None or after.step == before.step:
        return False
    return case.examples.reveals(before.game, before.state, applied_moves(before, mover, move), after.state, role)


# ---- helpers -----------------------------------------------------------------------------------


def _end(case: Case, script: str) -> Play:
    """Return the end of a match of a script against itself."""
    return play_random(case.game, case.seed, [script]).end


def _required(model: type[Move]) -> set[str]:
    return {name for name, info in model.model_fields.items() if info.is_required()}


def _finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _event(line: dict[str, Json]) -> Event:
    return Event(line.pop("number"), line.pop("kind"), line)


def _bytes(value: Any) -> str:
    return json.dumps([event.as_dict() for event in value] if isinstance(value, tuple) else value, allow_nan=False)


def _shown_to_all(play: Play) -> Any:
    return (
        [seen(play, role) for role in play.game.roles()],
        play.waiting_for(),
        dict(play.sealed),
        dict(play.opened),
        play.last,
        play.step,
    )


# ---- running all checks ------------------------------------------------------------------------


FOLDER = Path(__file__).parent
PARTS = {
    "rules.py": "rules.py",
    "texts/instructions.md": "the instruction text",
    "tests/test_*.py": "tests",
}


def missing_parts(key: str) -> list[str]:
    """Return the parts that the game's folder lacks."""
    folder = FOLDER / key
    parts = {pattern.format(key=key): description for pattern, description in PARTS.items()}
    return [f"{pattern} ({description})" for pattern, description in parts.items() if not list(folder.glob(pattern))]


def failed_checks(key: str) -> list[str]:
    """Return the checks that the game fails, each with its reason."""
    failures = []
    try:
        game_cases = cases(key)
    except GameError as error:
        return [f"cannot be configured: {error}"]
    for case in game_cases:
        for name, contract_check in CHECKS.items():
            try:
                contract_check(case)
            except Exception as error:  # noqa: BLE001 - any exception from a game is a failed check
                failures.append((f"{name}: {_told(error, FOLDER / key)}", case))
    return each_once(failures)


def _told(error: Exception, folder: Path) -> str:
    """Return what went wrong, with the line of the game, or else of its caller, that raised what says no more."""
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, (ContractBroken, GameError)):
        return text
    frames = extract_tb(error.__traceback__)
    at = next((frame for frame in reversed(frames) if folder in Path(frame.filename).parents), frames[-1])
    return f"{text} ({Path(at.filename).name}, line {at.lineno}: {at.line})"


def main(keys: Sequence[str] = ()) -> int:
    """Print what each game lacks; return 1 if any game lacks something."""
    failed = False
    for key in keys or registry.keys():
        started_at = time.monotonic()
        try:
            registry.get(key)
            problems = [f"missing: {part}" for part in missing_parts(key)] + failed_checks(key)
        except GameError as error:
            problems = [str(error)]
        failed = failed or bool(problems)
        state = f"{len(problems)} problems" if problems else "ok"
        print(f"{key}: {state} ({len(CHECKS)} checks, {time.monotonic() - started_at:.1f} s)")
        for problem in problems:
            print(f"  {problem}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
