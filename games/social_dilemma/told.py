"""What a player is told as CoopEval's program tells its models: no votes, no sizes, no weights, no bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from games.interface import Block, Cell, Fact, Facts, Form, Role, Table, Text, Told, View
from games.social_dilemma import moves, views
from games.social_dilemma.core import SocialDilemmaCore as SocialDilemma
from games.social_dilemma.state import Dilemma
from games.words import gettext as _
from games.words import number


def view(game: SocialDilemma, state: Dilemma, role: Role) -> View:
    """Return the present step, the designs, and the earlier rounds that are shown."""
    if state.stage == "over":
        return ()
    blocks: list[Block] = []
    if game.repeated:
        blocks.append(Text("played", _("Rounds played so far: {number}.").format(number=len(state.rounds))))
        blocks += _history(game, state, role)
    blocks += _designs(game, state, role)
    return tuple(blocks)


def notices(game: SocialDilemma, before: Dilemma, moves: Mapping[Role, Any], after: Dilemma, role: Role) -> View:
    """Return what is new: the view, since every prompt contains everything."""
    return view(game, after, role)


def form(game: SocialDilemma, form: Form) -> Form:
    """Return the form of a contract without bounds."""
    if form.name == "propose" and game.mechanism == "contract":
        return moves.proposing_contract(game.all_actions, None, game.labels(game.all_actions))[0]
    return form


def _history(game: SocialDilemma, state: Dilemma, role: Role) -> list[Block]:
    """Return earlier rounds, newest first: in repetition, only actions."""
    if game.in_population:
        return views.history(game, state, role)
    titles = [views.player_name(game, seat, role) for seat in game.roles()]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (index + 1, *(views.played(game, state.rounds[index], seat) for seat in game.roles()))
        for index in reversed(views.shown_rounds(game, state))
    )
    return [Table("history", _("Earlier rounds"), (_("Round"), *titles), rows)]


def _designs(game: SocialDilemma, state: Dilemma, role: Role) -> list[Block]:
    """Return all proposals once the vote starts; later the chosen one, and whether it is active."""
    if state.winner is None:
        return views.designs(game, state, role)
    mediated = game.mechanism == "mediation"
    design, author = game.design_of(state, state.winner), views.player_name(game, f"p{state.winner}", role)
    facts = [Fact("winner", _("Proposed by"), author, author)]
    facts += [views.clause_fact(game, key, clause, mediated) for key, clause in design.items()]
    title = _("The mediator") if mediated else _("The contract")
    if not mediated and state.signed:
        title = _("The active contract")
        if refused := [views.player_name(game, seat, role) for seat, yes in state.signed.items() if not yes]:
            title = _("The contract is not active")
            facts.append(Fact("refused", _("Rejected by"), number(len(refused)), ", ".join(refused)))
    return [Facts("design", title, tuple(facts))]


TOLD = Told(view, notices, form)
