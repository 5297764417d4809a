"""The workers' pages: a task list, a framed preview, and accepting, working on, returning and submitting a task."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from urllib.parse import urlencode

from marketplaces.mturk.standin.market import Assignment, Hit, Market, RequestError, Worker

PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
_STYLE = """
:root { color-scheme: light dark } * { box-sizing: border-box }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; display: flex; flex-direction: column; min-height: 100vh }
header { background: #22313f; color: #fff; padding: .6rem 1rem; display: flex; flex-wrap: wrap; gap: .5rem 1rem }
header { align-items: center } header a { color: #fff }
main { padding: 1rem; max-width: 60rem; width: 100%; margin: 0 auto }
main.frame { padding: 0; max-width: none; flex: 1; display: flex }
iframe { border: 0; width: 100%; flex: 1; min-height: 85vh }
button, input { font: inherit; padding: .4rem .9rem } form { display: inline }
ul { list-style: none; padding: 0 }
li { border: 1px solid #8886; border-radius: .4rem; padding: 1rem; margin: 0 0 1rem }
.note { background: #8883; border-radius: .4rem; padding: .5rem .8rem } label { display: block; margin: 0 0 .8rem }
"""


class PageNotFound(Exception):
    """Raised for a page that does not exist."""


def begin() -> str:
    """Return the page where a visitor enters a worker ID."""
    return _page(
        "Who are you?",
        "<p class=note>This is a rehearsal of Mechanical Turk: nothing here is real, and nobody is paid.</p>"
        '<form method="get" action="/worker"><label>Worker ID <input name="worker" required '
        'pattern="A[A-Z0-9]{5,20}" value="AREHEARSAL1"></label><button>See the tasks</button></form>',
    )


def tasks(market: Market, worker: Worker) -> str:
    """Return the page with the tasks offered to this worker and those they are working on."""
    open_assignments = [
        assignment
        for assignment in market.assignments.values()
        if assignment.worker == worker.id and assignment.status == "Accepted"
    ]
    own_tasks = "".join(
        f'<li>{_title(assignment.hit)}<a href="/worker/{worker.id}/assignment/{assignment.id}">Continue</a></li>'
        for assignment in open_assignments
    )
    offered = "".join(
        f'<li>{_title(hit)}<a href="/worker/{worker.id}/hit/{hit.id}">Preview</a></li>'
        for hit in market.offered(worker)
    )
    return _page(
        "Tasks",
        (f"<h2>Yours</h2><ul>{own_tasks}</ul>" if own_tasks else "")
        + (f"<h2>For you</h2><ul>{offered}</ul>" if offered else "<p class=note>There are no tasks for you now.</p>"),
        worker,
    )


def preview(market: Market, worker: Worker, hit: Hit) -> str:
    """Return the page that shows a task in a frame before it is accepted."""
    may_accept = market.may_accept(worker, hit)
    accept_form = f'<form method="post" action="/worker/{worker.id}/hit/{hit.id}/accept"><button>Accept</button></form>'
    source = _framed(hit, {"assignmentId": PREVIEW, "hitId": hit.id})
    return _page(hit.title, source, worker, accept_form if may_accept else "You cannot accept this task.", frame=True)


def work(worker: Worker, assignment: Assignment, origin: str) -> str:
    """Return the page that shows an accepted task in a frame."""
    hit = assignment.hit
    if assignment.status != "Accepted":
        return _page(hit.title, f"<p class=note>This assignment is {escape(assignment.status.lower())}.</p>", worker)
    link = {"assignmentId": assignment.id, "hitId": hit.id, "workerId": worker.id, "turkSubmitTo": origin}
    return_form = (
        f'<form method="post" action="/worker/{worker.id}/assignment/{assignment.id}/return">'
        "<button>Return</button></form>"
    )
    return _page(hit.title, _framed(hit, link), worker, return_form, frame=True)


def submitted(assignment: Assignment) -> str:
    """Return the page that the frame shows after the answer was submitted."""
    worker = assignment.worker
    return _page(
        "The task has been submitted",
        f'<p>Thank you.</p><p><a href="/worker/{worker}" target="_top">Back to the tasks</a></p>',
    )


def refused(error: RequestError) -> str:
    """Return the page that the frame shows if the answer was not accepted."""
    return _page("There was a problem submitting your results", f"<p class=note>{escape(error.code)}</p>")


def _framed(hit: Hit, link: Mapping[str, str]) -> str:
    address = hit.address + ("&" if "?" in hit.address else "?") + urlencode(link)
    height = f' style="height:{hit.frame_height}px"' if hit.frame_height else ""
    return f'<iframe title="The task" name="task" src="{escape(address)}"{height}></iframe>'


def _title(hit: Hit) -> str:
    return f"<h3>{escape(hit.title)}</h3><p>{escape(hit.description)}</p><p>Reward: ${hit.reward:.2f}</p>"


def _page(title: str, body: str, worker: Worker | None = None, actions: str = "", *, frame: bool = False) -> str:
    worker_links = (
        f'<span>{escape(worker.id)}</span><a href="/worker/{escape(worker.id)}">All tasks</a>' if worker else ""
    )
    heading = "" if frame else f"<h1>{escape(title)}</h1>"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>"
        f"<header><strong>Rehearsal of Mechanical Turk</strong>{worker_links}{actions}</header>"
        f"<main{' class=frame' if frame else ''}>{heading}{body}</main></body></html>"
    )
