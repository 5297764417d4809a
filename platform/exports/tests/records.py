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


# ---- AucArena --------------------------------------------------------------------------------------------

BIDDERS = {"Bidder 1": ("gpt-4-0613", "greedy"), "Bidder 2": ("lab-two", "estimate"), "Bidder 3": ("rule", "rule")}
"""Each bidder's model and the script behind it."""
LOTS = ((1000, 2000), (500, 700), (2000, 4000))
"""Start price and true value of each item."""


def auction(folder: Path, number: int = 0, **config: Any) -> None:
    """Write one auction: memo, list of items, and the logs of the bidders that are models."""
    folder.mkdir(parents=True, exist_ok=True)
    items = [{"name": f"Lot {n}", "start_price": low, "true_value": worth} for n, (low, worth) in enumerate(LOTS, 1)]
    play, _events = start(configure(registry.get("item_auction"), {"items": items, "order": "listed", **config}), 3)
    while not play.over:
        for role, (_model, script) in zip(play.game.roles(), BIDDERS.values(), strict=True):
            if role in play.waiting_for():
                play, _events = submit(play, role, script_move(play, role, script))
    names = dict(zip(play.game.roles(), BIDDERS, strict=True))
    metrics, sold = play.metrics(), play.state.over
    memo = {
        "auction_log": "## Auction Log\n\n" + "\n\n".join(
            _sale(number, items[lot.item], lot, names) for number, lot in enumerate(sold, 1)),
        "memo_text": [
            f"* {name}, starting with ${play.game.budget(role)}, has won {metrics[f'{role}_items']} items in this "
            f"auction, with a total profit of ${metrics[f'{role}_profit']}.:" for role, name in names.items()],
        "profit": {name: metrics[f"{role}_profit"] for role, name in names.items()},
        "model_info": {name: model for name, (model, _script) in BIDDERS.items()},
    }  # fmt: skip
    _write(folder / f"memo-{number}.json", memo)
    listed = [{"name": item["name"], "price": item["start_price"], "true_value": item["true_value"]} for item in items]
    (folder / "items_demo.jsonl").write_text("".join(json.dumps(item) + "\n" for item in listed))
    for role, name in names.items():
        if BIDDERS[name][0] != "rule":
            path = folder / f"{name.replace(' ', '')}-{number}.jsonl"
            path.write_text(json.dumps(_bidders_log(play, role, names)) + "\n")


def _sale(number: int, item: Mapping[str, Any], lot: Any, names: Mapping[str, str]) -> str:
    lines = [f"### {number}. {item['name']}, starting at ${item['start_price']}."]
    for n, past in enumerate(lot.all_rounds, 1):
        if n > 1 and lot.passed and n - 1 <= len(lot.passed):
            lines.append(f"### {number}. {item['name']}, starting at ${item['start_price'] // 2 ** (n - 1)}.")
        lines.append(f"#### {n}th bid:")
        lines += [f"* {names[role]}: {'Withdrew' if bid is None else f'${bid}'}" for role, bid in past.answers.items()]
    end = f"* {names[lot.leader]}: ${lot.standing} (${item['true_value']})" if lot.leader else "* None bid"
    return "\n".join([*lines, "#### Hammer price (true value):", end])


def _bidders_log(play: Play, role: str, names: Mapping[str, str]) -> dict[str, Any]:
    """Return a log with plans, true reports but for the money after the first item, and a failed bid on it."""
    state, game, metrics = play.state, play.game, play.metrics()
    items = [game.item(lot.item).name for lot in state.over]
    history, left = [], game.budget(role)
    won: dict[str, dict[str, int]] = {name: {} for name in names.values()}
    profits, first_left = dict.fromkeys(names.values(), 0), 0
    for index, lot in enumerate(state.over):
        asked = sum(role in past.answers for past in lot.all_rounds)
        prompts = [*(["Your bid of $1 failed, because it is low."] if index == 0 else []), *["Bid?"] * (asked - 1)]
        history += [_call(f"bid_{index}", prompt) for prompt in ["Bid?", *prompts][: asked + (index == 0)]]
        if lot.leader is not None:
            won[names[lot.leader]][items[index]] = lot.standing
            profits[names[lot.leader]] += game.item(lot.item).worth - lot.standing
            left -= lot.standing if lot.leader == role else 0
        first_left = first_left if index else left
        report = {"remaining_budget": left + 100 * (index == 0), "total_profits": profits, "winning_bids": won}
        history.append(_call(f"summarize_{index}", "Report.", f"So {{far}}: {json.dumps(report)}"))
    plan = json.dumps(dict(zip(items, (3, 1, 2), strict=False)))
    return {
        "desire": "maximize_profit", "plan_strategy": "adaptive" if role == "p1" else "static",
        "overestimate_percent": 10,
        "budget": game.budget(role), "money_left": left, "profit": metrics[f"{role}_profit"], "failed_bid_cnt": 1,
        "engagement_count": metrics[f"{role}_bids"], "changes_of_plan": [["0 (Initial)", False, plan]],
        "budget_error_history": [[items[0], first_left + 100, first_left]],
        "profit_error_history": [], "win_bid_error_history": [], "history": history,
    }  # fmt: skip


def _call(tag: str, prompt: str, answer: str = "") -> dict[str, Any]:
    return {"tag": tag, "messages": [{"system": "Rules."}, {"human": prompt}], "result": answer}
