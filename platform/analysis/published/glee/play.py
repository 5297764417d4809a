"""Anchoring, counts of data, attention checks, and comparisons of play with theory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analysis import charts
from analysis.errors import SkippedError
from analysis.frames import UNITS, add_holm, level_text, mean_of, share_of, with_dependence
from analysis.measures.glee import proposer_share
from analysis.published.glee import printed
from analysis.published.glee.families import FAMILIES, HUMAN, REQUIRED_COLUMNS, families, frame
from analysis.results import (
    NOTE,
    Analysis,
    Figure,
    Options,
    Result,
    Table,
    count,
    estimate_columns,
    number,
    p_value,
    share,
    text,
)
from analysis.toolbox import correlation_difference, pearson, proportion

if TYPE_CHECKING:
    import pandas as pd

    from analysis.data import Data

# ---- anchoring -------------------------------------------------------------------------------------------------


def anchoring(data: Data, options: Options) -> Result:
    """Return the correlation of the first offer with Alice's self-gain in bargaining, by which players are human."""
    rows = frame(data, "bargaining")
    first = data.table("decisions", ["match", "move_number", "move_alice_gain"])
    first = first[first["move_alice_gain"].notna()].sort_values("move_number", kind="stable").drop_duplicates("match")
    rows["first"] = rows["match"].map(first.set_index("match")["move_alice_gain"]) / rows["config_money"]
    sides = rows["alice"].eq(HUMAN).map({True: "human Alice", False: ""}) + rows["bob"].eq(HUMAN).map(
        {True: " human Bob", False: ""}
    )
    rows["who"] = sides.str.strip().replace({"": "agents only", "human Alice human Bob": "people only"})
    results, numbers = [], {}
    for group in ("human Bob", "human Alice", "people only", "agents only"):
        subset = rows[rows["who"] == group]
        if len(subset):
            correlation = pearson(subset["first"].tolist(), subset["alice_self_gain"].tolist(), level=options.level)
            results.append({"who": group, **correlation, "published": printed.ANCHORING.get(group)})
            numbers[group.replace(" ", "_")] = {k: correlation.get(k) for k in ("estimate", "low", "high", "p", "n")}
    add_holm(results)
    by_group = {row["who"]: row for row in results}
    bob, alice = by_group.get("human Bob", {}), by_group.get("human Alice", {})
    difference = correlation_difference(bob.get("estimate"), bob.get("n", 0), alice.get("estimate"), alice.get("n", 0))
    numbers["difference"] = {"estimate": difference.get("z"), "p": difference.get("p")}
    tables = [
        Table("correlations", "Correlation of Alice's share in the first offer with her final self-gain",
              [text("who", "Who is human"), *estimate_columns("Pearson's r"), p_value(), p_value("p_holm", "p, Holm"),
               count("n", "Matches"), number("published", "Published")], results,
              note="Without an agreement, the self-gain is 0."),
        Table("difference", "Difference in correlation: human Bob minus human Alice", [number("z", "z"), p_value(),
        text("note", "Note")],
              [{"z": difference.get("z"), "p": difference.get("p"), "note": difference.get("note", "")}]),
    ]  # fmt: skip
    drawn = rows[["first", "alice_self_gain", "who"]].to_dict("records")
    figure = charts.figure(
        "scatter",
        "offers",
        "First offer and Alice's final self-gain",
        drawn,
        x="first",
        y="alice_self_gain",
        facet="who",
        titles={"x": "Alice's share in the first offer", "y": "Alice's self-gain"},
    )
    return Result(tables, [figure], numbers)


# ---- counts --------------------------------------------------------------------------------------------------------


def counts(data: Data, options: Options) -> Result:
    """Return the amount of data by family and by kind of cell."""
    results, kinds = [], []
    for family in families(data):
        title = FAMILIES[family].title
        rows = frame(data, family)
        match_ids = set(rows["match"])
        words_written = None
        if data.has("messages", "match", "words"):
            texts = data.table("messages", ["match", "words"])
            words_written = int(texts.loc[texts["match"].isin(match_ids), "words"].sum())
        published = dict(zip(("games", "decisions", "messages", "words"), printed.COUNTS[family], strict=True))
        totals = {
            "games": len(rows), "decisions": _sum(rows, "decisions"), "messages": _sum(rows, "messages"),
                "words": words_written,
        }  # fmt: skip
        results.append({"family": title, **totals, **{f"published_{k}": v for k, v in published.items()}})
        kinds += _cells(data, family, title)
    names = ("games", "decisions", "messages", "words")
    tables = [Table(
        "families", "Games, decisions, messages and words (table 6)",
        [text("family", "Family"), *(column for name in names for column in (
            count(name, name.capitalize()), count(f"published_{name}", f"{name.capitalize()}, published")))],
        results,
    )]  # fmt: skip
    if any(row["kind"] for row in kinds):
        tables.append(Table(
            "cells", "Configurations and games with people by kind of cell (table 7)",
            [text("family", "Family"), text("kind", "Kind"), count("configurations", "Configurations"),
             count("published_configurations", "Published"), count("games", "Games"),
             count("fewest", "Fewest in one"), count("most", "Most in one"),
             count("published_games", "Published in each")],
            kinds, note="A configuration counts once for each role that people played in it.",
        ))  # fmt: skip
    numbers = {row["family"].lower(): {"estimate": row["games"], "n": row["games"]} for row in results}
    return Result(tables, [], numbers)


def _sum(rows: pd.DataFrame, column: str) -> int | None:
    return int(rows[column].fillna(0).sum()) if column in rows else None


def _cells(data: Data, family: str, title: str) -> list[dict[str, Any]]:
    """Return the numbers of configurations (by the person's role) and of games with people, by kind of cell."""
    if not data.has("matches", "cell_kind", "cell", "version"):
        return []
    rows = data.table("matches", ["game", "cell_kind", "cell", "version"])
    rows["people"] = data.players_by_role.eq(HUMAN).any(axis=1)
    rows = rows[(rows["game"] == family) & rows["people"]]
    results = []
    for kind, subset in rows.groupby("cell_kind", dropna=True):
        games = subset.groupby(["version", "cell"]).size()
        published = printed.CELLS.get((family, str(kind)), (None, None))
        results.append({"family": title, "kind": kind, "configurations": len(games), "games": len(subset),
                      "fewest": int(games.min()), "most": int(games.max()),
                      "published_configurations": published[0], "published_games": published[1]})  # fmt: skip
    order = ["main", "variant", "random"]
    return sorted(results, key=lambda row: (order.index(row["kind"]) if row["kind"] in order else 9, row["kind"]))


# ---- checks ----------------------------------------------------------------------------------------------


def checks(data: Data, options: Options) -> Result:
    """Return the shares of participants who failed the code word and the quiz."""
    flags = ["check_code_word_passed", "check_quiz_passed"]
    rows = data.table("participants", flags)
    family = data.games[0] if len(data.games) == 1 else "all"
    results = [
        _failed("Code word", rows[flags[0]], "those who began", printed.CHECKS["code_word"], options),
        _failed(f"Quiz, {family}", rows[flags[1]], "those who answered it", printed.CHECKS.get(family), options),
    ]
    began = rows[flags[0]].notna()
    failed = ((rows[flags[0]] == False) | (rows[flags[1]] == False)).fillna(False)[began]  # noqa: E712
    n_failed, n_began = int(failed.sum()), int(began.sum())
    results.append(_row("Either", n_failed, n_began, "those who began", printed.CHECKS["either"], options))
    table = Table(
        "failed", "Participants who failed a check",
        [text("check", "Check"), text("of", "Among"), count("failed", "Failed"), count("n", "n"),
         *estimate_columns("Share", share), text("published", "Published")],
        results, note="Published for the quiz, all families: " + printed.CHECKS["all"] + ".",
    )  # fmt: skip
    numbers = {
        row["check"].split(",")[0].lower().replace(" ", "_"): {k: row[k] for k in ("estimate", "low", "high", "n")}
        for row in results
    }
    return Result([table], [], numbers, n={"matches": 0, "people": len(rows), "decisions": 0})


def _failed(check: str, passed: pd.Series, among: str, published: str | None, options: Options) -> dict[str, Any]:
    graded = passed.dropna()
    return _row(check, int((graded == False).sum()), len(graded), among, published, options)  # noqa: E712


def _row(check: str, failed: int, n: int, among: str, published: str | None, options: Options) -> dict[str, Any]:
    return {"check": check, "of": among, "failed": failed, **proportion(failed, n, level=options.level),
            "published": published}  # fmt: skip


# ---- rationality -----------------------------------------------------------------------------------------


def rationality(data: Data, options: Options) -> Result:
    """Compare bargains with the equilibrium, prices with the values, and trust with quality."""
    tables: list[Table] = []
    figures: list[Figure] = []
    numbers: dict[str, Any] = {}
    compare_by_family = {"bargaining": _bargains, "negotiation": _prices, "persuasion": _trust}
    for family in families(data):
        rows = frame(data, family)
        family_tables, family_figures, family_numbers = compare_by_family[family](data, rows, options)
        tables += family_tables
        figures += family_figures
        numbers |= family_numbers
    return Result(tables, figures, numbers)


ESTIMATES = (count("n", "Matches"), *estimate_columns("Mean"), NOTE)
FamilyResult = tuple[list[Table], list[Figure], dict[str, Any]]


def _bargains(data: Data, rows: pd.DataFrame, options: Options) -> FamilyResult:
    """Return Alice's agreed share minus her equilibrium share, by horizon and player."""
    if not data.has("matches", "alice_share"):
        raise SkippedError("The table matches has no column alice_share.")
    shares = data.table("matches", ["match", "alice_share"]).set_index("match")["alice_share"]
    rows["difference"] = rows["match"].map(shares) - equilibrium_shares(rows)
    rows["horizon"] = rows["config_rounds"].map(level_text).replace({"none": "∞"})
    agreed = rows[rows["difference"].notna()]
    results = []
    for heading, key in (("Horizon", "horizon"), ("Alice", "alice"), ("Bob", "bob")):
        for level, subset in agreed.groupby(key):
            results.append({"by": heading, "level": level, **mean_of(subset, "difference", level=options.level)})
    table = Table(
        "bargaining", "Alice's agreed share minus her equilibrium share",
        [text("by", "By"), text("level", "Level"), *ESTIMATES],
        results,
        note="Shares of the undiscounted money, in matches with an agreement; the equilibrium assumes complete "
        "information and rational players.",
    )  # fmt: skip
    figure = density("bargaining", "Alice's agreed share minus her equilibrium share",
                     agreed["difference"].tolist(), "Difference in shares", {"equilibrium": 0.0})  # fmt: skip
    overall = mean_of(agreed, "difference", level=options.level)
    return [table], [figure] if len(agreed) else [], {"bargaining.difference": overall}


def equilibrium_shares(rows: pd.DataFrame) -> list[float]:
    """Return Alice's equilibrium share under each match's configuration; she proposes first."""
    columns = (rows["config_delta_alice"], rows["config_delta_bob"], rows["config_rounds"])
    return [
        proposer_share(delta_alice, delta_bob, None if rounds != rounds or rounds is None else int(rounds))
        for delta_alice, delta_bob, rounds in zip(
            *(c.astype("Float64").astype("float64").tolist() for c in columns), strict=True
        )
    ]


def density(name: str, title: str, values: list[float], x_title: str, marks: dict[str, float]) -> Figure:
    """Return a histogram with 24 bins and reference lines."""
    return charts.figure(
        "histogram",
        name,
        title,
        [{"value": value} for value in values],
        x="value",
        bins=24,
        lines=marks,
        titles={"x": x_title},
    )


def _prices(data: Data, rows: pd.DataFrame, options: Options) -> FamilyResult:
    """Return where prices lie relative to the seller's value (0) and the buyer's value (1)."""
    if not data.has("matches", "price", "trade"):
        raise SkippedError("The table matches lacks the column price or trade.")
    prices = data.table("matches", ["match", "price", "trade"]).set_index("match")
    rows["price"], rows["trade"] = rows["match"].map(prices["price"]), rows["match"].map(prices["trade"])
    seller = rows["config_scale"] * rows["config_seller_factor"]
    buyer = rows["config_scale"] * rows["config_buyer_factor"]
    rows["gains"] = (buyer > seller).map({True: "gains from trade", False: "no gains from trade"})
    rows["gains"] = rows["gains"].mask(buyer == seller, "equal values")
    rows["where"] = "no trade"
    traded = rows["price"].notna()
    rows.loc[traded & rows["price"].between(seller, buyer), "where"] = "within both values"
    rows.loc[traded & (rows["price"] < seller), "where"] = "below the seller's value"
    rows.loc[traded & (rows["price"] > buyer), "where"] = "above the buyer's value"
    rows.loc[traded & (rows["price"] < seller) & (rows["price"] > buyer), "where"] = "between crossed values"
    results = []
    for gains, subset in rows.groupby("gains"):
        for location in ("within both values", "below the seller's value", "above the buyer's value",
                      "between crossed values", "no trade"):  # fmt: skip
            here = subset.assign(here=(subset["where"] == location).astype(float))
            found = share_of(here, "here", level=options.level)
            results.append({"gains": gains, "where": location, "k": int(here["here"].sum()), **found})
    tables = [Table(
        "negotiation", "Prices relative to both values",
        [text("gains", "Values"), text("where", "Price"), count("k", "Matches"), *estimate_columns("Share", share),
         count("n", "of"), NOTE], results,
    )]  # fmt: skip
    rows["position"] = (rows["price"] - seller) / (buyer - seller)
    placed = rows[traded & (buyer > seller)]
    position = placed["position"]
    numbers = {"negotiation.position": mean_of(placed, "position", level=options.level)}
    figures = []
    if len(position):
        figures.append(density("negotiation", "Prices relative to the seller's value (0) and the buyer's value (1)",
                               position.tolist(), "Price, relative to the values",
                               {"seller's value": 0.0, "buyer's value": 1.0}))  # fmt: skip
    return tables, figures, numbers


def _trust(data: Data, rows: pd.DataFrame, options: Options) -> FamilyResult:
    """Return how often high- and low-quality products were bought, overall and after each recommendation."""
    results: list[dict[str, Any]] = []
    for market, subset in rows.groupby(["config_message_type", "config_buyer_type"]):
        label = " · ".join(level_text(value).replace("_", "-") for value in market)
        for quality, values in (("high", subset["efficiency"]), ("low", 1 - subset["fairness"])):
            estimate = mean_of(subset.assign(bought=values), "bought", level=options.level)
            results.append({"by": "quality", "level": quality, "where": label, **estimate})
    if data.has("decisions", "match", "move_number", "move_recommendation", "move_decision"):
        results += _after_recommendations(data, set(rows["match"]), options)
    table = Table(
        "persuasion", "Share of rounds in which the buyer bought",
        [text("by", "By"), text("level", "Level"), text("where", "Messages · buyer"), count("n", "Matches"),
         *estimate_columns("Share bought", share), NOTE], results,
        note="Mean over matches; shares are of each match's rounds with that quality or recommendation.",
    )  # fmt: skip
    drawn = [{**row, "what": f"{row['by']}: {row['level']}"} for row in results]
    figure = charts.figure(
        "dots",
        "persuasion",
        "Share bought by quality and recommendation",
        drawn,
        y="where",
        colour="what",
        titles={"x": "Share of rounds in which the buyer bought", "y": ""},
        formats={"x": "%"},
    )
    return [table], [figure], {f"persuasion.{row['by']}.{row['level']}.{row['where']}": row for row in results}


def _after_recommendations(data: Data, match_ids: set[str], options: Options) -> list[dict[str, Any]]:
    """Return the share bought after each recommendation, averaged over matches."""
    moves = data.table("decisions", ["match", "move_number", "move_recommendation", "move_decision"])
    moves = moves[moves["match"].isin(match_ids)].sort_values(["match", "move_number"], kind="stable")
    moves["said"] = moves.groupby("match")["move_recommendation"].shift(1)
    answers = moves[moves["said"].notna() & moves["move_decision"].notna()]
    answers = answers.assign(bought=answers["move_decision"].eq("yes").astype(float))
    bought = with_dependence(data, answers.groupby(["match", "said"], as_index=False)["bought"].mean())
    return [
        {
            "by": "recommendation",
            "level": recommendation,
            "where": "binary",
            **mean_of(subset, "bought", level=options.level),
        }
        for recommendation, subset in bought.groupby("said")
    ]


PEOPLE = {"participants": ["check_code_word_passed", "check_quiz_passed"]}

ANALYSES = [
    Analysis(
        id="glee.anchoring",
        title="First offers as anchors (GLEE, question 3)",
        question="Do first offers anchor the final agreement?",
        method="Pearson's correlation of Alice's share in the first offer with her final self-gain in bargaining, by "
        "which side is human; the difference is tested with Fisher's z.",
        run=anchoring, needs="both", games=("bargaining",),
        columns={**REQUIRED_COLUMNS, "decisions": ["match", "move_number", "move_alice_gain"]},
    ),
    Analysis(
        id="glee.counts",
        title="Amount of data (GLEE, tables 6 and 7)",
        question="How much data is there?",
        method="Counts by family; configurations and games with people by kind of cell.",
        run=counts, games=tuple(FAMILIES), columns=REQUIRED_COLUMNS,
    ),
    Analysis(
        id="glee.checks",
        title="Attention checks (GLEE, appendix E.3)",
        question="Who fails the checks?",
        method="Share of participants who failed the code word, among those who began, and the quiz, among those who "
        "answered it, with Wilson intervals.",
        run=checks, needs="people", games=tuple(FAMILIES), columns=PEOPLE,
    ),
    Analysis(
        id="glee.rationality",
        title="Play compared with theory (GLEE's games)",
        question="How far is play from theoretical predictions?",
        method="Bargaining: agreed share minus equilibrium share. Negotiation: price relative to both values. "
        "Persuasion: share bought by quality and by recommendation. Means over matches and shares of "
        f"matches, with intervals over independent units. {UNITS}",
        run=rationality, games=tuple(FAMILIES), columns=REQUIRED_COLUMNS,
    ),
]  # fmt: skip
