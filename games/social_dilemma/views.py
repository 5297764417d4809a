"""What each seat may know, as blocks: the points at stake, designs, and what is shown of earlier rounds.

The history is limited here: it shows only rounds inside the window, only matches that the mechanism shows, and
never who meets whom before it happens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, permutations
from math import prod
from typing import Any

from games.interface import OBSERVER, Bar, Bars, Block, Cell, Fact, Facts, Role, Table, Text, View
from games.social_dilemma.core import SocialDilemmaCore as SocialDilemma
from games.social_dilemma.designs import with_payments
from games.social_dilemma.state import Dilemma, Round
from games.words import gettext as _
from games.words import number, percent

MAX_COLUMNS, MAX_OUTCOMES = 4, 100
"""Maximum columns, and outcomes, of a table of points that stays in view."""
DEPTH = 3
"""The maximum depth of a co-player's history in higher-order reputation (CoopEval, section 3)."""


def view(game: SocialDilemma, state: Dilemma, role: Role) -> View:
    """Return everything that `role` may know now."""
    blocks: list[Block] = [_status(game, state, role)]
    if state.stage == "over":
        blocks.append(_result(game, state, role))
    blocks.append(_situation(game, state, role))
    blocks.append(payoff_table(game, state, role))
    blocks += designs(game, state, role)
    if game.repeated:
        blocks += history(game, state, role)
    return tuple(blocks)


def notices(game: SocialDilemma, before: Dilemma, after: Dilemma, role: Role) -> View:
    """Return what `role` has just learnt; nothing about a round if rounds are not shown."""
    blocks: list[Block] = []
    if after.stage != before.stage or after.winner != before.winner:
        blocks.append(_status(game, after, role))
        blocks += designs(game, after, role)
    if len(after.rounds) > len(before.rounds) and (game.config.history_depth or after.stage == "over"):
        blocks.append(_last_round(game, after, role))
    if after.stage == "over":
        blocks.append(_result(game, after, role))
    return tuple({block.key: block for block in blocks}.values())


# ---- the game and its current state ----------------------------------------------------------------


def _status(game: SocialDilemma, state: Dilemma, role: Role) -> Text:
    """Return one sentence on what happens now."""
    mediated = game.mechanism == "mediation"
    match state.stage:
        case "over":
            return Text("status", _("The game is over."), tone="good")
        case "propose" if mediated:
            return Text("status", _("Propose a mediator. Then everybody votes on all proposals."))
        case "propose":
            return Text("status", _("Propose a contract. Then everybody votes on all proposals."))
        case "approve" if mediated:
            return Text("status", _("Here are all proposed mediators. Approve as many as you like."))
        case "approve":
            return Text("status", _("Here are all proposed contracts. Approve as many as you like."))
        case "sign":
            return Text("status", _("A contract was chosen. It takes effect only if everybody signs."))
    if mediated:
        return Text("status", _("A mediator was chosen. Choose an action, or delegate to the mediator."))
    if game.mechanism == "contract":
        active = game.contract_active(state)
        contract_status = (
            _("Everybody signed: the contract is in effect.")
            if active
            else _("Not everybody signed: the contract has no effect.")
        )
        return Text("status", contract_status + " " + _("Choose your action."), tone="good" if active else "notice")
    partners = _listed([game.role_title(other) for other in state.group(role) if other != role])
    return Text("status", _("Choose your action. You play with {others}.").format(others=partners))


def _listed(names: Sequence[str]) -> str:
    if len(names) < 2:
        return "".join(names)
    return _("{first} and {last}").format(first=", ".join(names[:-1]), last=names[-1])


def _situation(game: SocialDilemma, state: Dilemma, role: Role) -> Facts:
    """Return the round, the players, and the round's weight."""
    facts = [Fact("you", _("You are"), role, game.role_title(role))]
    if state.stage != "over":
        partners = [game.role_title(other) for other in state.group(role) if other != role]
        facts.append(Fact("others", _("You play with"), ", ".join(partners), _listed(partners)))
    if game.repeated and state.stage != "over":
        round_number, stopping = len(state.rounds) + 1, game.config.stopping
        if stopping == "published":
            round_text = str(round_number)
        elif stopping == "drawn":
            round_text = _("{round} of at most {rounds}").format(round=round_number, rounds=game.last_round())
        else:
            round_text = _("{round} of {rounds}").format(round=round_number, rounds=game.last_round())
        facts.append(Fact("round", _("Round"), round_number, round_text))
        if stopping == "weighted":
            weight = game.weights(game.last_round())[round_number - 1]
            facts.append(Fact("weight", _("Weight of this round"), weight, percent(weight)))
        else:
            chance = game.config.continuation
            facts.append(Fact("goes_on", _("Chance of another round"), chance, percent(chance)))
    return Facts("situation", _("Where you stand"), tuple(facts))


def outcomes(game: SocialDilemma, role: Role) -> list[dict[str, Any]]:
    """Return every combination of actions with the role's and the others' points, for the instructions."""
    position = game.position(role)
    return [
        {
            "own": _action(game, position, profile),
            "others": [_action(game, seat, profile) for seat in range(game.base.seats) if seat != position],
            "played": list(profile),
            "points": points[position],
            "others_points": [points[seat] for seat in range(game.base.seats) if seat != position],
        }
        for profile, points in _by_own_action(game, position)
    ]


def _action(game: SocialDilemma, seat: int, profile: tuple[int, ...]) -> str:
    """Return the action of a base game seat (from 0) in a profile, as shown to players."""
    return game.label(game.base.names(seat)[profile[seat]])


def _by_own_action(game: SocialDilemma, position: int) -> list[tuple[tuple[int, ...], tuple[float, ...]]]:
    """Yield profiles with their points, ordered by the role's own action."""
    return sorted(game.base.payoffs.items(), key=lambda item: (item[0][position], item[0]))


def payoff_table(game: SocialDilemma, state: Dilemma, role: Role) -> Table:
    """Return the points of every combination, own actions in rows; with payments if a contract is in effect."""
    position, base = game.position(role), game.base
    contract = game.contract(state) if game.contract_active(state) else None
    title = _("Points with the contract") if contract is not None else _("Points")

    def points(profile: tuple[int, ...]) -> tuple[float, ...]:
        return base.payoffs[profile] if contract is None else with_payments(base, contract, profile)

    if base.seats == 2:
        other = 1 - position
        columns = (
            _("You play"),
            *(_("The other plays {action}").format(action=game.label(name)) for name in base.names(other)),
        )
        rows = []
        for own_action, name in enumerate(base.names(position)):
            cells = []
            for other_action in range(base.actions[other]):
                earned = points((own_action, other_action) if position == 0 else (other_action, own_action))
                cells.append(
                    _("you {own}, the other {theirs}").format(
                        own=number(earned[position]), theirs=number(earned[other])
                    )
                )
            rows.append((game.label(name), *cells))
        return Table("points", title, columns, tuple(rows))
    if (short_table := _by_others(game, position, points)) is not None:
        return Table("points", title, *short_table)
    columns = (
        _("You play"),
        *(_("Player {number} plays").format(number=seat + 1) for seat in range(base.seats) if seat != position),
        _("You get"),
        _("The others get"),
    )
    outcome_rows = []
    for profile, _base_points in _by_own_action(game, position):
        earned = points(profile)
        others = [seat for seat in range(base.seats) if seat != position]
        outcome_rows.append(
            (
                _action(game, position, profile),
                *(_action(game, seat, profile) for seat in others),
                number(earned[position]),
                ", ".join(number(earned[seat]) for seat in others),
            )
        )
    return Table("points", title, columns, tuple(outcome_rows))


def _by_others(
    game: SocialDilemma, position: int, points: Callable[[tuple[int, ...]], tuple[float, ...]]
) -> tuple[tuple[str, ...], tuple[tuple[Cell, ...], ...]] | None:
    """Return columns and rows of a short table: own actions by the combination of the others' actions.

    None if it matters which player plays what, or if the others have too many combinations for a short table.
    """
    base = game.base
    others = [seat for seat in range(base.seats) if seat != position]
    if len({base.actions[seat] for seat in others}) > 1 or prod(base.actions) > MAX_OUTCOMES:
        return None
    combinations = list(combinations_with_replacement(range(base.actions[others[0]]), len(others)))
    if len(combinations) > MAX_COLUMNS:
        return None

    def earned(own_action: int, other_actions: Sequence[int]) -> tuple[float, tuple[tuple[int, float], ...]]:
        """Return the role's own points, and each other player's action with its points."""
        by_seat = dict(zip(others, other_actions, strict=True)) | {position: own_action}
        all_points = points(tuple(by_seat[seat] for seat in range(base.seats)))
        return round(all_points[position], 9), tuple((by_seat[seat], round(all_points[seat], 9)) for seat in others)

    rows = []
    for own_action, name in enumerate(base.names(position)):
        cells = []
        for other_actions in combinations:
            own_points, others_points = earned(own_action, other_actions)
            for order in permutations(other_actions):
                reordered_own, reordered_others = earned(own_action, order)
                if reordered_own != own_points or sorted(reordered_others) != sorted(others_points):
                    return None
            others_text = ", ".join(number(seat_points) for _action_of, seat_points in others_points)
            cells.append(_("you {own}, others {theirs}").format(own=number(own_points), theirs=others_text))
        rows.append((game.label(name), *cells))
    names = base.names(others[0])
    heads = (", ".join(game.label(names[action]) for action in other_actions) for other_actions in combinations)
    return (_("You play"), *(_("Others: {actions}").format(actions=head) for head in heads)), tuple(rows)


# ---- designs -----------------------------------------------------------------------------------


def designs(game: SocialDilemma, state: Dilemma, role: Role) -> list[Block]:
    """Return the proposals once the vote starts; later the chosen one, the votes and the signatures."""
    if not state.proposals:
        return []
    mediated = game.mechanism == "mediation"
    letter = "M" if mediated else "C"
    if state.winner is None:
        keys = [str(d) for d in range(1, game.base.seats + 1)] if mediated else list(game.all_actions)
        columns = [
            _("{number} delegate").format(number=key)
            if mediated
            else _("Playing “{action}” earns").format(action=game.label(key))
            for key in keys
        ]
        rows = tuple(
            (
                f"{letter}{proposer}",
                player_name(game, f"p{proposer}", role),
                *(_clause(game, game.design_of(state, proposer)[key]) for key in keys),
            )
            for proposer in range(1, game.base.seats + 1)
        )
        title = _("Proposed mediators") if mediated else _("Proposed contracts")
        return [Table("proposals", title, (_("Proposal"), _("By"), *columns), rows)]
    name = f"{letter}{state.winner}"
    design = game.design_of(state, state.winner)
    facts = [
        Fact(
            "winner",
            _("Chosen"),
            name,
            _("{name}, by {who}").format(name=name, who=player_name(game, f"p{state.winner}", role)),
        )
    ]
    facts += [clause_fact(game, key, clause, mediated) for key, clause in design.items()]
    approvals = sum(state.winner in approved for approved in state.votes.values())
    facts.append(
        Fact("approvals", _("Approvals"), approvals, _("{given} of {all}").format(given=approvals, all=game.base.seats))
    )
    if state.signed:
        refused = [player_name(game, seat, role) for seat, yes in state.signed.items() if not yes]
        signatures = _("everybody signed") if not refused else _("refused by {names}").format(names=_listed(refused))
        facts.append(Fact("signatures", _("Signatures"), not refused, signatures))
    title = _("The mediator") if mediated else _("The contract")
    votes = tuple(
        (player_name(game, seat, role), ", ".join(f"{letter}{number}" for number in approved) or _("none"))
        for seat, approved in state.votes.items()
    )
    return [
        Facts("design", title, tuple(facts)),
        Table("votes", _("Votes"), (_("Player"), _("Approved")), votes),
    ]


def _clause(game: SocialDilemma, clause: str | int) -> Cell:
    return game.label(clause) if isinstance(clause, str) else number(clause)


def clause_fact(game: SocialDilemma, key: str, clause: str | int, mediated: bool) -> Fact:
    """Return one clause of the chosen design."""
    if mediated:
        label = _("If {number} of {seats} delegate").format(number=key, seats=game.base.seats)
        return Fact(f"clause_{key}", label, clause, _("it plays {action}").format(action=game.label(str(clause))))
    points = int(clause)
    if points == 0:
        payment = _("no payment")
    elif points > 0:
        payment = _("gets {points} from the others").format(points=number(points))
    else:
        payment = _("pays {points} to the others").format(points=number(-points))
    return Fact(f"clause_{key}", _("A player who plays “{action}”").format(action=game.label(key)), clause, payment)


def played(game: SocialDilemma, past_round: Round, seat: Role) -> str:
    """Return what a seat played in a round, as shown to players."""
    return game.label(game.actions(seat)[past_round.actions[seat]])


def player_name(game: SocialDilemma, player: Role, role: Role) -> str:
    return _("you") if player == role else game.role_title(player)


# ---- earlier rounds ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Meeting:
    """A match that is shown: its round (from 1), each player's action and points, and the matches that led to it.

    `earlier` holds, in higher-order reputation, the other players' earlier matches inside the window.
    """

    round: int
    players: tuple[tuple[Role, str, float], ...]
    earlier: tuple[tuple[Role, tuple[Meeting, ...]], ...] = ()


def shown_rounds(game: SocialDilemma, state: Dilemma) -> range:
    """Return the indices of the rounds inside the window; of all when the game is over, in results for people."""
    rounds_played = len(state.rounds)
    if state.stage == "over" and not game.told_as_published:
        return range(rounds_played)
    return range(max(0, rounds_played - game.config.history_depth), rounds_played)


def histories(game: SocialDilemma, state: Dilemma, role: Role) -> tuple[tuple[Role, tuple[Meeting, ...]], ...]:
    """Return the matches inside the window of the role and each current co-player, newest first."""
    window = shown_rounds(game, state)
    group = (role, *(other for other in state.group(role) if other != role)) if state.stage != "over" else (role,)
    depth = DEPTH if game.mechanism == "reputation_higher_order" else 1
    return tuple((member, _meetings(game, state.rounds, member, window, depth)) for member in group)


def _meetings(
    game: SocialDilemma, rounds: Sequence[Round], player: Role, window: range, depth: int
) -> tuple[Meeting, ...]:
    """Return a seat's matches in these rounds; under each, its co-players' earlier ones, `depth` levels deep."""
    meetings = []
    for index in reversed(window):
        past_round = rounds[index]
        group = past_round.group(player)
        players = tuple((seat, played(game, past_round, seat), past_round.points[seat]) for seat in group)
        earlier_window = range(max(window.start, len(rounds) - game.config.history_depth), index)
        earlier = tuple(
            (partner, _meetings(game, rounds, partner, earlier_window, depth - 1))
            for partner in group
            if partner != player and earlier_window
        )
        meetings.append(Meeting(index + 1, players, earlier if depth > 1 else ()))
    return tuple(meetings)


def history(game: SocialDilemma, state: Dilemma, role: Role) -> list[Block]:
    """Return earlier rounds as the mechanism shows them."""
    if not game.in_population:
        return [_rounds_table(game, state, role)]
    blocks: list[Block] = []
    for member, meetings in histories(game, state, role):
        is_own = member == role
        title = (
            _("Your earlier rounds") if is_own else _("Earlier rounds of {name}").format(name=game.role_title(member))
        )
        columns = (_("Round"), _("Who"), _("Played"), _("Points"), _("Part"))
        blocks.append(Table(f"history_{member}", title, columns, tuple(_match_rows(game, meetings, role, title))))
    return blocks


def _match_rows(game: SocialDilemma, meetings: Sequence[Meeting], role: Role, title: str) -> list[tuple[Cell, ...]]:
    """Return a row per player of each match, in parts: a seat's matches, then its co-players' earlier matches.

    A player's earlier matches are shown only once, where they are first reached, which is also where they go deepest.
    """
    rows: list[tuple[Cell, ...]] = []
    shown: set[tuple[Role, int]] = set()
    parts = [(title, meetings)]
    for part_title, part_meetings in parts:
        for meeting in part_meetings:
            rows += [
                (meeting.round, player_name(game, seat, role), action, number(points), part_title)
                for seat, action, points in meeting.players
            ]
            for partner, earlier in meeting.earlier:
                if (partner, meeting.round) not in shown and earlier:
                    shown.add((partner, meeting.round))
                    template = _("What {name} had done before round {round}")
                    parts.append((template.format(name=player_name(game, partner, role), round=meeting.round), earlier))
    return rows


def _rounds_table(game: SocialDilemma, state: Dilemma, role: Role) -> Table:
    """Return everybody's actions and points in the rounds that are shown, for repetition."""
    titles = [player_name(game, seat, role) for seat in game.roles()]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            index + 1,
            *(
                _("{action} ({points})").format(
                    action=played(game, state.rounds[index], seat),
                    points=number(state.rounds[index].points[seat]),
                )
                for seat in game.roles()
            ),
        )
        for index in shown_rounds(game, state)
    )
    return Table("history", _("Earlier rounds: action (points)"), (_("Round"), *titles), rows)


def _last_round(game: SocialDilemma, state: Dilemma, role: Role) -> Table:
    """Return the outcome of the last round in the role's own group."""
    past_round = state.rounds[-1]
    rows = tuple(
        (player_name(game, seat, role), played(game, past_round, seat), number(past_round.points[seat]))
        for seat in past_round.group(role)
    )
    title = _("Round {number}").format(number=len(state.rounds)) if game.repeated else _("What was played")
    return Table("last_round", title, (_("Player"), _("Played"), _("Points")), rows)


def _result(game: SocialDilemma, state: Dilemma, role: Role) -> Facts:
    """Return how the game ended for this role."""
    payoff = game.payoffs(state)[role]
    facts = []
    if not game.repeated:
        past_round = state.rounds[-1]
        for seat in past_round.group(role):
            action, points = played(game, past_round, seat), number(past_round.points[seat])
            by = _(" (by the mediator)") if seat in past_round.delegated else ""
            outcome = _("{action}{by}: {points} points").format(action=action, by=by, points=points)
            facts.append(Fact(f"played_{seat}", player_name(game, seat, role).capitalize(), action, outcome))
    else:
        facts.append(Fact("rounds", _("Rounds played"), len(state.rounds), str(len(state.rounds))))
    facts.append(Fact("payoff", _("Your result"), payoff, _("{points} points").format(points=number(payoff))))
    return Facts("result", _("The result"), tuple(facts))


def result_bars(game: SocialDilemma, state: Dilemma, role: Role) -> Bars | None:
    """Return everybody's points in the rounds that the role is shown; its own result alone if it met different players.

    An observer sees them if all rounds are shown to everyone.
    """
    rounds_played = len(state.rounds)
    shown = [state.rounds[index] for index in (shown_rounds(game, state) if game.repeated else range(rounds_played))]
    meets_all = all(set(past_round.group(game.roles()[0])) == set(game.roles()) for past_round in state.rounds)
    if not meets_all or not shown:
        if role == OBSERVER:
            return None
        payoff = game.payoffs(state)[role]
        return Bars(_("Your result"), (Bar(_("You"), _points(payoff), payoff, role=role),))
    if role == OBSERVER and len(shown) < rounds_played:
        return None
    totals = {seat: sum(past_round.points[seat] for past_round in shown) for seat in game.roles()}
    if rounds_played == 1:
        title, moves = _("Who got how many points"), tuple(
            (seat, _("played {action}").format(action=played(game, state.rounds[0], seat))) for seat in game.roles()
        )  # fmt: skip
    else:
        title, moves = _("Who got how many points in the last {rounds} rounds"), ()
        if len(shown) == rounds_played:
            title = _("Who got how many points in {rounds} rounds")
        title = title.format(rounds=len(shown))
    bars = (
        Bar(player_name(game, seat, role).capitalize(), _points(total), total, role=seat)
        for seat, total in totals.items()
    )
    return Bars(title, tuple(bars), moves=moves)


def _points(points: float) -> str:
    return _("{points} points").format(points=number(points))
