"""The judge of a fault test: is every sentence true that a page showed, and is everyone paid for what they did?

A sentence is judged by what was true within the few seconds in which a page can have learned of it. A sentence that
no rule covers is reported too, so that new wordings are judged before anybody reads them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from tests.fault_record import Moment, Record, Seen, conduct, own_moves, prize
from tests.fault_sentences import TIME, clock_is_true, judged, sentences

AT_FAULT = ("timed_out", "dropped_out", "replaced")
"""The endings of those who did not answer or were away for too long."""


@dataclass(frozen=True)
class Finding:
    """A contradiction: what a page showed or somebody was paid, and what was true."""

    at: float
    who: str
    said: str
    truth: str

    def __str__(self) -> str:
        return f"{self.who}: “{self.said}” | {self.truth}"


def false_sentences(record: Record) -> list[Finding]:
    """Return every sentence that was false, or that no rule covers, when a page showed it."""
    findings = []
    for seen in record.seen:
        moment = Moment(record, seen)
        for line in seen.view["lines"]:
            for sentence in [line] if judged(moment, line) else sentences(line):
                verdict = judged(moment, sentence)
                if not verdict:
                    reason = "no rule covers this sentence" if verdict is None else digest(record, seen)
                    findings.append(Finding(seen.at, seen.who, sentence, reason))
        if seen.view.get("clock") and not clock_is_true(moment):
            findings.append(Finding(seen.at, seen.who, " ".join(seen.view["clock"]), digest(record, seen)))
        if _is_ghost(moment):
            findings.append(Finding(seen.at, seen.who, "the game goes on", digest(record, seen)))
    return findings


def _is_ghost(m: Moment) -> bool:
    """Return whether a page that reaches the server still shows a game in which the person no longer is."""
    view = m.seen.view
    is_playing = view.get("round") and not view["over"] and not view["ended"]
    return bool(is_playing) and not m.cut_off() and all(truth["ended"] or truth["left"] for truth in m.known)


def digest(record: Record, seen: Seen) -> str:
    """Return the truth in a few words."""
    truth, match = seen.truth, seen.truth["match"]
    words = [f"{truth['state']} {truth['step']}".strip()]
    if match is not None:
        words.append(f"match {match['status']} {match['ending']}".strip())
        words.append(f"waiting for {', '.join(match['waiting']) or 'nobody'}")
        if turn := match["turns"].get(truth["role"]):
            lost = record.lost_seconds(turn["opened"], seen.at)
            words.append(f"{truth['role']} asked {seen.at - turn['opened'] - lost:.0f} s (+{lost:.0f} s lost)")
    if truth["place"] and match is None:
        words.append(f"{truth['place']['until'] - seen.at:.0f} s of waiting left")
    words += [f"{service} down" for service in record.down(seen.at)]
    words += ["offline"] if seen.offline else []
    return "; ".join(words)


# ---- what everyone is owed


def owed(record: Record, who: str, state: str) -> Decimal:
    """Return what this person is owed if this is how it ended for them."""
    terms, truth = record.terms, record.last(who).truth
    if state == "completed":
        bonus = (terms.rate * prize(record, who)).quantize(Decimal("0.01"), ROUND_HALF_UP)
        return terms.base + bonus
    if state in ("partner_left", "opponent_failed", "our_outage"):
        return terms.base + terms.average
    if state in AT_FAULT and 2 * len(own_moves(truth)) >= terms.rounds:
        return terms.base
    return terms.base if state == "no_partner" else Decimal(0)


def fair_endings(record: Record, who: str) -> set[str]:
    """Return how it may end for this person, by what everybody did."""
    conducts = {name: conduct(record, name) for name in record.doing}
    match = record.last(who).truth["match"]
    if conducts[who] == "left":
        return {"withdrew"}
    if (
        match is not None
        and match["status"] == "finished"
        and len(own_moves(record.last(who).truth)) == record.terms.rounds
    ):
        return {"completed"}
    endings = {"our_outage", "opponent_failed"} if record.outages else set()
    if conducts[who] == "late":
        return endings | {"timed_out", "replaced", "completed"}
    if conducts[who] == "absent":
        return endings | {"dropped_out", "timed_out", "replaced", "completed"}
    if any(other != "did their part" for name, other in conducts.items() if name != who):
        return endings | {"partner_left", "completed"}
    if match is None:
        endings.add("no_partner")
    return endings | {"completed"}


def unpaid_work(record: Record) -> list[Finding]:
    """Return everyone whose ending or pay is not what they did, and whose last page does not say what is paid."""
    findings = []
    for who in record.doing:
        seen = record.last(who)
        truth, state = seen.truth, seen.truth["state"]
        paid = sum(map(Decimal, truth["ledger"].values()), Decimal(0))
        fair = fair_endings(record, who)
        did = f"{conduct(record, who)}, {len(own_moves(truth))} own moves of {record.terms.rounds}"
        if state not in fair:
            findings.append(Finding(seen.at, who, f"ended as {state}, paid ${paid}", f"{did}; fair: {sorted(fair)}"))
        elif paid != (due := owed(record, who, state)):
            findings.append(Finding(seen.at, who, f"ended as {state}, paid ${paid}", f"{did}; owed ${due}"))
        total = (truth["earnings"] or {}).get("total")
        if total is not None and total != f"${paid:.2f}":
            findings.append(Finding(seen.at, who, f"last page: {total}", f"ledger: ${paid}"))
    idle = [who for who in record.doing if conduct(record, who) == "late"]
    for one in idle:
        for other in idle:
            a, b = record.last(one).truth, record.last(other).truth
            alike = len(own_moves(a)) == len(own_moves(b))
            if one < other and alike and a["ledger"] != b["ledger"]:
                said = f"paid {a['ledger']}, {other} {b['ledger']}"
                findings.append(Finding(record.last(one).at, one, said, "both equally idle"))
    return findings


# ---- the protocol ------------------------------------------------------------------------------------------


def protocol(record: Record, findings: Sequence[Finding]) -> str:
    """Return the contradictions by person, each with when it stood there, in seconds since the start."""
    start = record.seen[0].at
    parts = [f"{service} down from {a - start:.0f} to {b - start:.0f} s" for service, a, b in record.outages]
    for who in record.doing:
        own = [finding for finding in findings if finding.who == who]
        if not own:
            continue
        parts.append(f"--- {who}: {conduct(record, who)}, {record.last(who).truth['state']}")
        by_sentence: dict[str, list[Finding]] = {}
        for finding in own:
            by_sentence.setdefault(re.sub(TIME, "m:ss", finding.said), []).append(finding)
        for group in by_sentence.values():
            first, last = group[0], group[-1]
            span = f"{first.at - start:.0f}" + (f"–{last.at - start:.0f}" if last is not first else "")
            parts.append(f"{span} s ({len(group)}×): “{first.said}”\n      at first: {first.truth}")
            if last.truth != first.truth:
                parts.append(f"      at last:  “{last.said}” {last.truth}")
    return "\n".join(parts)
