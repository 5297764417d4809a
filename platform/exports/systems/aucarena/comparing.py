"""AucArena's program and paper next to ours: defaults, items, table 2, figure 6, and the rate of failed bids."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from analysis.published.aucarena import corrected_failure_rate, printed
from exports.published import Analysed, Comparison, classes_in
from exports.systems.aucarena.reading import GAME, Auction, auctions, lines_of
from games import registry
from games.play import configure
from plans.library import ready_made

DEFAULTS: Mapping[str, tuple[float, str]] = {
    "Auctioneer.min_markup_pct": (0.1, "increment_percent"),
    "Auctioneer.enable_discount": (False, "discount_unsold"),
    "Bidder.overestimate_percent": (10, "overestimate_percent"),
    "Bidder.max_bid_cnt": (4, "rule_limit"),
    "Bidder.temperature": (0.7, "temperature"),
}
"""The program's defaults, as of January 2024, and our names of them."""
STANDARD, OBJECTIVES, ITEM_FILE = "aucarena-standard", "aucarena-objectives", "pseudo_items.jsonl"
TEMPERATURE = "the paper's experiments set the temperature to 0 (section 4.1)"
UNPUBLISHED = "the paper's auctions are not published"


def compared(root: Path, analysed: Analysed) -> Iterator[Comparison]:
    """Yield the values of the program and of the paper beside ours."""
    yield from _defaults(root)
    yield from _items(root)
    found = [auction for auction in auctions(root) if isinstance(auction, Auction)]
    cause = f"{UNPUBLISHED}; the folder has {len(found):,}" if found else UNPUBLISHED
    yield from _bidders(analysed, cause)
    yield from _faithful(analysed, cause)
    failures, answers = _failed_bids(found)
    rate = corrected_failure_rate(failures["GPT-4"], answers["GPT-4"])
    here = None if rate is None else 100 * rate
    yield Comparison(
        "Section 4.2: failed bids in percent", "GPT-4, the lowest", printed.LOWEST_FAILURES, here, 2, cause
    )


def _defaults(root: Path) -> Iterator[Comparison]:
    """Yield the defaults of the program, as its source below `root` has them, or else as we know them."""
    source = {name: value for name, (value, _ours) in DEFAULTS.items()} | _in_source(root)
    config = configure(registry.get(GAME), {}).config.model_dump()
    agents = ready_made("collections")[STANDARD].document["agents"]
    ours = {**config, "temperature": next(agent["temperature"] for agent in agents.values() if "model" in agent)}
    for name, (_value, key) in DEFAULTS.items():
        value = 100 * source[name] if key == "increment_percent" else source[name]
        yield Comparison("Defaults of the program", name, value, ours[key], cause=TEMPERATURE)


def _in_source(root: Path) -> dict[str, float]:
    found: dict[str, float] = {}
    for node in classes_in(root, {name.partition(".")[0] for name in DEFAULTS}):
        for line in node.body:
            if not isinstance(line, ast.AnnAssign | ast.Assign) or not isinstance(line.value, ast.Constant):
                continue
            target = line.target if isinstance(line, ast.AnnAssign) else line.targets[0]
            name = f"{node.name}.{target.id}" if isinstance(target, ast.Name) else ""
            if name in DEFAULTS and isinstance(line.value.value, int | float):
                found[name] = line.value.value
    return found


def _items(root: Path) -> Iterator[Comparison]:
    """Yield the start prices of the program's first items beside those of our preset, and their true values."""
    path = next(iter(sorted(root.rglob(ITEM_FILE))), None)
    if path is None:
        return
    listed = lines_of(path)
    ours = ready_made("collections")[OBJECTIVES].document["journey"][0]["config"]["items"]
    theirs, here = (Counter(item[key] for item in items) for items, key in (
        (listed[: len(ours)], "price"), (ours, "start_price")))  # fmt: skip
    for price in sorted({*theirs, *here}):
        what = f"items of the first {len(ours)} that start at {price:,}"
        yield Comparison("List of items", what, theirs[price], here[price])
    doubled = sum(item["true_value"] == 2 * item["price"] for item in listed)
    yield Comparison("List of items", "items whose true value is twice the start price", doubled, len(listed))


def _bidders(analysed: Analysed, cause: str) -> Iterator[Comparison]:
    rows = analysed.rows("aucarena.human", GAME, "bidders")
    # The order of items that are neither ascending nor descending is imported as listed.
    found = {(printed.name_of(row["player"]), str(row["order"]).replace("listed", "random")): row for row in rows}
    for bidder, by_order in printed.BIDDERS.items():
        for order, values in by_order.items():
            row: Mapping[str, Any] = found.get((bidder, order), {})
            for name, key, value in zip(("profit", "items"), ("estimate", "items"), values, strict=True):
                yield Comparison("Table 2: bidders", f"{bidder}, {order}, {name}", value, row.get(key), 1, cause)


def _faithful(analysed: Analysed, cause: str) -> Iterator[Comparison]:
    found = {printed.name_of(row["player"]): row for row in analysed.rows("aucarena.faithful", GAME, "correlations")}
    for model, values in printed.FAITHFUL.items():
        row: Mapping[str, Any] = found.get(model, {})
        for key, value in zip(printed.CORRELATIONS, values, strict=True):
            what = f"{model}, {key.replace('_', ' priority with ')}"
            yield Comparison("Figure 6: plans and behaviour", what, value, row.get(key), 4, cause)


def _failed_bids(found: list[Auction]) -> tuple[Counter[str], Counter[str]]:
    """Return by model the failed bids, which only the bidders' logs have, and the bids and withdrawals."""
    failures: Counter[str] = Counter()
    answers: Counter[str] = Counter()
    for auction in found:
        for bidder in auction.bidders:
            if bidder.log and (model := printed.name_of(bidder.player)):
                failures[model] += bidder.log["failed_bid_cnt"]
                answers[model] += sum(bidder.name in asked for sale in auction.sales for asked in sale.rounds)
    return failures, answers
