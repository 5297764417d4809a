"""Anchoring, counts of data, attention checks, and comparisons of play with theory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from analysis.data import Data
from analysis.errors import SkippedError
from analysis.frames import UNITS, by_group, grouped, level_text, mean_of, share_of, with_dependence, with_holm
from analysis.options import Options
from analysis.published.glee import printed
from analysis.published.glee.families import FAMILIES, FAMILY, HUMAN, REQUIRED_COLUMNS, families, frame, of_families
from analysis.results import Result
from analysis.tables import Chart, Table, count, number, numbers, records, share, text
from analysis.toolbox import correlation_difference, pearson, proportion
from games.bargaining.equilibrium import proposer_share

WHO = {(False, True): "human Bob", (True, False): "human Alice", (True, True): "people only",
       (False, False): "agents only"}  # fmt: skip
"""Names of matches by whether Alice is human and whether Bob is."""
PEOPLE = {"participants": ["check_code_word_passed", "check_quiz_passed"]}


@of_families(
    "glee.anchoring", "First offers as anchors (GLEE, question 3)", "Do first offers anchor the final agreement?",
    "Pearson's correlation of Alice's share in the first offer with her final self-gain in bargaining, by "
    "which side is human; the difference is tested with Fisher's z.",
    needs="both", games=("bargaining",),
    columns={**REQUIRED_COLUMNS, "decisions": ["match", "move_number", "move_alice_gain"]},
)  # fmt: skip
def anchoring(data: Data, options: Options) -> Result:
    rows = frame(data, "bargaining")
    first = data.table("decisions", ["match", "move_number", "move_alice_gain"])
    first = first[first["move_alice_gain"].notna()].sort_values("move_number", kind="stable").drop_duplicates("match")
    rows["first"] = rows["match"].map(first.set_index("match")["move_alice_gain"]) / rows["config_money"]
    is_human = zip(rows["alice"] == HUMAN, rows["bob"] == HUMAN, strict=True)
    rows["who"] = pd.Categorical([WHO[sides] for sides in is_human], [*WHO.values()])
    found = with_holm(by_group(rows, ["who"], lambda matches: pearson(
        matches["first"].tolist(), matches["alice_self_gain"].tolist(), level=options.level,
    ) if len(matches) else None))  # fmt: skip
    found = found.assign(published=found["who"].map(printed.ANCHORING))
    sides = {row["who"]: (row["estimate"], row["n"]) for row in records(found)}
    difference = correlation_difference(*sides.get("human Bob", (None, 0)), *sides.get("human Alice", (None, 0)))
    tables = [
        Table("correlations", "Correlation of Alice's share in the first offer with her final self-gain",
              [text("who", "Who is human"), number("estimate", "Pearson's r"), "low", "high", "p", "p_holm",
               count("n", "Matches"), number("published", "Published")],
              found, note="Without an agreement, the self-gain is 0.",
              charts=[Chart("scatter", name="offers", title="First offer and Alice's final self-gain", x="first",
                            y="alice_self_gain", facet="who",
                            rows=rows[["first", "alice_self_gain", "who"]].astype({"who": "str"}),
                            titles={"x": "Alice's share in the first offer", "y": "Alice's self-gain"})]),
        Table("difference", "Difference in correlation: human Bob minus human Alice",
              [number("z", "z"), "p", text("note", "Note")], [{"note": "", **difference}]),
    ]  # fmt: skip
    of_sides = numbers(found.assign(key=found["who"].str.replace(" ", "_")), "{key}")
    return Result(tables, numbers={**of_sides, "difference": {"estimate": difference["z"], "p": difference["p"]}})


COUNTED = ("games", "decisions", "messages", "words")


@of_families(
    "glee.counts", "Amount of data (GLEE, tables 6 and 7)", "How much data is there?",
    "Counts by family; configurations and games with people by kind of cell.",
)  # fmt: skip
def counts(data: Data, options: Options) -> Result:
    totals, kinds = [], []
    for family in families(data):
        rows = frame(data, family)
        found = {"games": len(rows), **{name: int(rows[name].fillna(0).sum()) for name in ("decisions", "messages")
                                        if name in rows}}  # fmt: skip
        if data.has("messages", "match", "words"):
            texts = data.table("messages", ["match", "words"])
            found["words"] = int(texts["words"][texts["match"].isin(rows["match"])].sum())
        published = zip(COUNTED, printed.COUNTS[family], strict=True)
        totals.append({"family": FAMILIES[family].title, **dict.fromkeys(COUNTED), **found,
                       **{f"published_{name}": value for name, value in published}, "key": family})  # fmt: skip
        kinds.append(_cells(data, family))
    of_families = pd.DataFrame(totals)
    tables = [Table(
        "families", "Games, decisions, messages and words (table 6)",
        [FAMILY, *(column for name in COUNTED for column in (
            count(name, name.capitalize()), count(f"published_{name}", f"{name.capitalize()}, published")))],
        of_families.drop(columns="key"),
    )]  # fmt: skip
    cells = pd.concat(kinds, ignore_index=True)
    if len(cells):
        tables.append(Table(
            "cells", "Configurations and games with people by kind of cell (table 7)",
            [FAMILY, text("kind", "Kind"), count("configurations", "Configurations"),
             count("published_configurations", "Published"), count("games", "Games"),
             count("fewest", "Fewest in one"), count("most", "Most in one"),
             count("published_games", "Published in each")],
            cells, note="A configuration counts once for each role that people played in it.",
        ))  # fmt: skip
    games = of_families["games"]
    return Result(tables, numbers=numbers(of_families.assign(estimate=games, n=games), "{key}"))


def _cells(data: Data, family: str) -> pd.DataFrame:
    """Return the numbers of configurations (by the person's role) and of games with people, by kind of cell."""
    if not data.has("matches", "cell_kind", "cell", "version"):
        return pd.DataFrame()

    def counted(games: pd.DataFrame) -> dict[str, Any]:
        sizes = games.groupby(["version", "cell"]).size()
        published = printed.CELLS.get((family, str(games["kind"].iloc[0])), (None, None))
        return {"configurations": len(sizes), "games": len(games), "fewest": int(sizes.min()), "most": int(sizes.max()),
                "published_configurations": published[0], "published_games": published[1]}  # fmt: skip

    rows = data.table("matches", ["game", "cell_kind", "cell", "version"]).rename(columns={"cell_kind": "kind"})
    rows = rows[(rows["game"] == family) & (data.players_by_role == HUMAN).any(axis=1) & rows["kind"].notna()]
    kinds = sorted(set(rows["kind"]), key=lambda kind: (KINDS.index(kind) if kind in KINDS else 9, kind))
    found = by_group(rows.assign(kind=pd.Categorical(rows["kind"], kinds)), ["kind"], counted)
    return found.assign(family=FAMILIES[family].title)


KINDS = ("main", "variant", "random")


@of_families(
    "glee.checks", "Attention checks (GLEE, appendix E.3)", "Who fails the checks?",
    "Share of participants who failed the code word, among those who began, and the quiz, among those who "
    "answered it, with Wilson intervals.",
    needs="people", columns=PEOPLE,
)  # fmt: skip
def checks(data: Data, options: Options) -> Result:
    rows = data.table("participants", [*PEOPLE["participants"]]).astype("boolean")
    word, quiz = (~rows[name] for name in PEOPLE["participants"])
    family = data.games[0] if len(data.games) == 1 else "all"
    began = word.notna()
    found = [
        {"check": check, "of": among, "failed": int(failed.sum()),
         **proportion(int(failed.sum()), int(failed.notna().sum()), level=options.level), "published": published}
        for check, among, failed, published in (
            ("Code word", "those who began", word, printed.CHECKS["code_word"]),
            (f"Quiz, {family}", "those who answered it", quiz, printed.CHECKS.get(family)),
            ("Either", "those who began", (word | quiz).fillna(False)[began], printed.CHECKS["either"]),
        )
    ]  # fmt: skip
    table = Table(
        "failed", "Participants who failed a check",
        [text("check", "Check"), text("of", "Among"), count("failed", "Failed"), "n", share("estimate", "Share"),
         "low", "high", text("published", "Published")],
        found, note="Published for the quiz, all families: " + printed.CHECKS["all"] + ".",
    )  # fmt: skip
    keys = table.frame["check"].str.partition(",")[0].str.lower().str.replace(" ", "_")
    return Result([table], numbers=numbers(table.frame.assign(key=keys), "{key}"),
                  n={"matches": 0, "people": len(rows), "decisions": 0})  # fmt: skip


@of_families(
    "glee.rationality", "Play compared with theory (GLEE's games)",
    "How far is play from theoretical predictions?",
    "Bargaining: agreed share minus equilibrium share. Negotiation: price relative to both values. "
    "Persuasion: share bought by quality and by recommendation. Means over matches and shares of "
    f"matches, with intervals over independent units. {UNITS}",
)  # fmt: skip
def rationality(data: Data, options: Options) -> Result:
    compare = {"bargaining": _bargains, "negotiation": _prices, "persuasion": _trust}
    tables: list[Table] = []
    found: dict[str, Any] = {}
    for family in families(data):
        table, of_family = compare[family](data, frame(data, family), options)
        tables.append(table)
        found |= of_family
    return Result(tables, numbers=found)


FamilyResult = tuple[Table, dict[str, Any]]
BY, LEVEL = text("by", "By"), text("level", "Level")


def _bargains(data: Data, rows: pd.DataFrame, options: Options) -> FamilyResult:
    """Return Alice's agreed share minus her equilibrium share, by horizon and player."""
    if not data.has("matches", "alice_share"):
        raise SkippedError("The table matches has no column alice_share.")
    shares = data.table("matches", ["match", "alice_share"]).set_index("match")["alice_share"]
    rows["difference"] = rows["match"].map(shares) - equilibrium_shares(rows)
    rows["horizon"] = rows["config_rounds"].map(level_text).replace({"none": "∞"})
    agreed = rows[rows["difference"].notna()]
    title = "Alice's agreed share minus her equilibrium share"
    table = Table(
        "bargaining", title, [BY, LEVEL, count("n", "Matches"), number("estimate", "Mean"), "low", "high", "note"],
        pd.concat([
            by_group(agreed.rename(columns={key: "level"}), ["level"],
                     lambda matches: mean_of(matches, "difference", level=options.level)).assign(by=heading)
            for heading, key in (("Horizon", "horizon"), ("Alice", "alice"), ("Bob", "bob"))
        ], ignore_index=True),
        note="Shares of the undiscounted money, in matches with an agreement; the equilibrium assumes complete "
        "information and rational players.",
        charts=[_density(agreed, "difference", title, "Difference in shares", {"equilibrium": 0.0})] if len(agreed)
        else [],
    )  # fmt: skip
    return table, {"bargaining.difference": mean_of(agreed, "difference", level=options.level)}


def equilibrium_shares(rows: pd.DataFrame) -> list[float]:
    """Return Alice's equilibrium share under each match's configuration; she proposes first."""
    names = ("config_delta_alice", "config_delta_bob", "config_rounds")
    parameters = (rows[name].astype("Float64").astype("float64").tolist() for name in names)
    return [proposer_share(alice, bob, None if rounds != rounds else int(rounds))
            for alice, bob, rounds in zip(*parameters, strict=True)]  # fmt: skip


def _density(rows: pd.DataFrame, name: str, title: str, heading: str, lines: dict[str, float]) -> Chart:
    return Chart("histogram", x=name, rows=rows[[name]], title=title, titles={"x": heading}, lines=lines, bins=24)


PRICES = ("within both values", "below the seller's value", "above the buyer's value", "between crossed values",
          "no trade")  # fmt: skip


def _prices(data: Data, rows: pd.DataFrame, options: Options) -> FamilyResult:
    """Return where prices lie relative to the seller's value (0) and the buyer's value (1)."""
    if not data.has("matches", "price", "trade"):
        raise SkippedError("The table matches lacks the column price or trade.")
    price = rows["match"].map(data.table("matches", ["match", "price"]).set_index("match")["price"])
    seller = rows["config_scale"] * rows["config_seller_factor"]
    buyer = rows["config_scale"] * rows["config_buyer_factor"]
    low, high = price < seller, price > buyer
    within = price.between(seller, buyer)
    where = np.select([low & high, high, low, within], [PRICES[3], PRICES[2], PRICES[1], PRICES[0]], PRICES[4])
    gains = np.select([buyer > seller, buyer == seller], ["gains from trade", "equal values"], "no gains from trade")
    rows = rows.assign(where=where, gains=gains, position=(price - seller) / (buyer - seller))
    found = []
    for of, matches in grouped(rows, "gains"):
        for place in PRICES:
            here = matches.assign(here=(matches["where"] == place).astype(float))
            found.append({"gains": of, "where": place, "k": int(here["here"].sum()),
                          **share_of(here, "here", level=options.level)})  # fmt: skip
    placed = rows[price.notna() & (buyer > seller)]
    title = "Prices relative to the seller's value (0) and the buyer's value (1)"
    lines = {"seller's value": 0.0, "buyer's value": 1.0}
    table = Table(
        "negotiation", "Prices relative to both values",
        [text("gains", "Values"), text("where", "Price"), count("k", "Matches"), share("estimate", "Share"), "low",
         "high", count("n", "of"), "note"],
        found,
        charts=[_density(placed, "position", title, "Price, relative to the values", lines)] if len(placed) else [],
    )  # fmt: skip
    return table, {"negotiation.position": mean_of(placed, "position", level=options.level)}


def _trust(data: Data, rows: pd.DataFrame, options: Options) -> FamilyResult:
    """Return how often high- and low-quality products were bought, overall and after each recommendation."""
    markets = ["config_message_type", "config_buyer_type"]
    labels = rows[markets].map(lambda value: level_text(value).replace("_", "-")).agg(" · ".join, axis=1)
    bought = {"high": rows["efficiency"], "low": 1 - rows["fairness"]}
    qualities = pd.concat([rows.assign(by="quality", level=quality, where=labels, bought=share)
                           for quality, share in bought.items()])  # fmt: skip
    parts = [qualities.dropna(subset=markets).sort_values(markets, kind="stable")]
    if data.has("decisions", "match", "move_number", "move_recommendation", "move_decision"):
        parts.append(_after_recommendations(data, rows).assign(by="recommendation", where="binary"))
    found = pd.concat([
        by_group(part, ["by", "where", "level"], lambda matches: mean_of(matches, "bought", level=options.level),
                 sort=False)
        for part in parts
    ], ignore_index=True)  # fmt: skip
    table = Table(
        "persuasion", "Share of rounds in which the buyer bought",
        [BY, LEVEL, text("where", "Messages · buyer"), count("n", "Matches"), share("estimate", "Share bought"), "low",
         "high", "note"],
        found,
        note="Mean over matches; shares are of each match's rounds with that quality or recommendation.",
        charts=[Chart("dots", title="Share bought by quality and recommendation", y="where", colour="what",
                      rows=found.assign(what=found["by"] + ": " + found["level"]),
                      titles={"x": "Share of rounds in which the buyer bought"})],
    )  # fmt: skip
    return table, numbers(found, "persuasion.{by}.{level}.{where}")


def _after_recommendations(data: Data, rows: pd.DataFrame) -> pd.DataFrame:
    """Return each match's share `bought` after each recommendation (`level`)."""
    moves = data.table("decisions", ["match", "move_number", "move_recommendation", "move_decision"])
    moves = moves[moves["match"].isin(rows["match"])].sort_values(["match", "move_number"], kind="stable")
    moves["level"] = moves.groupby("match")["move_recommendation"].shift(1)
    answers = moves[moves["level"].notna() & moves["move_decision"].notna()]
    answers = answers.assign(bought=answers["move_decision"].eq("yes").astype(float))
    bought = answers.groupby(["match", "level"])["bought"].mean().reset_index()
    return with_dependence(data, bought).sort_values("level", kind="stable")
