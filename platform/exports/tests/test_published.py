"""Records of published systems: read without a database, imported, exported, and compared with printed values."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from analysis.published.econarena import printed as econarena_printed
from analysis.published.glee import printed as glee_printed
from collecting.models import Collection
from exports import reproducing, systems
from exports.glee.tests.sample import write_sample
from exports.published import Comparison, Imported, Unreadable
from exports.systems.econevals import instances
from exports.tests import records
from exports.verify import verify

CONTEST = {
    "upper_bound": 100, "choices": [30.0, 20.0, 50.0, 120.0, 10.0], "status": True,
    "fouls": [False, False, False, True, False], "winners": [0], "payoffs": [1.0, 0.0, 0.0, None, 0.0],
}  # fmt: skip
"""The foul counts in the package's mean: the target is 30.67."""
AUCTION = {
    "budget": 100, "private_values": [50, 52, 48], "choices": [60.0, 50.0, 55.0], "status": True,
    "fouls": [False, False, False], "winner": 0, "payoffs": [95.0, 100.0, 100.0],
}  # fmt: skip


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    return records.coopeval(tmp_path_factory.mktemp("coopeval"))


def read(system: str, root: Path) -> tuple[list[Imported], list[Unreadable]]:
    found = list(systems.system_named(system).read(root))
    return [one for one in found if isinstance(one, Imported)], [one for one in found if isinstance(one, Unreadable)]


def edited(path: Path, change: Any) -> None:
    lines = path.read_text().splitlines()
    line = json.loads(lines[0])
    change(line)
    path.write_text("\n".join([json.dumps(line), *lines[1:]]) + "\n")


# ---- the command -----------------------------------------------------------------------------------------


def test_prints_a_line_per_match_and_counts_what_is_unreadable(tree, capsys):
    (tree / "run1" / "none_public_goods" / "records.jsonl").open("a").write("not JSON\n")
    call_command("import_published", "coopeval", str(tree), "--dry-run", "--json")
    out, err = capsys.readouterr()
    lines = [json.loads(line) for line in out.splitlines()]
    assert len(lines) == 2 * (4 * (4 + 8) + 2)
    assert {"game_id", "family", "config", "payoffs", "metrics", "players", "unverified", "disagreements"} == {
        *lines[0]
    }
    assert "run1/none_public_goods/9: " in err and "JSONDecodeError" in err
    assert f"{len(lines)} matches read, 0 of them unverified, 0 with other" in err and "; 1 un" in err


def test_names_the_systems(tmp_path):
    with pytest.raises(CommandError, match=r"use one of .*coopeval, .*glee"):
        call_command("import_published", "nothing", str(tmp_path), "--dry-run")
    with pytest.raises(CommandError, match="is not a folder"):
        call_command("import_published", "glee", str(tmp_path / "missing"))


# ---- CoopEval --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", records.MECHANISMS)
def test_replays_every_mechanism_with_the_published_results(tmp_path, mechanism):
    records.tournament(tmp_path / "a", "public_goods", mechanism)
    matches, unreadable = read("coopeval", tmp_path)
    assert not unreadable
    assert len(matches) == (1 if mechanism.startswith("reputation") else 8)
    assert {(*match.disagreements, match.unverified, match.config["mechanism"]) for match in matches} == {
        (None, mechanism)
    }


def test_finds_other_points_winners_and_signatures(tmp_path):
    for mechanism in ("repetition", "mediation", "contract"):
        records.tournament(tmp_path / mechanism, "prisoners_dilemma", mechanism)

    edited(tmp_path / "repetition" / "records.jsonl", lambda line: line[1][0].update(points=9))
    edited(tmp_path / "mediation" / "records.jsonl", lambda line: line[0].update(selected_mediator_index=3))
    edited(tmp_path / "contract" / "records.jsonl", lambda line: line[0].update(all_signed=False))
    matches, _unreadable = read("coopeval", tmp_path)
    found = {match.name: [one.as_line() for one in match.disagreements] for match in matches if match.disagreements}
    assert found == {
        "repetition/1": [{"what": "points of p1 in round 2", "published": 9, "computed": 2}],
        "mediation/1": [{"what": "winner", "published": 3, "computed": found["mediation/1"][0]["computed"]}],
        "contract/1": [{"what": "contract_active", "published": False, "computed": True}],
    }


def test_a_tied_vote_falls_as_published(tmp_path):
    records.tournament(tmp_path, "prisoners_dilemma", "mediation")
    for winner in (1, 2):
        edited(tmp_path / "records.jsonl", lambda line, n=winner: line[0].update(selected_mediator_index=n))
        matches, _unreadable = read("coopeval", tmp_path)
        assert (matches[0].metrics["winner"], matches[0].metrics["winner_approvals"]) == (winner, 2)


def test_infers_actions_from_points_where_records_are_missing(tmp_path):
    records.tournament(tmp_path, "prisoners_dilemma", "repetition")
    complete, _unreadable = read("coopeval", tmp_path)
    (tmp_path / "records.jsonl").unlink()
    inferred, _unreadable = read("coopeval", tmp_path)
    assert [match.payoffs for match in inferred] == [match.payoffs for match in complete]
    assert all("records.jsonl is missing" in match.unverified for match in inferred)


def test_cuts_payments_to_the_bound_and_says_so(tmp_path):
    records.tournament(tmp_path, "prisoners_dilemma", "contract")
    path = tmp_path / "contract_design.json"
    designs = json.loads(path.read_text())
    designs["lab/two(IO)#P2"]["contract"]["PrisonersDilemmaAction.DEFECT"] = -1_000_000
    path.write_text(json.dumps(designs))
    matches, unreadable = read("coopeval", tmp_path)
    assert not unreadable
    assert Counter(bool(match.unverified) for match in matches) == {True: 2, False: 2}


def test_unknown_games_missing_designs_and_odd_lines_are_unreadable(tmp_path):
    records.tournament(tmp_path / "designs", "prisoners_dilemma", "contract")
    (tmp_path / "designs" / "contract_design.json").unlink()
    records.tournament(tmp_path / "game", "prisoners_dilemma", "none")
    (tmp_path / "game" / "config.json").write_text('{"game": {"type": "Chess"}, "mechanism": {"type": "NoMechanism"}}')
    records.tournament(tmp_path / "rounds", "prisoners_dilemma", "repetition")
    edited(tmp_path / "rounds" / "records.jsonl", lambda line: line.pop())
    matches, unreadable = read("coopeval", tmp_path)
    reasons = {one.path: one.reason for one in unreadable}
    assert len(matches) == 3
    assert reasons["designs/1"] == "contract_design.json is missing."
    assert "Chess" in reasons["game/config.json"]
    assert "2 rounds" in reasons["rounds/1"] and "says 3" in reasons["rounds/1"]


ODD = (None, True, -1, 10**400, float("nan"), 1e308, "", "x#P1", [], {}, [[]], {"x": 1})


def _odd_at_random(value: Any, rng: Random) -> Any:
    """Return the value with one part of it, at any depth, replaced or removed."""
    if not isinstance(value, dict | list) or not value or rng.random() < 0.1:
        return rng.choice(ODD)
    place = rng.choice([*value] if isinstance(value, dict) else range(len(value)))
    changed = value.copy()
    if rng.random() < 0.3:
        del changed[place]
    else:
        changed[place] = _odd_at_random(value[place], rng)
    return changed


@pytest.mark.parametrize("mechanism", records.MECHANISMS)
def test_odd_records_are_never_fatal(tmp_path, mechanism):
    rng = Random(mechanism)
    for number in range(40):
        folder = tmp_path / str(number)
        records.tournament(folder, "prisoners_dilemma", mechanism)
        path = rng.choice(sorted(folder.iterdir()))
        lines = [_odd_at_random(json.loads(line), rng) for line in path.read_text().splitlines()]
        path.write_text("\n".join(map(json.dumps, lines)) if number else "\udcff", errors="surrogateescape")
    matches, unreadable = read("coopeval", tmp_path)
    assert matches and unreadable
    for match in matches:
        json.dumps(match.as_line(), allow_nan=False)


def test_odd_results_are_never_fatal(tmp_path):
    rng = Random(1)
    (tmp_path / "directory.json").mkdir()
    (tmp_path / "bytes.json").write_bytes(b"\xff")
    huge = {**AUCTION, "budget": 1.7e308, "private_values": [1.7e308] * 3}
    (tmp_path / "huge.json").write_text(json.dumps(huge))
    lines = [json.dumps(_odd_at_random(rng.choice([CONTEST, AUCTION]), rng)) for _number in range(200)]
    (tmp_path / "runs.jsonl").write_text("\n".join(lines))
    matches, unreadable = read("econarena", tmp_path)
    assert matches and {"directory.json", "bytes.json", "huge.json/1"} <= {one.path for one in unreadable}
    for match in matches:
        json.dumps(match.as_line(), allow_nan=False)


# ---- Economics Arena -------------------------------------------------------------------------------------


def test_plays_results_of_the_package_again(tmp_path):
    players = [["GPTAgent", model] for model in ("gpt-4", "gpt-3.5-turbo", "claude-2")]
    (tmp_path / "senior").mkdir()
    lone = {**AUCTION, "choices": [70.0, None, None], "fouls": [False, True, True], "payoffs": [None, None, None]}
    lines = [{"config": {"players_class": players}, "result": AUCTION}, lone, {"result": 1}]
    (tmp_path / "senior" / "auctions.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (tmp_path / "contest.json").write_text(json.dumps(CONTEST))
    matches, unreadable = read("econarena", tmp_path)
    contest, auction, alone = matches
    assert contest.payoffs == {"p1": 1.0, "p2": 0.0, "p3": 0.0, "p4": 0.0, "p5": 0.0}
    assert (contest.metrics["fouls"], contest.environment, contest.disagreements) == (1, "contest", ())
    assert (auction.environment, auction.players["p2"], auction.disagreements) == ("senior", "gpt-3.5-turbo", ())
    assert round(auction.metrics["deviation"], 6) == round((0.05 + 0.019608 + 0) / 3, 6)
    # The package prints no payoff unless two bids are valid; here a lone bid pays nothing.
    assert [one.as_line() for one in alone.disagreements] == [
        {"what": "payoff of p1", "published": None, "computed": 150.0}
    ]
    assert [one.path for one in unreadable] == ["senior/auctions.jsonl/3"]


def test_reads_the_packages_defaults_without_running_it(tmp_path):
    source = "class BeautyContest:\n    def __init__(self, num_players, upper_bound=50, prize=1): raise SystemExit\n"
    (tmp_path / "contest.py").write_text(source)
    compared = systems.system_named("econarena").compared(tmp_path, reproducing.Analyses({}))
    rows = {row["what"]: row for row in reproducing.rows(list(compared))}
    assert rows["BeautyContest: upper_bound"]["agrees"] == "no"
    assert rows["SecondPriceAuction: budget"] == {
        "table": "Defaults of the package", "what": "SecondPriceAuction: budget", "printed": "1000", "here": "1000",
        "agrees": "yes", "cause": "",
    }  # fmt: skip
    assert rows["SecondPriceAuction: budget, in econarena-sealed-senior"]["agrees"] == "yes"
    assert "not published" in rows["Beauty contest, GPT4, 20 sessions"]["cause"]


# ---- AucArena --------------------------------------------------------------------------------------------


def memo_changed(folder: Path, change: Any) -> None:
    path = folder / "memo-0.json"
    memo = json.loads(path.read_text())
    change(memo)
    path.write_text(json.dumps(memo))


@pytest.mark.parametrize(
    ("config", "sold"), [({}, 3), ({"budget": 1200}, 2), ({"budgets": [400, 300, 200], "discount_unsold": True}, 2)]
)
def test_plays_auctions_again_with_the_published_results(tmp_path, config, sold):
    records.auction(tmp_path / "run", **config)
    (match,), unreadable = read("aucarena", tmp_path)
    assert (match.disagreements, match.unverified, unreadable) == ((), None, [])
    assert match.players == {"p1": "gpt-4-0613", "p2": "lab-two (static)", "p3": "rule"}
    assert match.config["discount_unsold"] == config.get("discount_unsold", False)
    assert match.metrics["items_sold"] == sold


def test_takes_over_the_plans_and_the_reports_that_have_a_place_in_our_rules(tmp_path):
    records.auction(tmp_path)
    (match,), _unreadable = read("aucarena", tmp_path)
    # Two reports of 3 + 2 · 2 claims: the program asks for a third after the last item.
    assert (match.metrics["p1_belief_claims"], match.metrics["p1_belief_errors_budget"]) == (14, 1)
    assert (match.metrics["p1_belief_errors"], match.metrics["p3_belief_claims"]) == (1, 0)
    assert {event.data["role"] for event in match.events if "priorities" in event.data.get("move", ())} == {"p1", "p2"}


def test_finds_other_profits_prices_and_failed_bids_and_errors(tmp_path):
    records.auction(tmp_path)
    first = json.loads((tmp_path / "memo-0.json").read_text())["profit"]["Bidder 1"]
    memo_changed(tmp_path, lambda memo: memo["profit"].update({"Bidder 1": first + 1}))
    memo_changed(tmp_path, lambda memo: memo.update(auction_log=memo["auction_log"].replace("($700)", "($900)")))

    def changed(log: dict[str, Any]) -> None:
        log.update(failed_bid_cnt=2, budget_error_history=[["Lot 2", 0, 1]])
        log["history"][1]["messages"][-1]["human"] = "Your bid of $1500 failed, because"

    edited(tmp_path / "Bidder1-0.jsonl", changed)
    (match,), _unreadable = read("aucarena", tmp_path)
    found = {one.what: (one.published, one.computed) for one in match.disagreements}
    assert found["money left of p1 after Lot 2"][0] == 1
    assert found["profit of p1"] == (first + 1, first + 200)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("#### Hammer price (true value):", "#### End:", "not as expected"),
        ("* Bidder 2: Withdrew", "* None bid", "not as expected"),
        ("* Bidder 2: $1500", "* Bidder 2: $1450", "Move 14 by p2: $1,450"),
    ],
)
def test_auctions_that_our_rules_do_not_allow_are_unreadable(tmp_path, old, new, reason):
    records.auction(tmp_path)
    memo_changed(tmp_path, lambda memo: memo.update(auction_log=memo["auction_log"].replace(old, new)))
    matches, (unreadable,) = read("aucarena", tmp_path)
    assert not matches and unreadable.path == "memo-0.json" and reason in unreadable.reason


def test_says_what_is_assumed_without_the_bidders_logs(tmp_path):
    records.auction(tmp_path, budgets=[400, 300, 200])
    for path in tmp_path.glob("*.jsonl"):
        path.unlink()
    (match,), _unreadable = read("aucarena", tmp_path)
    assert match.players["p1"] == "gpt-4-0613" and match.config["budgets"] == [400, 300, 200]
    for words in ("Bidder 1, Bidder 2: goal and overestimate", "of Lot 1, Lot 2, Lot 3"):
        assert words in match.unverified


@pytest.mark.slow
def test_odd_auctions_are_never_fatal(tmp_path):
    rng = Random(2)
    for number in range(60):
        folder = tmp_path / str(number)
        records.auction(folder)
        path = rng.choice(sorted(folder.iterdir()))
        lines = [_odd_at_random(json.loads(line), rng) for line in path.read_text().splitlines()]
        path.write_text("\n".join(map(json.dumps, lines)))
    matches, unreadable = read("aucarena", tmp_path)
    assert matches and unreadable and len(matches) + len(unreadable) == 60
    for match in matches:
        json.dumps(match.as_line(), allow_nan=False)


def test_compares_the_programs_defaults_and_list_of_items(tmp_path):
    (tmp_path / "src.py").write_text(
        "class Auctioneer(X):\n    min_markup_pct = 0.2\n    enable_discount: bool = False\n"
    )
    items = [{"name": f"Lot {n}", "price": 5000 if n < 4 else 1000, "true_value": 2000} for n in range(26)]
    (tmp_path / "pseudo_items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    compared = systems.system_named("aucarena").compared(tmp_path, reproducing.Analyses({}))
    rows = {row["what"]: row for row in reproducing.rows(list(compared))}
    assert (rows["Auctioneer.min_markup_pct"]["printed"], rows["Auctioneer.min_markup_pct"]["agrees"]) == ("20", "no")
    assert rows["Bidder.max_bid_cnt"]["agrees"] == rows["Auctioneer.enable_discount"]["agrees"] == "yes"
    assert rows["items of the first 20 that start at 5,000"]["agrees"] == "yes"
    assert (rows["items whose true value is twice the start price"]["printed"]) == "22"
    assert "not published" in rows["GPT-4-Turbo, random, profit"]["cause"]


# ---- EconEvals -------------------------------------------------------------------------------------------


def cells_changed(path: Path, change: Any) -> None:
    with path.open(newline="") as opened:
        rows = list(csv.DictReader(opened))
    change(rows)
    records.write_csv(path, rows)


def test_plays_every_game_of_econevals_again_with_the_published_results(tmp_path):
    matches, unreadable = read("econevals", records.econevals(tmp_path))
    assert [(one.game, [*one.disagreements]) for one in matches] == [(game, []) for game in records.RUNS]
    assert not unreadable
    of = {one.game: one for one in matches}
    assert of["pricing"].config["level"] == "medium" and of["procurement"].config["told"] == "horizon"
    assert {of[game].config["instance_seed"] for game in ("pricing", "scheduling")} == {records.SEED}
    assert of["task_allocation"].config["goal"] == "both"
    assert set(of["duopoly"].players.values()) == {records.MODEL}
    assert (of["patience"].metrics["unanswered"], of["patience"].metrics["later_share"]) == (1, 4 / 7)


@pytest.mark.parametrize(
    ("game", "column", "value", "found"),
    [
        ("scheduling", "blocking_pairs", "[]", "blocking pairs in period 2"),
        ("scheduling", "blocking_pair", "[('W1', 'T1')]", "pairs told in period 2"),
        ("pricing", "profits", None, "profit of Product_1 in period 2"),
        ("procurement", "is_feasible", "'no'", "feasibility in period 2"),
        ("task_allocation", "company_revenue", "1", "revenue"),
        ("duopoly", "quantities", "[0, 0]", "quantities of firm_1 in period 2"),
    ],
)
def test_finds_other_results_of_econevals(tmp_path, game, column, value, found):
    records.RUNS[game](tmp_path)

    def change(rows: list[dict[str, str]]) -> None:
        rows[3][column] = value or str({f"Product_{n}": 0 for n in range(1, 5)})

    cells_changed(tmp_path / "logs.csv", change)
    (match,), _unreadable = read("econevals", tmp_path)
    assert found in {one.what for one in match.disagreements}


@pytest.mark.parametrize(
    ("game", "found"),
    [("scheduling", "preferences"), ("pricing", "starts"), ("procurement", "offers"), ("task_allocation", "instance")],
)
def test_draws_instances_again_from_their_seeds(tmp_path, game, found):
    records.RUNS[game](tmp_path)
    cells_changed(tmp_path / "global_params.csv", lambda rows: rows[0].update(seed="4"))
    (match,), _unreadable = read("econevals", tmp_path)
    assert f"{found} from seed 4" in {one.what for one in match.disagreements}


def test_draws_as_the_authors_program_does():
    """The values are those that the program draws with seed 0, and one that its authors publish."""
    drawn = instances.preferences(instances.np.random.RandomState(0), 10, 1, 1)
    assert instances.sampled_blocking_pairs(drawn, 10_000) == 23.7894
    market = instances.market(0, "basic", 8)
    assert (market["starts"], market["costs"], market["season"]) == ([5.939321535345923], [1.7151893663724196], 13)
    assert market["drifts"] == [{"slope": -0.16878342069070915}]
    offers = instances.offers(0, "basic")
    assert offers["purchase"] == {"Offer_1": 1, "Offer_9": 3, "Offer_11": 2}
    assert offers["offers"]["Offer_3"] == {
        "type": "bulk_discount", "contents": {"C1": 1, "B3": 1}, "cost": 12.49, "min_quantity": 3,
    }  # fmt: skip
    tasks = instances.tasks(0, 4, 30, 18, 1)
    assert [*tasks["productivities"].values()] == [1.0, 19.0, 13.0, 7.0]
    assert [tasks["sizes"][name] for name in ("T1", "T2", "T3", "T4")] == [120, 7, 47, 46]


def test_runs_that_are_not_over_or_of_another_kind_are_unreadable(tmp_path):
    records.econevals(tmp_path)
    cells_changed(tmp_path / "scheduling" / "logs.csv", lambda rows: rows.pop())
    cells_changed(tmp_path / "pricing" / "global_params.csv", lambda rows: rows[0].update(mu="0.5"))
    cells_changed(tmp_path / "duopoly" / "global_params.csv", lambda rows: rows[0].pop("full_alpha"))
    _matches, unreadable = read("econevals", tmp_path)
    reasons = {one.path: one.reason for one in unreadable}
    assert "after 3 moves" in reasons["scheduling"] and "mu is not 1" in reasons["pricing"]
    assert reasons["duopoly"].startswith("global_params.csv has none of worker_prefs")


def test_odd_runs_are_never_fatal(tmp_path):
    rng = Random(3)
    for number in range(8):
        for path in sorted(records.econevals(tmp_path / str(number)).rglob("*.csv")):
            if rng.random() < 0.4:

                def change(rows: list[dict[str, str]]) -> None:
                    row = rng.choice(rows)
                    row[rng.choice([*row])] = rng.choice([*map(str, ODD), "(" * 500, "{'W1': 1}", "[1, 2]"])

                cells_changed(path, change)
    matches, unreadable = read("econevals", tmp_path)
    assert matches and unreadable and len(matches) + len(unreadable) == 48
    for match in matches:
        json.dumps(match.as_line(), allow_nan=False)


def test_compares_the_programs_parameters_and_expected_blocking_pairs(tmp_path):
    (tmp_path / "run_pricing_batch.py").write_text("sigma = 0.4\nif 1:\n    num_periods = 100\nraise SystemExit\n")
    published = {"Basic": {0: {"baseline_num_blocking_pairs": 23.7894, "confidence_interval_low": 0,
                               "confidence_interval_high": 99}}}  # fmt: skip
    (tmp_path / "scheduling_baseline_data.txt").write_text(str(published))
    compared = systems.system_named("econevals").compared(tmp_path, reproducing.Analyses({}))
    rows = {row["what"]: row for row in reproducing.rows(list(compared))}
    assert rows["run_pricing_batch: sigma"]["agrees"] == "no"
    assert rows["run_pricing_batch: num_periods"]["agrees"] == "yes"
    assert rows["Basic, seed 0, uniform"]["agrees"] == "yes"
    assert "not published" in rows["Pricing, hard, GPT-4o"]["cause"]


# ---- printed values --------------------------------------------------------------------------------------


def test_finds_models_by_the_papers_names():
    assert glee_printed.printed_name("vertex_ai/meta/llama-3.3-70b-instruct-maas") == "llama-3.3-70b"
    assert glee_printed.printed_name("vertex_ai/gemini-2.0-flash-lite-001") == "gemini-2.0-flash-lite"
    assert glee_printed.printed_name("openai:gpt-4.1") is None
    assert econarena_printed.payoff("openai:gpt-3.5-turbo", 100, "sealed_auction") == 1.206
    assert econarena_printed.fouls("claude-instant", "beauty_contest", "with history") == 0.1222
    assert econarena_printed.fouls("gpt-4o", "beauty_contest", "with history") is None


@pytest.mark.parametrize(
    ("printed", "here", "decimals", "agrees"),
    [(0.072, 0.07249, 3, True), (0.072, 0.0726, 3, False), (33_700, 33_749, -2, True), (33_700, 33_751, -2, False),
     (1 / 3, 1 / 3 + 1e-12, None, True), (1 / 3, 0.3333, None, False), ("a", "a", None, True), (1, None, 0, False)],
)  # fmt: skip
def test_agrees_if_it_rounds_to_what_is_printed(printed, here, decimals, agrees):
    assert Comparison("Table 1", "value", printed, here, decimals).agrees == agrees


# ---- with a database -------------------------------------------------------------------------------------


@pytest.mark.services
@pytest.mark.django_db
class TestReproducing:
    def test_imports_a_dataset_that_replays_and_compares_it(self, tmp_path):
        root = records.coopeval(tmp_path / "published")
        for folder in root.glob("run1/none_prisoners_dilemma"):
            # Mutual defection and cooperation once each, and each exploited once by the other.
            (folder / "agent_average_payoff.json").write_text('{"lab/one(CoT)": 1.0, "lab/two(IO)": 1.75}')
        call_command("reproduce", "coopeval", str(root), "--to", str(tmp_path / "out"))
        collection = Collection.objects.get()
        assert (collection.source, collection.slug) == ("coopeval", "coopeval-social-dilemma")
        assert verify(tmp_path / "out" / "social_dilemma") == []
        matches = reproducing.load(tmp_path / "out" / "social_dilemma").table("matches", ["repetition", "source"])
        assert Counter(matches["repetition"]) == {1: 50, 2: 50}
        text = (tmp_path / "out" / "comparison.md").read_text()
        assert "  1 of   2 agree  agent_average_payoff.json\n         1 differ  unexplained\n" in text
        assert "| none, mean, Claude | 0.111 | – | no | not in the data |" in text

    @pytest.mark.slow
    def test_compares_auctions_with_the_paper(self, tmp_path):
        for number in range(3):
            records.auction(tmp_path / "published", number, budget=9000 + number)
        call_command("reproduce", "aucarena", str(tmp_path / "published"), "--to", str(tmp_path / "out"))
        assert verify(tmp_path / "out" / "item_auction") == []
        rows = {row["what"]: row for row in csv.DictReader((tmp_path / "out" / "comparison.csv").open())}
        seats = list(csv.DictReader((tmp_path / "out" / "item_auction" / "seats.csv").open()))
        answers = sum(int(seat["bids"]) + int(seat["withdrawals"]) for seat in seats if seat["role"] == "p1")
        # One bid failed in each auction.
        assert rows["GPT-4, the lowest"]["here"] == f"{300 / (3 + answers):.3f}"
        assert rows["GPT-4, the lowest"]["cause"].endswith("the folder has 3")
        assert rows["GPT-4, current priority with bids"]["here"] != "–" == rows["GPT-4-Turbo, random, profit"]["here"]

    @pytest.mark.slow
    def test_compares_runs_of_econevals_with_the_paper(self, tmp_path):
        call_command("reproduce", "econevals", str(records.econevals(tmp_path / "runs")), "--to", str(tmp_path / "out"))
        for game in records.RUNS:
            assert verify(tmp_path / "out" / game) == []
        rows = {row["what"]: row for row in csv.DictReader((tmp_path / "out" / "comparison.csv").open())}
        assert rows["Scheduling, basic, GPT-4o"]["here"] != "–" == rows["Scheduling, hard, GPT-4o"]["here"]
        assert rows["Pricing, medium, GPT-4o"]["cause"].endswith("the folder has 1")
        assert rows["Duopoly, GPT-4o, score"]["here"] != "–"
        assert rows["1 year, GPT-4o, rate"]["here"] != "–" == rows["1 month, GPT-4o, rate"]["here"]
        assert rows["horizon, basic, exploration rate"]["here"] == "–", "the run is not Gemini's"
        assert "instance" not in Collection.objects.get(game="pricing").frozen["configurations"][0]

    def test_compares_glee_and_says_what_is_missing(self, tmp_path, capsys):
        write_sample(tmp_path / "published", 24, seed=4, families=["bargaining"])
        call_command("reproduce", "glee", str(tmp_path / "published"), "--to", str(tmp_path / "out"))
        out, _err = capsys.readouterr()
        assert (
            " 0 of 12 agree  Table 6: amount of data\n       4 differ  the data have 24 of about 33,700 games\n" in out
        )
