"""A finished study with 80 simulated participants: does waiting cost, and do words help, in bargaining?

A 2 × 2 design: Alice's money loses 5% or 20% of its value per round, and offers may carry a message or not. Simulated
participants play Alice against the scripted haggler. They behave in a known way, so that everyone can compare what an
analysis finds with the truth:

- Everyone has an aim, the smallest share they accept: `AIM` on average, less if waiting is expensive (`IMPATIENCE`),
  more if they can give reasons (`MESSAGES`), the same in both combinations, with a standard deviation of `SPREAD`.
- They first ask for `OPENING` more than their aim and come down by `STEP` with each offer, to the aim.
- They accept an offer of at least what they would ask for next, and any offer in the last round.

What they get is a little more than they aim for, because the haggler meets them halfway.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

from games.interface import MoveData, Role
from games.play import Play
from plans.files import loads
from showcase.samples.person import Person, Plan, chance
from studies.models import Study

SLUG, GAME = "sample-bargaining", "bargaining"
PEOPLE = 80
PLAN = loads(Path(__file__).with_suffix(".yaml").read_text("utf-8"))
TITLE = str(PLAN["title"])
IMPATIENT = min(PLAN["factors"]["patience"]["levels"])
AIM, IMPATIENCE, MESSAGES, SPREAD = 0.40, -0.12, 0.08, 0.05
OPENING, STEP = 0.15, 0.04
DESCRIPTION = (
    "Simulated: 80 scripts with known behaviour took the place of people and bargained as Alice with another script "
    "over 100 points. What Alice gets loses 5% or 20% of its value per round, and offers may carry a message or not "
    f"(2 × 2). Known effects on the share that they aim for: expensive waiting {IMPATIENCE:+.2f}, messages "
    f"{MESSAGES:+.2f}, no interaction; standard deviation between them {SPREAD:.2f}."
)

FAILING: Mapping[Plan, int] = {
    Plan.WRONG_CODE: 4,
    Plan.SILENT: 2,
    Plan.WITHDRAWS: 2,
    Plan.MISREADS: 2,
    Plan.SCREENED_OUT: 1,
    Plan.VANISHES: 1,
}
"""How many do not get into the dataset, and why; they are spread over all but the last participants at random."""
LAST_FINISH = 5
"""The last participants all finish, so that the study ends with every cell full."""
PAYMENTS: Mapping[int, str] = {3: "refused", 5: "unclear", 31: "refused", 64: "waiting", 65: "waiting", 66: "waiting"}
"""Participants, by number, whose payments do not simply go through."""
APPROVED_UP_TO = 68
"""The researcher has approved the pay of the participants up to this number."""

STRATEGIES = (
    "I started high and came down slowly.",
    "I wanted at least what I thought was fair.",
    "I waited to see how far the other would go.",
    "Every round cost something, so I tried to agree soon.",
    "I looked at what was left after each round.",
)
OPENINGS = (
    "I start, and I lose more than you think if this takes long. Does this work for you?",
    "Here is my first proposal. I am open to a reasonable answer.",
    "Hello! I would like to settle this quickly, with a fair part for both of us.",
)
LATER = (
    "I have come down. Please meet me.",
    "You ask for a lot. I think this is closer to fair.",
    "Let us not waste more of it. This is a good offer for you.",
    "I gave up a part again. Your turn to move a little.",
)
EXPERIENCE = {"Never": 5, "Once or twice": 4, "Often": 2}
"""Answers with their weights."""


def people(study: Study) -> list[Person]:
    """Return the participants in the order of their arrival."""
    failing = [plan for plan, number in FAILING.items() for _person in range(number)]
    plans = [Plan.FINISH] * (PEOPLE - LAST_FINISH - len(failing)) + failing
    Random(f"{SLUG}/plans").shuffle(plans)
    plans += [Plan.FINISH] * LAST_FINISH
    return [
        Bargainer(study, number, plan, payment=PAYMENTS.get(number, "paid")) for number, plan in enumerate(plans, 1)
    ]


class Bargainer(Person):
    """A participant who plays Alice."""

    share = 0.0
    offers = 0

    def answer(self, name: str) -> str:
        if name == "adult":
            return "No" if self.plan == Plan.SCREENED_OUT else "Yes"
        if name == "age":
            return "17" if self.plan == Plan.SCREENED_OUT else str(min(74, 18 + int(self.rng.expovariate(1 / 16))))
        if name == "experience":
            return str(chance(EXPERIENCE, self.rng))
        if name == "fairness":
            return str(min(7, max(1, round(1 + 10 * self.share + self.rng.gauss(0, 0.8)))))
        return self.rng.choice(STRATEGIES) if self.rng.random() < 0.7 else ""

    def move(self, play: Play, role: Role) -> MoveData:
        config, offer = play.game.config, play.state.on_table
        if offer is not None:
            is_last_round = len(play.state.proposals) == config.rounds
            is_enough = offer.alice_gain >= self._asks_for(config)
            self.share = offer.alice_gain / config.money
            return {"decision": "accept" if is_enough or is_last_round else "reject"}
        asked = self._asks_for(config)
        self.share = asked / config.money
        sentences = LATER if self.offers else OPENINGS
        self.offers += 1
        message = self.rng.choice(sentences) if config.messages_allowed and self.rng.random() < 0.8 else None
        game: Any = play.game
        move: MoveData = game.split(role, asked, message)
        return move

    def _asks_for(self, config: Any) -> float:
        """Return the whole points that the person asks for next."""
        aim = AIM + IMPATIENCE * (config.delta_alice == IMPATIENT) + MESSAGES * config.messages_allowed
        own_aim = aim + Random(f"{self.study.slug}/{self.number}/aim").gauss(0, SPREAD)
        return float(round(config.money * min(1, max(0.05, own_aim + max(0, OPENING - STEP * self.offers)))))

    def thinking(self, move: MoveData) -> float:
        message = move.get("message")
        typing = len(message) / 5 if isinstance(message, str) else 0
        return (8 if "decision" in move else 15) + typing
