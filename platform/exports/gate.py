"""Exclusions: why participants and matches are excluded from the dataset, and the flow. Pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from exports.errors import FlowMismatch
from llm_agents.agent import is_scripted

REASONS: Mapping[str, str] = {
    "failed_code_word": "The participant typed the wrong code word.",
    "failed_comprehension": "The questions about the rules were not answered correctly within the tries.",
    "failed_quiz": "The quiz after the game was not answered correctly.",
    "timed_out": "The participant was present but did not move within the time limit and the extra time.",
    "dropped_out": "The participant dropped out.",
    "opponent_failed": "Another player failed, or the researchers ended the match; not the participant's fault.",
    "our_outage": "The server was unavailable, and the participant or a player of the same match did not come back.",
    "partner_left": "Another person left the match, which ended it.",
    "no_partner": "No match started: too few people arrived, or the participant missed two starts.",
    "replaced": "The participant stopped playing or left, and an agent took the seat.",
    "screened_out": "The participant was screened out.",
    "returned": "The participant returned the assignment to the recruiter.",
    "withdrew": "The participant withdrew.",
    "not_finished": "The participant had not finished at the dataset's cut-off.",
    "no_match": "The enrolment was completed without a match.",
    "not_begun": "The match was planned but not started.",
    "match_not_finished": "The match has no result: it was still running or had been ended early.",
    "failed_check": "The participant failed another attention check.",
    "missing_check": "A check that the study asks for was not answered, such as a quiz left open.",
    "pilot": "The match was part of a pilot.",
    "demo": "The match was a demonstration.",
    "simulated": "Simulated participants played the match, in a study that also has real ones.",
    "clock_move": "The clock made at least one move in place of a player.",
    "scripted_fallback": "A scripted player made at least one move in place of a model.",
    "substituted_move": "Someone other than the seat's player made at least one move.",
    "partner_excluded": "Another person of the same match is excluded.",
}
"""Stable short names; the first one that applies, in this order, counts as the reason."""

STAGES: Mapping[str, str] = {
    "arrived": "arrived and was given a place",
    "consented": "agreed to take part",
    "instructed": "read the instructions and, if asked, typed the code word",
    "began": "started the game",
    "finished": "finished the game",
    "completed": "did everything that the study requires and failed no later check",
    "in_dataset": "is in the dataset",
}
"""Stages that a participant can reach, in order."""

IN_PROGRESS = "under_way"
"""Exported state of an enrolment that ended after the dataset's cut-off."""


@dataclass(frozen=True)
class ParticipantFacts:
    """Facts about one participant's enrolment.

    Attributes:
        state: the participant's state at the cut-off.
        checks_asked: names of the checks that the enrolment has.
        verdicts: whether each check was passed, by name.
        steps_answered: kinds of the steps that were answered.
        began: whether a match was opened.
    """

    state: str
    checks_asked: frozenset[str] = frozenset()
    verdicts: Mapping[str, bool] = field(default_factory=dict)
    steps_answered: frozenset[str] = frozenset()
    began: bool = False


def participant_reasons(participant: ParticipantFacts) -> frozenset[str]:
    """Return the reasons to exclude a participant's matches that lie in their own enrolment."""
    reasons = set()
    if participant.state in REASONS:  # as every ending without data is
        reasons.add(participant.state)
    elif participant.state != "completed":
        reasons.add("not_finished")
    for check, passed in participant.verdicts.items():
        if not passed:
            reasons.add(f"failed_{check}" if f"failed_{check}" in REASONS else "failed_check")
    if participant.state == "completed":
        if not participant.began:
            reasons.add("no_match")
        if participant.checks_asked - set(participant.verdicts):
            reasons.add("missing_check")
    return frozenset(reasons)


def match_reasons(
    *, finished: bool, purpose: str, of_study: str, moved_for_others: Iterable[str] = ()
) -> frozenset[str]:
    """Return the reasons to exclude a match that lie in the match itself.

    Args:
        finished: whether it has a result.
        of_study: the study's purpose: the matches of a demonstration, or of simulated participants, count only in a
            study that is nothing else and says so.
    """
    reasons = set()
    if not finished:
        reasons.add("match_not_finished")
    if purpose == "pilot" or (purpose in ("demo", "simulated") and purpose != of_study):
        reasons.add(purpose)
    return substitution_reasons(moved_for_others) | reasons


def substitution_reasons(movers: Iterable[str]) -> frozenset[str]:
    """Return the reasons that follow from moves that others made for a player."""
    reasons = set()
    for mover in movers:
        if mover == "clock":
            reasons.add("clock_move")
        elif is_scripted(mover):
            reasons.add("scripted_fallback")
        else:
            reasons.add("substituted_move")
    return frozenset(reasons)


def ordered(reasons: Iterable[str]) -> tuple[str, ...]:
    """Return reasons in the order of `REASONS`: the first one is counted."""
    rank = {name: i for i, name in enumerate(REASONS)}
    return tuple(sorted(set(reasons), key=rank.__getitem__))


def stage(participant: ParticipantFacts, *, finished: bool, in_dataset: bool) -> str:
    """Return the furthest stage that a participant reached.

    Args:
        finished: whether one of their matches has a result.
    """
    if in_dataset:
        return "in_dataset"
    if participant.state == "completed":
        return "completed"
    if finished:
        return "finished"
    if participant.began:
        return "began"
    if "instructions" in participant.steps_answered:
        return "instructed"
    return "consented" if "consent" in participant.steps_answered else "arrived"


@dataclass
class Flow:
    """Numbers of participants by stage, and why the others left; each participant is counted exactly once."""

    left: dict[str, Counter[str]] = field(default_factory=lambda: {stage: Counter() for stage in STAGES})
    arrived: int = 0
    in_dataset: int = 0
    matches: int = 0
    unverified: int = 0
    excluded_matches: Counter[str] = field(default_factory=Counter)
    cells: Counter[tuple[int, int | None, str]] = field(default_factory=Counter)
    """Counts of each cell, by version, number and "participants", "matches" or "matches_in_dataset"."""

    def count_cell(self, version: int, cell: int | None, kind: str) -> None:
        """Count a participant or match of a cell, for cells.csv only."""
        self.cells[version, cell, kind] += 1

    def count(self, *, stage: str, reasons: tuple[str, ...]) -> None:
        """Count a participant who reached `stage`; without reasons they are in the dataset."""
        self.arrived += 1
        if stage == "in_dataset":
            self.in_dataset += 1
        else:
            self.left[stage][reasons[0]] += 1

    def count_match(self, *, reasons: tuple[str, ...], unverified: bool = False) -> None:
        """Count a match; without reasons it is in the dataset."""
        if reasons:
            self.excluded_matches[reasons[0]] += 1
        else:
            self.matches += 1
            self.unverified += unverified

    def add(self, other: Flow) -> None:
        """Add another flow's counts."""
        for stage, left in other.left.items():
            self.left[stage].update(left)
        self.arrived += other.arrived
        self.in_dataset += other.in_dataset
        self.matches += other.matches
        self.unverified += other.unverified
        self.excluded_matches.update(other.excluded_matches)
        self.cells.update(other.cells)

    @property
    def matches_seen(self) -> int:
        """Number of matches, in the dataset or not."""
        return self.matches + sum(self.excluded_matches.values())

    def excluded(self) -> dict[str, int]:
        """Return the number of participants per reason; reasons that apply to no one are omitted."""
        total: Counter[str] = sum(self.left.values(), start=Counter())
        return {reason: total[reason] for reason in REASONS if total[reason]}

    def stages(self) -> list[dict[str, Any]]:
        """Return [{stage, reached, left: {reason: count}}] in order."""
        rows, reached = [], self.arrived
        for name in STAGES:
            left = {reason: self.left[name][reason] for reason in REASONS if self.left[name][reason]}
            rows.append({"stage": name, "reached": reached, "left": left})
            reached -= sum(left.values())
        return rows

    def as_dict(self) -> dict[str, Any]:
        """Return the flow for flow.json and the manifest.

        Raises:
            FlowMismatch: the sums do not agree.
        """
        flow = {
            "arrived": self.arrived,
            "in_dataset": self.in_dataset,
            "excluded": self.excluded(),
            "stages": self.stages(),
            "matches_in_dataset": self.matches,
            "matches": {
                "seen": self.matches_seen,
                "in_dataset": self.matches,
                "unverified": self.unverified,
                "excluded": {
                    reason: self.excluded_matches[reason] for reason in REASONS if self.excluded_matches[reason]
                },
            },
        }
        if problem := mismatch(flow):
            raise FlowMismatch(problem)
        return flow


def flow_rows(flow: Mapping[str, Any]) -> Iterator[tuple[str, str, int]]:
    """Yield (stage, "reached" or the reason why some went no further, participants)."""
    for stage in flow["stages"]:
        for what, count in [("reached", stage["reached"]), *stage["left"].items()]:
            yield stage["stage"], what, count


def mismatch(flow: Mapping[str, Any]) -> str | None:
    """Return what does not add up in a flow as plain data; None if it adds up."""
    if flow["arrived"] != flow["in_dataset"] + sum(flow["excluded"].values()):
        return "arrived is not the sum of those in the dataset and those excluded"
    reached, left_by_reason = flow["arrived"], Counter[str]()
    for row in flow["stages"]:
        if row["reached"] != reached:
            return f"{row['reached']} reached the stage {row['stage']}; expected {reached}"
        reached -= sum(row["left"].values())
        left_by_reason.update(row["left"])
    if [row["stage"] for row in flow["stages"]] != list(STAGES):
        return "the stages are not those of this version of the format"
    if reached != flow["in_dataset"]:
        return "the last stage's count is not the number in the dataset"
    if dict(left_by_reason) != dict(flow["excluded"]):
        return "the reasons by stage do not sum to the total by reason"
    matches = flow["matches"]
    if matches["seen"] != matches["in_dataset"] + sum(matches["excluded"].values()):
        return "the matches seen are not the sum of those in the dataset and those excluded"
    if matches["in_dataset"] != flow["matches_in_dataset"]:
        return "the two counts of matches in the dataset differ"
    return None
