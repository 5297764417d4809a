"""Small synthetic records in the layouts of published systems, made by our own rules and scripts."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from exports.systems.econevals import instances
from games import registry
from games.play import Play, configure, script_move, start, submit
from games.pricing.market import PROGRAM_OUTSIDE

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


# ---- EconEvals -------------------------------------------------------------------------------------------

MODEL, SEED, PERIODS = "gpt-4o-2024-11-20", 2, 4


def econevals(root: Path) -> Path:
    """Write a short run of each of EconEvals' games."""
    for game, write in RUNS.items():
        write(root / game)
    return root


def _random_play(game: str, config: Mapping[str, Any]) -> Play:
    play, _events = start(configure(registry.get(game), config), 5)
    while not play.over:
        for role in play.waiting_for():
            play, _events = submit(play, role, script_move(play, role, "random"))
    return play


def _run(folder: Path, params: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> None:
    """Write a run as the program does: before each outcome, the log has a row of the call that it came from."""
    folder.mkdir(parents=True, exist_ok=True)
    write_csv(folder / "global_params.csv", [{"seed": SEED, "model": MODEL, "num_attempts": PERIODS, **params}])
    write_csv(folder / "logs.csv", [line for row in rows for line in ({"model": MODEL, "response": "A call."}, row)])


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write a table; a column that a row lacks is empty."""
    with path.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.DictWriter(opened, list(dict.fromkeys(name for row in rows for name in row)))
        writer.writeheader()
        writer.writerows(rows)


def _scheduling_run(folder: Path) -> None:
    rng = instances.np.random.RandomState(SEED)
    drawn = instances.preferences(rng, 10, 1, 1)
    play = _random_play("scheduling", {"instance": drawn, "periods": PERIODS})
    rows = []
    for attempt in play.state.attempts:
        pairs = play.state.instance.blocking_pairs(attempt.matching)
        told = [pairs[i] for i in rng.choice(range(len(pairs)), 1, replace=False)]
        rows.append({"matching": attempt.matching, "blocking_pairs": pairs, "blocking_pair": told})
    params = {"worker_prefs": drawn["worker_preferences"], "task_prefs": drawn["task_preferences"]}
    _run(folder, {**params, "score_gap_worker": 1, "score_gap_task": 1, "num_blocking_pairs": 1}, rows)


def _pricing_run(folder: Path) -> None:
    drawn, names = instances.market(SEED, "medium", PERIODS), [f"Product_{n}" for n in range(1, 5)]
    slopes = [drift["slope"] for drift in drawn["drifts"]]
    products = [
        {"id": name, "quality": quality, "cost": cost, "group": group, "alpha": {"start": start, "slope": slope}}
        for name, quality, cost, group, start, slope in zip(
            names, drawn["qualities"], drawn["costs"], drawn["groups"], drawn["starts"], slopes, strict=True)
    ]  # fmt: skip
    # The appeal of buying nothing that gives it the program's weight at sigma = 0.5.
    instance = {"products": products, "season": drawn["season"], "outside": PROGRAM_OUTSIDE}
    market = _random_play("pricing", {"level": "medium", "periods": PERIODS, "instance": instance}).state.instance
    rows = []
    for period in range(PERIODS):
        exact = {name: 10.004 + period for name in names}
        sold, earned = market.quantities(exact, period), market.profits(exact, period)
        rows.append({"prices": {name: round(price, 2) for name, price in exact.items()}}
                    | {key: {name: round(value, 2) for name, value in of.items()}
                       for key, of in (("quantities", sold), ("profits", earned))})  # fmt: skip
    _run(folder, {
        "product_ids": names, "mu": 1, "sigma": 0.5, "a0": 0, "a_tuple": tuple(drawn["qualities"]), "amplitudes": [],
        "alpha_list": [[a + b * t for a, b in zip(drawn["starts"], slopes, strict=True)] for t in range(PERIODS)],
        "multiplier_list": [100.0] * PERIODS, "costs": dict(zip(names, drawn["costs"], strict=True)), "slopes": slopes,
        "group_idxs": drawn["groups"], "period_length": drawn["season"], "env_type": "EnvType.LINEAR_SHIFTS",
    }, rows)  # fmt: skip


def _procurement_run(folder: Path) -> None:
    drawn, names = instances.offers(SEED, "basic"), "ABC"
    groups = [[f"{letter}{n}" for n in range(1, 5)] for letter in names]
    offers = [
        {"id": name, "contents": offer["contents"], "price": offer.get("cost") or offer["variable_cost"],
         "minimum": offer.get("min_quantity"), "upfront": offer.get("fixed_cost")}
        for name, offer in drawn["offers"].items()
    ]  # fmt: skip
    instance = {"categories": groups, "effectiveness": drawn["effectiveness"], "offers": offers, "budget": 0}
    rules = configure(registry.get("procurement"), {"instance": instance})
    instance["budget"] = round(rules.config.instance.cost(drawn["purchase"]) + 0.5, 2)
    play = _random_play("procurement", {"instance": instance, "periods": PERIODS})
    rows = [{"alloc": dict.fromkeys(drawn["offers"], 0) | past.plan, "cost": past.cost, "utility": past.workers or 0,
             "is_feasible": past.workers is not None} for past in play.state.purchases]  # fmt: skip
    _run(folder, {
        "menu": drawn["offers"], "item_groups": groups, "item_to_effectiveness": drawn["effectiveness"],
        "budget": instance["budget"], "start_alloc": drawn["purchase"], "opt_utility": play.state.optimum,
        "agg_type": "prod", "prompt_type": "v1_known_horizon",
    }, rows)  # fmt: skip


def _task_allocation_run(folder: Path) -> None:
    drawn = instances.tasks(SEED, 4, PERIODS, 18, 1)
    names = [f"T{n}" for n in range(1, 4 * PERIODS + 1)]
    sizes = [[drawn["sizes"][name] for name in names[t : t + 4]] for t in range(0, len(names), 4)]
    instance = {"productivities": drawn["productivities"], "tasks": sizes}
    play = _random_play("task_allocation", {"instance": instance, "periods": PERIODS})
    metrics, rows, pay = play.metrics(), [], dict.fromkeys(drawn["productivities"], 0)
    for row in play.state.assignments:
        for task, worker in row.items():
            pay[worker] += drawn["sizes"][task]
        revenue = sum(drawn["sizes"][task] * drawn["productivities"][worker] for task, worker in row.items())
        rows.append({"alloc": row, "company_revenue": revenue,
                     "worker_inequality": max(pay.values()) - min(pay.values())})  # fmt: skip
    _run(folder, {
        "num_workers": 4, "num_periods": PERIODS, "task_ids": names, "task_id_to_task_size": drawn["sizes"],
        "prompt_type": "main_reasoning", "worker_id_to_productivities": drawn["productivities"], "worker_wage": 1,
        "worker_productivity_gap": 18, "company_revenue_in_max_efficiency": metrics["best_revenue"],
        "company_revenue_in_max_equality": metrics["equal_revenue"],
        "worker_inequality_in_max_efficiency": metrics["inequality_at_best"],
    }, rows)  # fmt: skip


def _duopoly_run(folder: Path) -> None:
    play = _random_play("duopoly", {"periods": PERIODS, "alpha": 3.2})
    rows, found, metrics = [], play.records(), play.metrics()
    for first, second in zip(found[::2], found[1::2], strict=True):
        rows.append({
            "prices": [first["price"], second["price"]],
            "quantities": [round(row["quantity"], 2) for row in (first, second)],
            "profits": [round(row["payoff"] / 3.2, 2) for row in (first, second)],
        })  # fmt: skip
    _run(folder, {
        "alpha": 3.2, "full_alpha": (3.2, 3.2), "a": (2, 2), "a0": 0, "c": (1, 1), "mu": 0.25, "multiplier": 100,
        "sigma": 0, "monopoly_price": metrics["collusive_price"], "nash_price": metrics["nash_price"],
    }, rows)  # fmt: skip


def _patience_run(folder: Path) -> None:
    folder = folder / "2trials__1.0_temperature__choice__one_year"
    folder.mkdir(parents=True)
    letters = {110: "BABA", 105: "BxAB"}
    now = {amount: sum(a == b for a, b in zip(found, "AABB", strict=True)) for amount, found in letters.items()}
    counts = [{"model": MODEL, "value": amount, "preferred_100_count": count} for amount, count in now.items()]
    write_csv(folder / "high_level_results.csv", counts)
    write_csv(folder / f"{MODEL}_logs.csv", [{"model": MODEL, "response": f"<answer>{letter}</answer>"}
                                   for found in letters.values() for letter in found])  # fmt: skip


RUNS = {
    "duopoly": _duopoly_run, "patience": _patience_run, "pricing": _pricing_run, "procurement": _procurement_run,
    "scheduling": _scheduling_run, "task_allocation": _task_allocation_run,
}  # fmt: skip
"""What writes a run of each game to a folder."""
