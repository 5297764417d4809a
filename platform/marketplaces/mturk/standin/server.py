"""The stand-in's server: the requester API at the root, with the workers' pages alongside."""

from __future__ import annotations

import re
import time
from decimal import Decimal
from hmac import compare_digest
from html import escape
from urllib.parse import urlencode

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from llm_agents.standins.http import HttpRequest
from llm_agents.standins.kit import Fault, Reply, Service, button, data, page, people_page, redirect
from marketplaces.mturk.standin.market import Assignment, Hit, Market, RequestError, Worker

KEY_ID = "AKIATWINTWINTWINTWIN"
SECRET = "stand-in-secret-that-opens-nothing-else"
"""Credentials for the stand-in; they must appear nowhere else."""
JSON = "application/x-amz-json-1.1"
TARGET = "MTurkRequesterServiceV20170117."
REGION, SERVICE = "us-east-1", "mturk-requester"
_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/([^/]+)/aws4_request, ?"
    r"SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})"
)
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
_WORKERS_PAGE = re.compile(
    r"/worker/(?P<worker>A[A-Z0-9]{1,40})"
    r"(/hit/(?P<hit>\w{1,64})(?P<accept>/accept)?|/assignment/(?P<assignment>\w{1,64})(?P<return>/return)?)?"
)


class StandIn(Service):
    """A complete stand-in for Mechanical Turk; faults name a call by its operation.

    Attributes:
        market: the tasks, assignments and money.
        calls: the operations that were called, in order.
    """

    garbled = {"HIT": [], "AvailableBalance": "plenty", "Assignments": {"a": 1}}

    def __init__(self, *, port: int = 0, balance: Decimal = Decimal("10000.00")):
        super().__init__(port=port)
        self.market = Market(balance)
        self.lock = self.market.lock
        self.calls: list[str] = []

    def call_of(self, request: HttpRequest) -> str:
        return _operation_of(request) if (request.method, request.path) == ("POST", "/") else ""

    def failure(self, fault: Fault) -> Reply:
        if fault is Fault.RATE:
            return _error("ThrottlingException", message="Rate exceeded")
        return _error("ServiceFault", 500, Message="Try again.", TurkErrorCode="AWS.ServiceUnavailable")

    def answer(self, request: HttpRequest) -> Reply:
        if request.path == "/" and request.method == "POST":
            return self._call(request)
        self.market.settle()
        try:
            return self._page(request) or page("Not found", 404)
        except RequestError as error:
            body = _html("There was a problem submitting your results", f"<p class=note>{escape(error.code)}</p>")
            return page(body, 400 if request.method == "POST" else 404)

    def _call(self, request: HttpRequest) -> Reply:
        operation = _operation_of(request)
        self.calls.append(operation)
        try:
            _refuse_unsigned(request)
            return data(self.market.answer(operation, request.body), kind=JSON)
        except RequestError as error:
            if error.code.endswith("Exception"):
                return _error(error.code, message=str(error))
            code = f"AWS.MechanicalTurk.{error.code}"
            return _error("RequestError", Message=f"{error} ({int(time.time() * 1000)} {code})", TurkErrorCode=code)

    # ---- the workers' pages ----------------------------------------------------------------------------

    def _page(self, request: HttpRequest) -> Reply | None:
        """Return the page at an address; None if there is none."""
        market, fields = self.market, request.fields
        if request.path == "/mturk/externalSubmit" and request.method == "POST":
            submitted = market.assignments.get(fields.get("assignmentId", ""))
            if submitted is None:
                raise RequestError("AssignmentDoesNotExist", "There is no such assignment.")
            market.submit(submitted, fields)
            back = f'<p><a href="/worker/{submitted.worker}" target="_top">Back to the tasks</a></p>'
            return page(_html("The task has been submitted", f"<p>Thank you.</p>{back}"))
        if request.path == "/":
            return page(_html("Who are you?", _WHO))
        if request.path == "/worker" and re.fullmatch("[A-Z0-9]+", fields.get("worker", "")):
            return redirect(f"/worker/{fields['worker']}")
        match = _WORKERS_PAGE.fullmatch(request.path)
        is_action = request.method == "POST"
        if match is None or is_action != bool(match["accept"] or match["return"]):
            return None
        worker, key = market.worker(match["worker"]), match["hit"] or match["assignment"]
        if key is None:
            return page(_tasks(market, worker))
        if match["hit"]:
            if is_action:
                accepted = market.accept(worker, market.hit(key))
                return redirect(f"/worker/{worker.id}/assignment/{accepted.id}")
            return page(_preview(market, worker, market.hit(key)))
        assignment = market.assignments.get(key)
        if assignment is None or assignment.worker != worker.id:
            return None
        if is_action:
            market.leave(assignment)
            return redirect(f"/worker/{worker.id}")
        return page(_work(worker, assignment, self.address))


def _operation_of(request: HttpRequest) -> str:
    return request.headers.get("x-amz-target", "").removeprefix(TARGET)


def _refuse_unsigned(request: HttpRequest) -> None:
    """Raise RequestError unless the request is signed with our key (AWS signature version 4)."""
    headers = request.headers
    match = _AUTHORIZATION.fullmatch(headers.get("authorization", ""))
    if match is None or "x-amz-date" not in headers:
        raise RequestError("MissingAuthenticationTokenException", "Missing Authentication Token")
    if match[1] != KEY_ID or (match[3], match[4]) != (REGION, SERVICE):
        raise RequestError("UnrecognizedClientException", "The security token included in the request is invalid.")
    signed_headers = {name: headers.get(name, "") for name in match[5].split(";")}
    signed = AWSRequest("POST", f"http://{headers.get('host', '')}/", headers=signed_headers, data=request.body)
    signed.context["timestamp"] = headers["x-amz-date"]
    signer = SigV4Auth(Credentials(KEY_ID, SECRET), SERVICE, REGION)
    expected = signer.signature(signer.string_to_sign(signed, signer.canonical_request(signed)), signed)
    if not compare_digest(expected, match[6]):
        raise RequestError("InvalidSignatureException", "The request signature we calculated does not match.")


def _error(name: str, status: int = 400, **message: str) -> Reply:
    return data({"__type": name, **message}, status, kind=JSON)


_WHO = (
    "<p class=note>This is a rehearsal of Mechanical Turk: nothing here is real, and nobody is paid.</p>"
    '<form method="get" action="/worker"><label>Worker ID <input name="worker" required '
    'pattern="A[A-Z0-9]{5,20}" value="AREHEARSAL1"></label><button>See the tasks</button></form>'
)


def _tasks(market: Market, worker: Worker) -> str:
    """Return the page with the tasks offered to this worker and those they are working on."""
    open_ones = [one for one in market.assignments.values() if (one.worker, one.status) == (worker.id, "Accepted")]
    own = [_entry(one.hit, f"/worker/{worker.id}/assignment/{one.id}", "Continue") for one in open_ones]
    offered = [_entry(hit, f"/worker/{worker.id}/hit/{hit.id}", "Preview") for hit in market.offered(worker)]
    for_you = f"<h2>For you</h2><ul>{''.join(offered)}</ul>" if offered else "<p class=note>No task for you now.</p>"
    return _html("Tasks", (f"<h2>Yours</h2><ul>{''.join(own)}</ul>" if own else "") + for_you, worker)


def _entry(hit: Hit, address: str, label: str) -> str:
    facts = f"<h3>{escape(hit.title)}</h3><p>{escape(hit.description)}</p><p>Reward: ${hit.reward:.2f}</p>"
    return f'<li>{facts}<a href="{address}">{label}</a></li>'


def _preview(market: Market, worker: Worker, hit: Hit) -> str:
    """Return the page that shows a task in a frame before it is accepted."""
    accept = button(f"/worker/{worker.id}/hit/{hit.id}/accept", "Accept")
    actions = accept if market.may_accept(worker, hit) else "You cannot accept this task."
    return _html(hit.title, _framed(hit, assignmentId=PREVIEW, hitId=hit.id), worker, actions, frame=True)


def _work(worker: Worker, assignment: Assignment, origin: str) -> str:
    """Return the page that shows an accepted task in a frame."""
    hit = assignment.hit
    if assignment.status != "Accepted":
        return _html(hit.title, f"<p class=note>This assignment is {escape(assignment.status.lower())}.</p>", worker)
    frame = _framed(hit, assignmentId=assignment.id, hitId=hit.id, workerId=worker.id, turkSubmitTo=origin)
    give_back = button(f"/worker/{worker.id}/assignment/{assignment.id}/return", "Return")
    return _html(hit.title, frame, worker, give_back, frame=True)


def _framed(hit: Hit, **link: str) -> str:
    address = f"{hit.address}{'&' if '?' in hit.address else '?'}{urlencode(link)}"
    return f'<iframe title="The task" name="task" src="{escape(address)}"></iframe>'


def _html(title: str, body: str, worker: Worker | None = None, actions: str = "", *, frame: bool = False) -> str:
    links = f'<span>{worker.id}</span><a href="/worker/{worker.id}">All tasks</a>' if worker else ""
    return people_page("Mechanical Turk", title, body, header=links + actions, frame=frame)
