"""The stand-in's pages for participants."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from llm_agents.standins.kit import people_page
from marketplaces.prolific.standin.market import Market, Submission

_NAME = "Prolific"


def studies(market: Market, worker: str) -> str:
    """Return the page of studies that this participant can take part in, and of those they have begun."""
    articles = []
    for study in market.studies.values():
        if study["status"] == "UNPUBLISHED":
            continue
        own_submissions = [
            submission
            for submission in market.submissions.values()
            if (submission.study, submission.participant) == (study["id"], worker)
        ]
        articles.append(_study(study, own_submissions[-1] if own_submissions else None))
    body = "".join(articles) or "<p>No study is published.</p>"
    another_form = '<form method="post" action="/another-worker"><button>Become another participant</button></form>'
    return people_page(_NAME, "Studies", f"{body}{another_form}")


def _study(study: Mapping[str, Any], submission: Submission | None) -> str:
    facts = f"{study['reward'] / 100:.2f} {study['currency_code']}, about {study['estimated_completion_time']} minutes"
    heading = f"<h2>{escape(study['name'])}</h2><p>{escape(study['description'])}</p><p>{escape(facts)}</p>"
    start = f'<form method="post" action="/studies/{study["id"]}/start"><button>{{}}</button></form>'
    if submission is None:
        offered = start.format("Start") if study["status"] == "ACTIVE" else "<p>No place is free.</p>"
        return f"<article>{heading}{offered}</article>"
    give_back = (
        f'<form method="post" action="/submissions/{submission.id}/return"><button>Return my submission</button></form>'
    )
    is_active = submission.status in ("RESERVED", "ACTIVE")
    actions = (start.format("Open again") + " " + give_back) if is_active else ""
    if submission.status == "AWAITING REVIEW":
        reasons = escape(" ".join(submission.return_reasons))
        return_note = (
            f"<p>You are asked to return your submission. {reasons}</p>" if submission.return_requested else ""
        )
        actions = return_note + give_back
    return f"<article>{heading}<p>Your submission: {escape(submission.status)}</p>{actions}</article>"


def done(submission: Submission | None) -> str:
    """Return the page for a participant who came back with a code."""
    if submission is None:
        return refused("You have no place in a study.")
    heading = "Please return your submission." if submission.return_requested else "Your submission has been received."
    return people_page(_NAME, heading, f"<p>It is {escape(submission.status)} now.</p><p><a href='/'>Studies</a></p>")


def refused(reason: str) -> str:
    return people_page(_NAME, "That is not possible", f"<p>{escape(reason)}</p><p><a href='/'>Studies</a></p>")
