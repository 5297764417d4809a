"""The stand-in's pages for participants."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from llm_agents.standins.kit import button, people_page
from marketplaces.prolific.standin.market import Market, Submission

_NAME = "Prolific"


def studies(market: Market, worker: str) -> str:
    """Return the page of studies that this participant can take part in, and of those they have begun."""
    articles = []
    for study in market.studies.values():
        if study["status"] != "UNPUBLISHED":
            own = [
                submission
                for submission in market.submissions.values()
                if (submission.study, submission.participant) == (study["id"], worker)
            ]
            articles.append(_study(study, own[-1] if own else None))
    body = "".join(articles) or "<p>No study is published.</p>"
    return people_page(_NAME, "Studies", body + button("/another-worker", "Become another participant"))


def _study(study: Mapping[str, Any], submission: Submission | None) -> str:
    facts = f"{study['reward'] / 100:.2f} {study['currency_code']}, about {study['estimated_completion_time']} minutes"
    heading = f"<h2>{escape(study['name'])}</h2><p>{escape(study['description'])}</p><p>{escape(facts)}</p>"
    start = f"/studies/{study['id']}/start"
    if submission is None:
        offered = button(start, "Start") if study["status"] == "ACTIVE" else "<p>No place is free.</p>"
        return f"<article>{heading}{offered}</article>"
    actions = ""
    if submission.status in ("RESERVED", "ACTIVE"):
        actions = button(start, "Open again") + " "
    if submission.return_requested and submission.status == "AWAITING REVIEW":
        actions = f"<p>You are asked to return your submission. {escape(' '.join(submission.return_reasons))}</p>"
    if submission.status in ("RESERVED", "ACTIVE", "AWAITING REVIEW"):
        actions += button(f"/submissions/{submission.id}/return", "Return my submission")
    return f"<article>{heading}<p>Your submission: {escape(submission.status)}</p>{actions}</article>"


def done(submission: Submission | None) -> str:
    """Return the page for a participant who came back with a code."""
    if submission is None:
        return refused("You have no place in a study.")
    heading = "Please return your submission." if submission.return_requested else "Your submission has been received."
    return people_page(_NAME, heading, f"<p>It is {escape(submission.status)} now.</p><p><a href='/'>Studies</a></p>")


def refused(reason: str) -> str:
    return people_page(_NAME, "That is not possible", f"<p>{escape(reason)}</p><p><a href='/'>Studies</a></p>")
