"""One match as a line of JSON."""

from __future__ import annotations

from typing import Any

from exports.participants import PlayedMatch

TRANSCRIPTS = "transcripts.jsonl"


def transcript(match: PlayedMatch) -> dict[str, Any]:
    """One match as a line of transcripts.jsonl; the codebook says what its keys mean."""
    return {
        "match": match.uid,
        "game": match.match.game,
        "rules_version": match.match.rules_version,
        "version": match.place.version,
        "source": match.reading.source.origin,
        "name": match.place.name or None,
        "unverified": match.unverified,
        "config": match.match.config,
        "seed": match.match.seed,
        "players": {role: match.player(role) for role in match.seats},
        "events": match.events,
        "payoffs": match.match.payoffs or dict.fromkeys(match.seats),
        "metrics": match.match.metrics or {},
        "in_dataset": not match.reasons,
    }
