"""How far people got, and why they and matches are excluded, in few words; `exports.gate` explains the reasons."""

from __future__ import annotations

from collections.abc import Mapping

STAGES: Mapping[str, str] = {
    "arrived": "Arrived", "consented": "Consented", "instructed": "Read the instructions", "began": "Began the game",
    "finished": "Finished the game", "completed": "Completed", "in_dataset": "In the dataset",
}  # fmt: skip
REASONS: Mapping[str, str] = {
    "failed_code_word": "wrong code word", "failed_quiz": "failed the quiz",
    "failed_comprehension": "failed the comprehension quiz", "timed_out": "timed out",
    "dropped_out": "dropped out", "opponent_failed": "another player failed",
    "our_outage": "the server was unavailable", "partner_left": "another person left",
    "no_partner": "no partner found", "replaced": "an agent took the seat", "screened_out": "screened out",
    "returned": "returned the assignment", "withdrew": "chose to leave", "not_finished": "still under way",
    "no_match": "no match", "not_begun": "not begun", "match_not_finished": "match without a result",
    "failed_check": "failed another check", "missing_check": "a check was not answered", "pilot": "part of a pilot",
    "demo": "a demonstration", "simulated": "simulated participants", "clock_move": "the clock moved for a player",
    "scripted_fallback": "a script moved for a model", "substituted_move": "a substitute moved",
    "partner_excluded": "the partner is excluded",
}  # fmt: skip


WITHOUT_TREATMENT = frozenset({"pilot", "demo", "simulated", "not_begun", "no_match"})
"""Reasons why a match never was part of the study's comparison; all others arise after people were randomised."""


def without_treatment(reasons: str) -> bool:
    """Return whether one of these reasons, separated by semicolons, is a `WITHOUT_TREATMENT`."""
    return not WITHOUT_TREATMENT.isdisjoint(reasons.split(";"))


def reason(name: str) -> str:
    """Return a readable form of the name that the exporter gives a reason."""
    return REASONS.get(name, name.replace("_", " "))
