"""Small synthetic records in the layouts of published systems, made by our own rules and scripts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from games import registry
from games.play import Play, configure, script_move, start, submit

AGENTS = {"lab/one(CoT)": "always_cooperate", "lab/two(IO)": "always_defect"}
"""The script behind each agent; neither draws anything, so that an agent's proposals are the same in all matches."""
ACTIONS = {"prisoners_dilemma": ("COOPERATE", "DEFECT"), "public_goods": ("CONTRIBUTE", "FREE_RIDE")}
GAMES = {"prisoners_dilemma": "PrisonersDilemma", "public_goods": "PublicGoods"}
MECHANISMS = {
    "none": ("NoMechanism", {}),
    "repetition": ("Repetition", {"num_rounds": 3, "discount": 0.8, "lookup_depth": 2}),
    "reputation_first_order": ("ReputationFirstOrder", {"num_rounds": 3, "discount": 0.8, "lookup_depth": 2}),
    "mediation": ("Mediation", {}),
    "contract": ("Contracting", {}),
}


def coopeval(root: Path, *, runs: int = 2) -> Path:
    """Write a tournament of every game and mechanism for each run."""
    for run, game, mechanism in product(range(1, runs + 1), GAMES, MECHANISMS):
        tournament(root / f"run{run}" / f"{mechanism}_{game}", game, mechanism)
    return root


def tournament(folder: Path, game: str, mechanism: str) -> None:
    """Write one tournament."""
    folder.mkdir(parents=True, exist_ok=True)
    kind, parameters = MECHANISMS[mechanism]
    settings = {"game": {"type": GAMES[game], "kwargs": {}}, "mechanism": {"type": kind, "kwargs": parameters}}
    _write(folder / "config.json", settings)
    ours = {"num_rounds": "rounds", "discount": "continuation", "lookup_depth": "history_depth"}
    config = {"base_game": game, "mechanism": mechanism, "stopping": "published"}
    config |= {ours[name]: value for name, value in parameters.items()}
    if mechanism.startswith("reputation"):
        config["population"] = len(AGENTS)
        play = _played(config, [label for label in AGENTS for _position in range(seats_of(game))])
        rounds = _rounds(play, game)
        _lines(folder, [[group for groups in rounds for group in groups]])
        return
    lines, paid, designs = [], [], {}
    for labels in product(AGENTS, repeat=seats_of(game)):
        play = _played(config, labels)
        rounds = [groups[0] for groups in _rounds(play, game, labels)]
        if mechanism in ("mediation", "contract"):
            lines.append([_agreed(play, game, labels, rounds[0], designs)])
        else:
            lines.append(rounds if mechanism == "repetition" else rounds[0])
        players = [
            {"llm": {"model": label.partition("(")[0]}, "type": label.partition("(")[2][:-1] + "Agent",
             "player_id": position} for position, label in enumerate(labels, start=1)
        ]  # fmt: skip
        paid.append({"players": players, "payoffs": [[[move["points"] for move in moves] for moves in rounds]]})
    _lines(folder, lines)
    _write(folder / "matchup_payoffs.json", {"discount": parameters.get("discount", 1.0), "profile": paid})
    if designs:
        _write(folder / f"{'mediator' if mechanism == 'mediation' else 'contract'}_design.json", designs)


def seats_of(game: str) -> int:
    """Return the number of positions of a base game."""
    return len(configure(registry.get("social_dilemma"), {"base_game": game}).roles())


def _played(config: Mapping[str, Any], labels: Sequence[str]) -> Play:
    play, _events = start(configure(registry.get("social_dilemma"), config), 7)
    while not play.over:
        for role, label in zip(play.game.roles(), labels, strict=True):
            play, _events = submit(play, role, script_move(play, role, AGENTS[label]))
    return play


def _rounds(play: Play, game: str, labels: Sequence[str] = ()) -> Iterator[list[list[dict[str, Any]]]]:
    """Yield the moves of every group, round by round."""
    seats = seats_of(game)
    for past in play.state.rounds:
        groups = []
        for group in past.groups:
            moves = []
            for position, role in enumerate(group, start=1):
                number = int(role[1:]) - 1
                label = labels[number] if labels else [*AGENTS][number // seats]
                moves.append({
                    "player": f"{label}#P{position}",
                    "action": f"{GAMES[game]}Action.{ACTIONS[game][past.actions[role]]}",
                    "points": past.points[role],
                    **({"mediated": True} if role in past.delegated else {}),
                })  # fmt: skip
            groups.append(moves)
        yield groups


def _agreed(
    play: Play, game: str, labels: Sequence[str], moves: list[dict[str, Any]], designs: dict[str, Any]
) -> dict[str, Any]:
    state, names = play.state, [f"{label}#P{position}" for position, label in enumerate(labels, start=1)]
    kind, mediated = f"{GAMES[game]}Action.", play.game.config.mechanism == "mediation"

    def action(name: str) -> str:
        return kind + ACTIONS[game][int(name[1:])]

    for name, design in zip(names, state.proposals.values(), strict=True):
        if mediated:
            designs[name] = {"mediator": [[int(n), action(a)] for n, a in design.items()]}
        else:
            designs[name] = {"contract": {action(a): value for a, value in design.items()}}
    votes = [
        {"voter_name": name, "votes": {str(n): n in approved for n in range(1, len(labels) + 1)}}
        for name, approved in zip(names, state.votes.values(), strict=True)
    ]
    line = {"votes": votes, f"selected_{'mediator' if mediated else 'contract'}_index": state.winner, "moves": moves}
    if not mediated:
        signed = zip(names, state.signed.values(), strict=True)
        line["signatures"] = {name: {"agree": agree} for name, agree in signed}
        line["all_signed"] = all(state.signed.values())
    return line


def _lines(folder: Path, lines: Sequence[Any]) -> None:
    (folder / "records.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def _write(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content))
