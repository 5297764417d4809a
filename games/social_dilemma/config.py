"""The parameters of a social dilemma: the base game, the mechanism, and each mechanism's own parameters."""

from __future__ import annotations

from string import ascii_uppercase
from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from games.interface import Role, TwoSources
from games.seats import numbered_roles
from games.social_dilemma.base_games import PUBLISHED, BaseGame, CustomGame, Name, action_names, words

Mechanism = Literal["none", "repetition", "reputation_first_order", "reputation_higher_order", "mediation", "contract"]
REPEATED = ("repetition", "reputation_first_order", "reputation_higher_order")
REPUTATION = ("reputation_first_order", "reputation_higher_order")
Group = Annotated[tuple[Role, ...], Field(min_length=2, max_length=6)]
ActionName = Annotated[str, Field(min_length=1, max_length=30, pattern=r"^[^\s{}<>]+( [^\s{}<>]+)*$")]
Matching = Annotated[tuple[Group, ...], Field(title="Round", examples=[[["p1", "p2"], ["p3", "p4"], ["p5", "p6"]]])]
"""The groups of one round, each ordered by position."""


class DilemmaConfig(TwoSources):
    """One treatment. Parameters of other mechanisms have no effect."""

    base_game: Name = Field("prisoners_dilemma", title="Base game")
    custom_game: CustomGame | None = Field(
        None,
        title="Custom game",
        description="Used if the base game is “custom”.",
        examples=[{"actions": [2, 2], "payoffs": {"0,0": [2, 2], "0,1": [0, 3], "1,0": [3, 0], "1,1": [1, 1]}}],
    )
    framing: Literal["numbers", "letters", "words"] = Field(
        "numbers",
        title="Names of the actions",
        description="Numbers: A0, A1, … Letters: A, B, … Words: what they mean in the base game, such as “put in” and "
        "“keep”; letters if it has no words. Moves and data keep A0, A1, …",
    )
    action_names: Annotated[tuple[ActionName, ...], Field(min_length=2, max_length=10)] | None = Field(
        None, title="Own names of the actions", description="Shown instead, in this order."
    )
    mechanism: Mechanism = Field("none", title="Mechanism", description="What may sustain cooperation.")
    answer_with: Literal["either", "percentages", "action"] = Field(
        "either", title="Answers", description="One action, percentages for a random draw of an action, or either."
    )
    rounds: int = Field(15, ge=1, le=100, title="Rounds", description="For repetition and reputation.")
    continuation: float = Field(
        0.8, gt=0, lt=1, title="Continuation", description="δ: the weight of each round relative to the one before."
    )
    stopping: Literal["weighted", "published", "drawn"] = Field(
        "weighted",
        title="Stopping",
        description=(
            "Weighted: all rounds are played and players are told their weights. Published: the same, but players are "
            "told of a chance δ that another round follows; never for people. Drawn: that chance really decides."
        ),
    )
    stop_after: Annotated[int, Field(ge=1)] | None = Field(
        None, title="Stop after", description="If stopping is “drawn”: the last round. Empty: random."
    )
    history_depth: int = Field(
        3, ge=0, le=100, title="Rounds remembered", description="Number of earlier rounds shown."
    )
    population: int = Field(3, ge=2, le=12, title="Population", description="Number of groups that play in parallel.")
    matching: Literal["random", "rotation"] = Field("random", title="Matching", description="Who meets whom.")
    schedule: tuple[Matching, ...] | None = Field(
        None,
        title="Schedule",
        description="Who meets whom: an entry for every round, in it a row for every group with its seats in order of "
        "position, such as p1 and p2. Empty: set by the matching.",
    )
    contract_bound: Annotated[int, Field(ge=0, le=1_000_000)] | None = Field(
        None,
        title="Largest payment",
        description="In a contract. Empty: the base game's largest payoff, or in the program's version a million.",
    )

    @model_validator(mode="after")
    def _fits(self) -> DilemmaConfig:
        if (self.base_game == "custom") != (self.custom_game is not None):
            raise PydanticCustomError(
                "custom_game", "A custom game is required if, and only if, the base game is “custom”."
            )
        if self.stop_after is not None and self.stop_after > self.rounds:
            raise PydanticCustomError("stop_after", "Stop after: must not exceed the number of rounds.")
        base = self.base()
        self._check_names(max(base.actions))
        if self.mechanism == "mediation" and len(set(base.actions)) > 1:
            raise PydanticCustomError("mediation", "Mediation needs the same number of actions for every seat.")
        if self.mechanism in REPUTATION and self.schedule is not None:
            self._check_schedule(base.seats)
        return self

    def labels(self, actions: int) -> tuple[str, ...]:
        """Return what this many actions are called."""
        if self.action_names is not None:
            return self.action_names
        if self.framing == "numbers":
            return action_names(actions)
        meanings = words(self.base_game) if self.framing == "words" else ()
        return meanings or tuple(ascii_uppercase[:actions])

    def _check_names(self, actions: int) -> None:
        names = self.action_names
        if names is None:
            return
        if len(names) != actions:
            raise PydanticCustomError(
                "action_names", "The base game has {actions} actions: give one name for each.", {"actions": actions}
            )
        if len({name.strip().casefold() for name in names}) < actions:
            raise PydanticCustomError("action_names", "Two actions have the same name.")

    def _check_schedule(self, seats: int) -> None:
        assert self.schedule is not None
        if len(self.schedule) != self.rounds:
            raise PydanticCustomError(
                "schedule",
                "The schedule needs one list of groups for each of the {rounds} rounds.",
                {"rounds": self.rounds},
            )
        roles = numbered_roles(seats * self.population)
        for number, groups in enumerate(self.schedule, start=1):
            everybody = sorted(role for group in groups for role in group)
            in_place = all(
                len(group) == seats and all(role in roles[position::seats] for position, role in enumerate(group))
                for group in groups
            )
            if everybody != sorted(roles) or not in_place:
                raise PydanticCustomError(
                    "schedule",
                    "Round {round} of the schedule must name every seat once, {seats} a group, in order of position.",
                    {"round": number, "seats": seats},
                )

    def base(self) -> BaseGame:
        """Return the base game in normal form."""
        return PUBLISHED[self.base_game] if self.custom_game is None else self.custom_game.game()
