"""The stand-in's pages for participants."""

from __future__ import annotations

from html import escape

from marketplaces.prolific.standin.market import Market, Submission

_FRAME = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Stand-in for Prolific</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body {{ font: 1rem/1.5 system-ui, sans-serif; color: #1f2937 }}
body {{ max-width: 40rem; margin: 2rem auto; padding: 0 1rem }}
article {{ border: 1px solid #9ca3af; border-radius: .5rem; padding: 1rem; margin: 1rem 0 }}
button {{ font: inherit; padding: .5rem 1rem; border-radius: .375rem; border: 0; background: #0f4c75; color: #fff }}
form {{ display: inline }} .quiet {{ color: #4b5563 }}</style></head><body><main>{body}</main>
<p class="quiet">A stand-in for Prolific: nobody is paid here.</p></body></html>"""


def _frame(body: str) -> str:
    return _FRAME.format(body=body)


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
    return _frame(f"<h1>Studies</h1>{body}{another_form}")


def _study(study: dict, submission: Submission | None) -> str:
    facts = f"{study['reward'] / 100:.2f} {study['currency_code']}, about {study['estimated_completion_time']} minutes"
    heading = (
        f"<h2>{escape(study['name'])}</h2><p>{escape(study['description'])}</p><p class='quiet'>{escape(facts)}</p>"
    )
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
    return _frame(f"<h1>{heading}</h1><p>It is {escape(submission.status)} now.</p><p><a href='/'>Studies</a></p>")


def refused(reason: str) -> str:
    return _frame(f"<h1>That is not possible</h1><p>{escape(reason)}</p><p><a href='/'>Studies</a></p>")
