"""AucArena's record of one auction: a memo, the log of each bidder, and the list of items.

The memo has every bid in words and the profits. A bidder's log has its settings, plans, prompts and answers, from which
its plans, belief reports and failed bids are read. docs/published.md describes the files.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import count, pairwise
from pathlib import Path
from typing import Any

from exports.published import (
    Disagreement,
    Imported,
    Unreadable,
    UnreadableRecord,
    differing,
    imported,
    read_or_said,
)
from games import registry
from games.interface import Json, MoveData, Role
from games.play import Play, configure, replay_moves

GAME = "item_auction"
MEMOS, ITEMS = "memo-*.json", "items_demo.jsonl"
GOALS: Mapping[str, str] = {"maximize_profit": "profit", "maximize_items": "items"}
PLANNER = "adaptive"
"""The kind of planning that a player's name does not mention."""
_ITEM = re.compile(r"### \d+\. (.+), starting at \$(\d+)\.")
_ROUND = re.compile(r"#### \d+[a-z]+ bid:")
_ANSWER = re.compile(r"\* (.+): (?:\$(\d+)|Withdrew)")
_HAMMER, _SOLD, _NOBODY = "#### Hammer price (true value):", re.compile(r"\* (.+): \$(\d+) \(\$(\d+)\)"), "* None bid"
_REPORT = re.compile(r"\* (.+), starting with \$(\d+), has won (\d+) items")
_FAILED, _UNCLEAR = re.compile(r"Your bid of \$(\d+) failed"), "You must be clear about your bidding decision"


@dataclass
class Sale:
    """The sale of an item.

    Attributes:
        rounds: each bidder's bid, or None if it withdrew, round by round.
        start_price: before discounts.
        worth: the true value; None if the item was not sold.
    """

    item: str
    start_price: int
    rounds: list[dict[str, int | None]] = field(default_factory=list)
    discounts: int = 0
    over: bool = False
    buyer: str | None = None
    price: int | None = None
    worth: int | None = None


def sales_in(log: str) -> list[Sale]:
    """Return the sales in an auction's log, in order; one that continues at a discount is one sale."""
    sales: list[Sale] = []
    for line in filter(None, map(str.strip, log.splitlines())):
        sale = sales[-1] if sales else None
        if found := _ITEM.fullmatch(line):
            if sale is None or sale.over:
                sales.append(Sale(found[1], int(found[2])))
            elif sale.item == found[1]:
                sale.discounts += 1
            else:
                raise UnreadableRecord(f"The sale of “{sale.item[:60]}” has no end.")
        elif sale is None or line.startswith("## "):
            continue
        elif _ROUND.fullmatch(line):
            sale.rounds.append({})
        elif line == _HAMMER:
            sale.over = True
        elif sale.over and line != _NOBODY and (found := _SOLD.fullmatch(line)):
            sale.buyer, sale.price, sale.worth = found[1], int(found[2]), int(found[3])
        elif not sale.over and sale.rounds and (found := _ANSWER.fullmatch(line)):
            sale.rounds[-1][found[1]] = int(found[2]) if found[2] else None
        elif not sale.over or line != _NOBODY:
            raise UnreadableRecord(f"The auction's log has a line that is not as expected: “{line[:60]}”.")
    if not sales or not sales[-1].over:
        raise UnreadableRecord("The auction's log has no end.")
    return sales


@dataclass(frozen=True)
class Bidder:
    """A bidder and what its log says of it; `log` is empty if there is none."""

    name: str
    role: Role
    model: str
    budget: int
    log: Mapping[str, Any]

    @property
    def player(self) -> str:
        """Its model and, unless it plans adaptively, its kind of planning; "human" for a person."""
        model = "human" if "human" in self.model else self.model
        kind = self.log.get("plan_strategy") or PLANNER
        return model if kind == PLANNER or model in ("human", "rule") else f"{model} ({kind})"

    def calls(self, task: str) -> Iterator[tuple[int, str, str]]:
        """Yield (index of the item, last prompt, answer) of the calls for one task: plan, bid or summarize."""
        for call in self.log.get("history", ()):
            tag, _, index = call["tag"].rpartition("_")
            if tag == task:
                yield int(index), next(iter(call["messages"][-1].values())), call["result"]

    @cached_property
    def plans(self) -> dict[int, dict[str, Any]]:
        """Its plans by number of items that are over."""
        entries = [(label, json.loads(plan)) for label, _changed, plan in self.log.get("changes_of_plan", ()) if plan]
        return {int(label.split()[0]): plan for label, plan in entries}

    @cached_property
    def beliefs(self) -> dict[int, dict[str, Any]]:
        """Its first report after each item, if well formed, by number of items that are over."""
        found = {index + 1: last_object(answer) for index, _prompt, answer in self.calls("summarize")}
        return {index: report for index, report in found.items() if _is_report(report)}

    @cached_property
    def refused(self) -> dict[tuple[int, int], list[int]]:
        """Its refused bids by index of the item and number of its answer on it, from 0."""
        found: dict[tuple[int, int], list[int]] = defaultdict(list)
        asked: dict[int, int] = {}
        for index, prompt, _answer in self.calls("bid"):
            if failed := _FAILED.match(prompt):
                found[index, asked[index]].append(int(failed[1]))
            elif not prompt.startswith(_UNCLEAR):
                asked[index] = asked.get(index, -1) + 1
        return found


def last_object(text: str) -> dict[str, Any]:
    """Return the last JSON object in a text; {} if there is none."""
    decoder, start = json.JSONDecoder(), text.find("{")
    found: dict[str, Any] = {}
    while start >= 0:
        try:
            found, end = decoder.raw_decode(text, start)
        except ValueError:
            end = start + 1
        start = text.find("{", end)
    return found


@dataclass(frozen=True)
class Auction:
    """One auction in its files.

    Attributes:
        items: the entries of the list of items by name.
    """

    name: str
    repetition: int
    memo: Mapping[str, Any]
    sales: Sequence[Sale]
    bidders: Sequence[Bidder]
    items: Mapping[str, Mapping[str, Any]]

    @classmethod
    def of(cls, root: Path, path: Path) -> Auction:
        """Return the auction of a memo."""
        memo, number = json.loads(path.read_text("utf-8")), path.stem.removeprefix("memo-")
        reports = {found[1]: found for report in memo["memo_text"] if (found := _REPORT.match(report))}
        if missing := [name for name in memo["model_info"] if name not in reports]:
            raise UnreadableRecord(f"memo_text has no report of {missing[0][:60]}.")
        bidders = [
            Bidder(name, f"p{seat}", model, int(reports[name][2]), _log(path.parent, name, number))
            for seat, (name, model) in enumerate(memo["model_info"].items(), start=1)
        ]
        folders = [path.parent, *(folder for folder in path.parent.parents if folder.is_relative_to(root))]
        listed = next((folder / ITEMS for folder in folders if (folder / ITEMS).is_file()), None)
        items = {item["name"]: item for item in lines_of(listed)} if listed else {}
        name = path.relative_to(root).with_suffix("").as_posix()
        return cls(name, int(number) + 1, memo, sales_in(memo["auction_log"]), bidders, items)

    @cached_property
    def roles(self) -> dict[str, Role]:
        return {bidder.name: bidder.role for bidder in self.bidders}

    @cached_property
    def config(self) -> dict[str, Json]:
        """Our configuration, in which items are listed in their order of sale."""
        prices = [sale.start_price for sale in self.sales]
        orders = {"ascending": sorted(prices), "descending": sorted(prices, reverse=True)}
        return {
            "players": len(self.bidders),
            "items": [
                {
                    "name": sale.item,
                    "description": self.items.get(sale.item, {}).get("desc", ""),
                    "start_price": sale.start_price,
                    "true_value": self.items.get(sale.item, {}).get("true_value") if sale.worth is None else sale.worth,
                }
                for sale in self.sales
            ],
            "order": next((order for order, as_sorted in orders.items() if prices == as_sorted), "listed"),
            **_by_seat("budget", [bidder.budget for bidder in self.bidders]),
            **_by_seat("overestimate_percent", [bidder.log.get("overestimate_percent", 10) for bidder in self.bidders]),
            "objectives": [GOALS[bidder.log.get("desire") or "maximize_profit"] for bidder in self.bidders],
            "tie_leaders": [*self._leaders()] or None,
            "discount_unsold": any(sale.discounts for sale in self.sales),
        }

    @cached_property
    def remark(self) -> str | None:
        """What had to be assumed or left out; None if nothing."""
        remarks = []
        if lacking := [bidder.name for bidder in self.bidders if not bidder.log and bidder.model != "rule"]:
            remarks.append(f"No log of {', '.join(lacking)}: goal and overestimate are taken to be the usual ones")
        if unknown := [sale.item for sale in self.sales if sale.worth is None and sale.item not in self.items]:
            remarks.append(f"The true value of {', '.join(unknown)} is taken to be twice the start price")
        if self._left_out:
            remarks.append(f"Entries of plans left out (no such item, or no priority from 1 to 3): {self._left_out}")
        return ". ".join(remarks) + "." if remarks else None

    # ---- moves -------------------------------------------------------------------------------------------

    @cached_property
    def _notes(self) -> tuple[dict[tuple[int, Role], list[MoveData]], int]:
        """Plans and reports by number of items that are over and role, and the number of entries left out."""
        found: dict[tuple[int, Role], list[MoveData]] = defaultdict(list)
        names, left_out = {sale.item for sale in self.sales}, 0
        for bidder in self.bidders:
            for over, report in bidder.beliefs.items():
                found[over, bidder.role].append({
                    "remaining_budget": report["remaining_budget"],
                    **{key: _by_role(report[key], self.roles) for key in ("total_profits", "winning_bids")},
                })  # fmt: skip
            for over, plan in bidder.plans.items():
                priorities = {item: value for item, value in plan.items() if item in names and value in (1, 2, 3)}
                left_out += len(plan) - len(priorities)
                found[over, bidder.role].append({"priorities": priorities})
        return found, left_out

    @property
    def _left_out(self) -> int:
        return self._notes[1]

    def moves(self) -> Iterator[tuple[Role, MoveData]]:
        """Yield all moves in order: before the bids on an item, the plans and reports made since the item before."""
        notes = self._notes[0]
        for over, sale in enumerate(self.sales):
            for role in self.roles.values():
                yield from ((role, note) for note in notes.get((over, role), ()))
            for answers in sale.rounds:
                yield from ((role, {"bid": answers[name]}) for name, role in self.roles.items() if name in answers)

    def _leaders(self) -> Iterator[int]:
        """Yield the number of the seat that leads after each tie: who is tied and not asked in the next round."""
        for sale in self.sales:
            for answers, following in pairwise(sale.rounds):
                highest = max((bid for bid in answers.values() if bid is not None), default=None)
                tied = [name for name, bid in answers.items() if bid is not None and bid == highest]
                if len(tied) > 1:
                    leaders = [name for name in tied if name not in following]
                    if len(leaders) != 1:
                        raise UnreadableRecord(f"The log of “{sale.item[:60]}” does not tell who leads after a tie.")
                    yield [*self.roles].index(leaders[0]) + 1

    # ---- playing it again --------------------------------------------------------------------------------

    def imported(self) -> Imported:
        play, events = replay_moves(configure(registry.get(GAME), self.config), 0, self.moves())
        players = {bidder.role: bidder.player for bidder in self.bidders}
        about = {"unverified": self.remark, "repetition": self.repetition}
        return imported(self.name, play, events, players, self._disagreements, **about)

    def _disagreements(self, play: Play) -> Iterator[Disagreement]:
        """Yield what the memo and the bidders' logs say otherwise."""
        metrics, rows = play.metrics(), play.records()
        for sale, row in zip(self.sales, rows[:: len(self.bidders)], strict=True):
            buyer = None if sale.buyer is None else self.roles.get(sale.buyer, sale.buyer)
            yield from differing(f"buyer of {sale.item}", buyer, row["winner"])
            yield from differing(f"price of {sale.item}", sale.price, row["price"])
        reports = dict(zip(self.roles, map(_REPORT.match, self.memo["memo_text"]), strict=False))
        for bidder in self.bidders:
            role, log, report = bidder.role, bidder.log, reports[bidder.name]
            yield from differing(f"profit of {role}", self.memo["profit"][bidder.name], metrics[f"{role}_profit"])
            if report is not None:
                yield from differing(f"items of {role}", int(report[3]), metrics[f"{role}_items"])
            if not log:
                continue
            left = bidder.budget - metrics[f"{role}_spent"]
            yield from differing(f"money left of {role}", log["money_left"], left)
            yield from differing(f"bids of {role}", log["engagement_count"], metrics[f"{role}_bids"])
            yield from self._of_refused(bidder)
            yield from self._of_beliefs(bidder, rows)

    def _of_refused(self, bidder: Bidder) -> Iterator[Disagreement]:
        """Yield the number of failed bids if the prompts show another, and refused bids that our rules allow."""
        role, refused = bidder.role, bidder.refused
        counted = sum(map(len, refused.values()))
        yield from differing(f"failed bids of {role}", bidder.log["failed_bid_cnt"], counted)
        rules: Any = configure(registry.get(GAME), self.config)
        spent = 0
        for index, sale in enumerate(self.sales):
            standing, answered, price = None, count(), sale.start_price
            for number, answers in enumerate(sale.rounds):
                if number and standing is None:
                    price = max(1, price // 2)
                lowest = price if standing is None else standing + max(1, price * rules.config.increment_percent // 100)
                if bidder.name in answers:
                    for bid in refused.get((index, next(answered)), ()):
                        if lowest <= bid <= bidder.budget - spent:
                            yield Disagreement(f"bid of {role} on {sale.item}", f"{bid} refused", "allowed")
                standing = max([bid for bid in answers.values() if bid is not None], default=standing)
            spent += sale.price or 0 if sale.buyer == bidder.name else 0

    def _of_beliefs(self, bidder: Bidder, rows: Sequence[Mapping[str, Json]]) -> Iterator[Disagreement]:
        """Yield what a bidder's errors give as the truth, if ours differs, and wrong reports that are none of them."""
        role, log, truth = bidder.role, bidder.log, _truth(rows)
        for item, _believed, true in log["budget_error_history"]:
            yield from differing(f"money left of {role} after {item}", true, truth[item, role][0])
        for place, what, errors in ((1, "profit", "profit_error_history"), (2, "items", "win_bid_error_history")):
            for label, _believed, true in log[errors]:
                name, _, item = label[:-1].partition(" (")
                of = self.roles.get(name, role)
                yield from differing(f"{what} of {of} after {item}", true, truth[item, of][place])
        in_error = {item for item, _believed, _true in log["budget_error_history"]}
        for over, sale in enumerate(self.sales, start=1):
            left = truth[sale.item, role][0]
            believed = bidder.beliefs.get(over, {}).get("remaining_budget", left)
            if believed != left and sale.item not in in_error:
                yield Disagreement(
                    f"money left as reported by {role} after {sale.item}", "true", f"{believed}, not {left}"
                )


def _truth(rows: Sequence[Mapping[str, Json]]) -> dict[tuple[str, Role], tuple[int, int, str]]:
    """Return everybody's money left, profit and items after each item."""
    profits: Counter[Role] = Counter()
    won: dict[Role, list[str]] = defaultdict(list)
    truth = {}
    for row in rows:
        role = row["role"]
        profits[role] += row["payoff"]
        if row["winner"] == role:
            won[role].append(row["item"])
        truth[row["item"], role] = (row["budget_left"], profits[role], ", ".join(won[role]))
    return truth


def _by_seat(key: str, values: Sequence[int]) -> dict[str, Json]:
    """Return one value if all seats have the same, or else one for each seat."""
    return {key: values[0]} if len(set(values)) == 1 else {f"{key}s": [*values]}


def _by_role(entries: Mapping[str, Any], roles: Mapping[str, Role]) -> dict[Role, Any]:
    return {roles[name]: value for name, value in entries.items() if name in roles}


def _is_report(report: Mapping[str, Any]) -> bool:
    """Whether the program would compare a belief report with the truth."""
    profits, won = report.get("total_profits"), report.get("winning_bids")
    if not isinstance(profits, dict) or not isinstance(won, dict):
        return False
    if not all(isinstance(prices, dict) for prices in won.values()):
        return False
    numbers = [
        report.get("remaining_budget"),
        *profits.values(),
        *(p for prices in won.values() for p in prices.values()),
    ]
    return all(isinstance(number, int | float) for number in numbers)


def lines_of(path: Path) -> list[Any]:
    """Return the JSON values of a file with one on each line."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def _log(folder: Path, name: str, number: str) -> Mapping[str, Any]:
    """Return the last line of a bidder's log; {} if there is none."""
    path = folder / f"{name.replace(' ', '')}-{number}.jsonl"
    return lines_of(path)[-1] if path.is_file() else {}


def auctions(root: Path) -> Iterator[Auction | Unreadable]:
    """Yield the auctions below `root`, in order of their paths."""
    list(root.iterdir())
    for path in sorted(root.rglob(MEMOS)):
        yield read_or_said(path.relative_to(root).as_posix(), partial(Auction.of, root, path))


def read(root: Path) -> Iterator[Imported | Unreadable]:
    """Yield every auction below `root`, replayed under our rules."""
    for auction in auctions(root):
        if isinstance(auction, Unreadable):
            yield auction
        else:
            yield read_or_said(f"{auction.name}.json", auction.imported)
