"""Scripted players: CoopEval's types and two reciprocal ones. Each uses only what its seat may know."""

from __future__ import annotations

from collections.abc import Collection
from random import Random

from games.interface import MoveData, Role
from games.scripts import by_name
from games.social_dilemma.core import SocialDilemmaCore as SocialDilemma
from games.social_dilemma.designs import Contract, Mediator, standard_contract, standard_mediator
from games.social_dilemma.moves import DELEGATE
from games.social_dilemma.state import Dilemma, Round


def always_cooperate(game: SocialDilemma, state: Dilemma, role: Role, rng: Random) -> MoveData:
    """Cooperate; propose the standard design, approve and sign sound designs, delegate to mediators that play C."""
    if state.stage != "act":
        return _cooperative_step(game, state, role)
    if game.mechanism == "mediation" and _mediator_cooperates(game, state):
        return _choose(game, role, DELEGATE)
    return _choose(game, role, _cooperative(game, role))


def always_defect(game: SocialDilemma, state: Dilemma, role: Role, rng: Random) -> MoveData:
    """Never cooperate, propose nothing useful, approve nothing, never sign."""
    action = game.base.other[game.position(role)]
    match state.stage:
        case "propose" if game.mechanism == "mediation":
            return {"mediator": _named_mediator(game, role, dict.fromkeys(range(1, game.base.seats + 1), action))}
        case "propose":
            return {"contract": dict.fromkeys(game.all_actions, 0)}
        case "approve":
            return _votes(game, ())
        case "sign":
            return {"sign": False}
    return _choose(game, role, game.actions(role)[action])


def tit_for_tat(game: SocialDilemma, state: Dilemma, role: Role, rng: Random) -> MoveData:
    """Cooperate first, then only if all current co-players did in the round before, as far as it is shown."""
    if not game.repeated:
        return always_cooperate(game, state, role, rng)
    shown_rounds = state.rounds[-1:] if game.config.history_depth else ()
    return _cooperate_if(
        game, role, all(_all_cooperated(game, past_round, _others(state, role)) for past_round in shown_rounds)
    )


def grim(game: SocialDilemma, state: Dilemma, role: Role, rng: Random) -> MoveData:
    """Cooperate until a current or earlier co-player is seen not to."""
    if not game.repeated:
        return always_cooperate(game, state, role, rng)
    depth = game.config.history_depth
    meetings = [
        (number, _other_members(past_round.group(role), role)) for number, past_round in enumerate(state.rounds)
    ]
    meetings.append((len(state.rounds), _others(state, role)))
    windows = [(state.rounds[max(0, number - depth) : number], co_players) for number, co_players in meetings]
    if depth:
        windows += [((past_round,), _other_members(past_round.group(role), role)) for past_round in state.rounds]
    all_cooperated = all(
        _all_cooperated(game, past_round, co_players) for window, co_players in windows for past_round in window
    )
    return _cooperate_if(game, role, all_cooperated)


def nash(game: SocialDilemma, state: Dilemma, role: Role, rng: Random) -> MoveData:
    """Play the equilibrium; cooperate or delegate only under a sound design."""
    if state.stage != "act":
        return _cooperative_step(game, state, role)
    if game.config.base_game == "matching_pennies":
        return _mix_equally(game, role, rng)
    if state.winner is not None:
        is_sound = game.quality(game.design_of(state, state.winner)).nash
        if game.mechanism == "mediation" and is_sound:
            return _choose(game, role, DELEGATE)
        if game.mechanism == "contract" and is_sound and game.contract_active(state):
            return _cooperate_if(game, role, True)
    return _cooperate_if(game, role, False)


def random(game: SocialDilemma, state: Dilemma, role: Role, rng: Random) -> MoveData:
    """Make any legal move."""
    match state.stage:
        case "propose" if game.mechanism == "mediation":
            return {
                "mediator": {str(number): rng.choice(game.actions(role)) for number in range(1, game.base.seats + 1)}
            }
        case "propose":
            bound = game.contract_bound
            return {"contract": {name: rng.randint(-bound, bound) for name in game.all_actions}}
        case "approve":
            return _votes(game, [number for number in range(1, game.base.seats + 1) if rng.random() < 0.5])
        case "sign":
            return {"sign": rng.random() < 0.5}
    choices = game.choices(role)
    if game.config.answer_with == "percentages" or (game.config.answer_with == "either" and rng.random() < 0.3):
        cuts = sorted(rng.randint(0, 100) for _cut in choices[1:])
        shares = [high - low for low, high in zip([0, *cuts], [*cuts, 100], strict=True)]
        return {"percentages": dict(zip(choices, shares, strict=True))}
    return {"action": rng.choice(choices)}


# ---- shared by the scripts ---------------------------------------------------------------------


def _cooperative_step(game: SocialDilemma, state: Dilemma, role: Role) -> MoveData:
    """Propose the standard design; approve and sign designs that make cooperation an equilibrium."""
    position = game.position(role)
    match state.stage:
        case "propose" if game.mechanism == "mediation":
            return {"mediator": _named_mediator(game, role, standard_mediator(game.base, position))}
        case "propose":
            return {"contract": _named_contract(game, standard_contract(game.base, position, game.contract_bound))}
        case "approve":
            numbers = range(1, game.base.seats + 1)
            return _votes(game, [number for number in numbers if game.quality(game.design_of(state, number)).nash])
    assert state.winner is not None
    return {"sign": game.quality(game.design_of(state, state.winner)).nash}


def _mediator_cooperates(game: SocialDilemma, state: Dilemma) -> bool:
    """Return whether the chosen mediator plays C if all delegate."""
    cooperate = game.base.cooperate
    return cooperate is not None and all(game.mediator(state)[game.base.seats] == action for action in cooperate)


def _cooperative(game: SocialDilemma, role: Role) -> str:
    """Return the role's cooperative action, or its first action if the game has no cooperative one."""
    cooperate = game.base.cooperate
    return game.actions(role)[0 if cooperate is None else cooperate[game.position(role)]]


def _cooperate_if(game: SocialDilemma, role: Role, condition: bool) -> MoveData:
    uncooperative = game.actions(role)[game.base.other[game.position(role)]]
    return _choose(game, role, _cooperative(game, role) if condition else uncooperative)


def _choose(game: SocialDilemma, role: Role, choice: str) -> MoveData:
    """Return a move that makes this choice with certainty, in the form that the configuration requires."""
    if game.config.answer_with == "percentages":
        return {"percentages": {name: 100 if name == choice else 0 for name in game.choices(role)}}
    return {"action": choice}


def _mix_equally(game: SocialDilemma, role: Role, rng: Random) -> MoveData:
    """Return a move that chooses between two actions with equal probability."""
    if game.config.answer_with == "action":
        return {"action": rng.choice(game.actions(role))}
    return {"percentages": {**dict.fromkeys(game.choices(role), 0), **dict.fromkeys(game.actions(role), 50)}}


def _votes(game: SocialDilemma, approved: Collection[int]) -> MoveData:
    letter = "M" if game.mechanism == "mediation" else "C"
    return {"approve": {f"{letter}{number}": number in approved for number in range(1, game.base.seats + 1)}}


def _named_mediator(game: SocialDilemma, role: Role, mediator: Mediator) -> dict[str, str]:
    return {str(number): game.actions(role)[action] for number, action in mediator.items()}


def _named_contract(game: SocialDilemma, contract: Contract) -> dict[str, int]:
    return {name: int(contract[number]) for number, name in enumerate(game.all_actions)}


def _other_members(group: tuple[Role, ...], role: Role) -> tuple[Role, ...]:
    return tuple(member for member in group if member != role)


def _others(state: Dilemma, role: Role) -> tuple[Role, ...]:
    """Return the role's current co-players."""
    return _other_members(state.group(role), role)


def _all_cooperated(game: SocialDilemma, past_round: Round, roles: tuple[Role, ...]) -> bool:
    return all(game.actions(role)[past_round.actions[role]] == _cooperative(game, role) for role in roles)


SCRIPTS = by_name(always_cooperate, always_defect, tit_for_tat, grim, nash, random)
