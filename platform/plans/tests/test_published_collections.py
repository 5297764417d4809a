"""The published collections: every file can be played, and says what the publication says."""

from __future__ import annotations

from collections import Counter

import pytest

from games import registry
from games.errors import BadLineup
from games.lineups import Lineup
from games.play import configure
from plans.canonical import canonical
from plans.checking import check
from plans.collection import CollectionPlan, CollectionReader
from plans.files import dumps, loads
from plans.library import ready_made

COLLECTIONS = ready_made("collections")
SIX = [f"script:{name}" for name in ("random", "rational", "no_answer")] + [f"openai:{name}" for name in "abc"]


def plans_of(name: str, agents: list[str], seed: int | None = None) -> list[CollectionPlan]:
    reader = CollectionReader(COLLECTIONS[name].adapted(agents, seed))
    return [reader.collection(cell.factors) for cell in reader.cells]


def lineup(plan: CollectionPlan, index: int = 0, *, repetition: int = 0) -> Lineup:
    roles = configure(registry.get(plan.game.game), plan.game.config).roles()
    return plan.lineups.at(index, roles, repetition=repetition)


@pytest.mark.parametrize("name", COLLECTIONS)
def test_every_collection_is_without_a_fault_and_described(name):
    collection = COLLECTIONS[name]
    checked = check(collection.document)
    assert checked.matches and not checked.faults
    assert collection.summary and collection.source and collection.title
    document = canonical(collection.document)
    assert canonical(document) == canonical(loads(dumps(document))) == document


@pytest.mark.parametrize("game", ["contest", "sealed"])
class TestEconomicsArena:
    def plans(self, game: str, environment: str, agents: list[str] = SIX) -> list[CollectionPlan]:
        return plans_of(f"econarena-{game}-{environment}", agents)

    @pytest.mark.parametrize(
        ("environment", "matches"),
        [
            ("melee", 150), ("rational", 150 * 5), ("cot", 150 * 5), ("senior", 100), ("melee-history", 30),
            ("rational-history", 30 * 5), ("self", 30 * 5),
        ],
    )  # fmt: skip
    def test_environments_have_the_published_number_of_sessions(self, game, environment, matches):
        name, agents = f"econarena-{game}-{environment}", [f"openai:{name}" for name in "abcde"]
        assert check(COLLECTIONS[name].adapted(agents)).matches == matches
        assert {plan.environment for plan in self.plans(game, environment)} == {environment}

    def test_sessions_rotate_the_seats(self, game):
        melee = self.plans(game, "melee")[0]
        assert list(lineup(melee, repetition=2).values()) == [*SIX[2:], *SIX[:2]]

    def test_agent_plays_four_announced_rational_agents(self, game):
        plans = self.plans(game, "rational")
        seats = [plans[0].agents[label].spec for label in lineup(plans[0]).values()]
        assert seats == ["script:random", *["script:rational"] * 4]
        assert {plan.game.config["told_of_others"] for plan in plans} == {"rational"}

    def test_only_the_first_five_agents_are_seniors(self, game):
        assert self.plans(game, "senior")[0].lineups.labels() == tuple(SIX[:5])
        assert check(COLLECTIONS[f"econarena-{game}-senior"].adapted(SIX[:4])).faults

    def test_unreadable_answers_count_as_fouls_not_failures(self, game):
        plan = self.plans(game, "melee")[0]
        settings = plan.agents["openai:a"].settings(plan.agents)
        assert (settings["tries_after_first"], settings["script"], settings["script_counts"]) == (0, "no_answer", True)
        assert settings["strategy"] == "published"


def test_contest_limits_are_drawn_by_group_and_seed():
    def limits(environment: str, seed: int) -> list[int]:
        plans = plans_of(f"econarena-contest-{environment}", SIX, seed)
        return [plan.game.config["upper"] for plan in plans]

    first = limits("melee", 1)
    for group_number, (low, high) in enumerate([(10, 100), (100, 1000), (1000, 10_000)]):
        group = first[50 * group_number : 50 * (group_number + 1)]
        assert all(low <= limit < high for limit in group) and len(set(group)) > 10
    assert first == limits("rational", 1) != limits("melee", 2)


def test_challengers_play_the_first_two_agents_in_every_seat():
    plans = plans_of("aucarena-standard", ["openai:a", "openai:b", "openai:c"])
    assert plans[0].lineups.agents == ("openai:c", "rule")
    seats = [lineup(plans[0], repetition=repetition) for repetition in range(3)]
    assert all(sorted(each.values()) == ["openai:a", "openai:b", "openai:c"] for each in seats)
    assert {each["p1"] for each in seats} == {"openai:a", "openai:b", "openai:c"}
    assert {plan.seeds for plan in plans} == {"instance"}, "all challengers get the same draws"
    assert check(COLLECTIONS["aucarena-standard"].adapted(["openai:a", "openai:b", "openai:c"])).matches == 2 * 60
    with pytest.raises(BadLineup, match="at least 2 are needed"):
        COLLECTIONS["aucarena-standard"].adapted(["openai:a"])


def test_a_model_plays_itself_with_and_without_planning():
    plan = plans_of("aucarena-modules", ["openai:m"])[0]
    agents = [plan.agents[label] for label in plan.lineups.agents]
    assert [(agent.spec, agent.strategy) for agent in agents] == [
        ("openai:m", strategy) for strategy in ("adaptive", "static", "none")
    ]
    assert check(COLLECTIONS["aucarena-modules"].document).matches == 20


@pytest.mark.parametrize("repetition", range(10))
def test_each_model_bids_once_for_profit_and_once_for_items(repetition):
    plan = plans_of("aucarena-objectives", ["openai:a", "openai:b"])[0]
    seated = lineup(plan, repetition=repetition).values()
    seatings = Counter(zip(seated, plan.game.config["objectives"], strict=True))
    assert seatings == Counter((f"openai:{name}", objective) for name in "ab" for objective in ("profit", "items"))
    assert check(COLLECTIONS["aucarena-objectives"].document).matches == 30


@pytest.mark.parametrize("name", [name for name in COLLECTIONS if name.startswith("coopeval")])
def test_dilemmas_are_played_three_times_by_all(name):
    agents = [f"script:{script}" for script in registry.get("social_dilemma").scripts]
    plans = plans_of(name, agents)
    games = [configure(registry.get("social_dilemma"), plan.game.config) for plan in plans]
    sizes = [plan.lineups.count(game.roles()) for plan, game in zip(plans, games, strict=True)]
    if "reputation" in name:
        assert sizes == [1, 1, 1, 1]
        seated = lineup(plans[0])
        positions = [sorted(seated[f"p{k}"] for k in range(first, 13, 2)) for first in (1, 2)]
        assert positions == [sorted(agents)] * 2
    else:
        assert sizes == [36, 216, 36, 36]
    assert plans[0].repetitions == 3
    assert all(game.people() == () or not game.repeated for game in games)


def test_an_agent_is_named_once():
    with pytest.raises(BadLineup, match="listed only once"):
        COLLECTIONS["econevals-duopoly"].adapted(["script:nash", "script:nash"])
