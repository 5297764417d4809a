"""The stand-in over HTTP, on 127.0.0.1: API, published keys and participants' pages."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from llm_agents.standins.http import HttpRequest
from llm_agents.standins.kit import Fault, Reply, Service, data, page, redirect
from marketplaces.prolific.standin import pages
from marketplaces.prolific.standin.market import (
    FILTERS,
    Event,
    Market,
    Refusal,
    Submission,
    new_id,
    with_fees,
)

TOKEN = "stand-in-token"
_COOKIE = "worker"


@dataclass(frozen=True)
class Call:
    """One API call as it arrived."""

    method: str
    path: str
    body: Any


class StandIn(Service):
    """Serves a `Market`; faults name a call by its "METHOD /path"."""

    def __init__(self, *, port: int = 0, **market: Any) -> None:
        super().__init__(port=port)
        self.market = Market(**{"token": TOKEN, **market})
        self.lock = self.market.lock
        self.calls: list[Call] = []

    def call_of(self, request: HttpRequest) -> str:
        is_call = request.path.startswith(("/api/", "/.well-known/"))
        return f"{request.method} {request.path}" if is_call else ""

    def answer(self, request: HttpRequest) -> Reply:
        if not self.call_of(request):
            return self._page(request)
        try:
            return self._call(request)
        except Refusal as refusal:
            return _error(refusal)

    def failure(self, fault: Fault) -> Reply:
        if fault is Fault.RATE:
            return _error(Refusal(429, "Too many requests", "Request was throttled."))
        return super().failure(fault)

    def deliver(self) -> None:
        """Send new events to their subscribers, once and in the background; undelivered events are lost."""
        events, self.market.events = self.market.events, []
        if events:
            threading.Thread(target=_send_all, args=(events,), daemon=True).start()

    # ---- the API -------------------------------------------------------------------------------------

    def _call(self, request: HttpRequest) -> Reply:
        if request.path == "/.well-known/study/jwks.json":
            return data({"keys": [self.market.key.public()]})
        try:
            body = json.loads(request.body) if request.body else {}
        except ValueError:
            raise Refusal(400, "Parse error", "The body is not JSON.") from None
        self.calls.append(Call(request.method, request.path, body))
        if request.headers.get("authorization") != f"Token {self.market.token}":
            raise Refusal(401, "Unauthorized", "Invalid token.")
        for method, pattern, respond in _ROUTES:
            if method == request.method and (match := re.fullmatch(f"/api/v1{pattern}", request.path)):
                answer = respond(self.market, request.fields if method == "GET" else body, *match.groups())
                if isinstance(answer, list):
                    answer = self._page_of_rows(request, answer)
                secret = {"x_hook_secret": answer["secret"]} if isinstance(answer, dict) and "secret" in answer else {}
                status = 202 if answer is None else 201 if method == "POST" and pattern in _CREATING else 200
                return data(_hook(answer) if secret else answer, status, **secret)
        raise Refusal(404, "Not found", "There is no such address.")

    def _page_of_rows(self, request: HttpRequest, rows: list[Any]) -> dict[str, Any]:
        number, size = int(request.fields.get("page", 1)), int(request.fields.get("page_size", 20))
        query = urlencode({**request.fields, "page": number + 1})
        next_address = f"{self.address}{request.path}?{query}" if len(rows) > number * size else None
        links = {"self": {"href": request.path}, "next": {"href": next_address, "title": "Next"}}
        return {"results": rows[(number - 1) * size : number * size], "_links": links, "meta": {"count": len(rows)}}

    # ---- participants' pages -------------------------------------------------------------------------

    def _page(self, request: HttpRequest) -> Reply:
        cookies = SimpleCookie(request.headers.get("cookie", ""))
        worker = cookies[_COOKIE].value if _COOKIE in cookies else new_id()
        if (request.method, request.path) == ("POST", "/another-worker"):
            return redirect("/", set_cookie=_cookie(new_id()))
        cookie: dict[str, Any] = {"set_cookie": _cookie(worker)}
        try:
            if request.method == "POST" and (match := re.fullmatch(r"/studies/(\w+)/start", request.path)):
                return redirect(self.market.start(match[1], worker), **cookie)
            if request.method == "POST" and (match := re.fullmatch(r"/submissions/(\w+)/return", request.path)):
                if self.market.submission(match[1]).participant != worker:
                    raise Refusal(404, "Not found")
                self.market.give_back(match[1])
                self.deliver()
                return redirect("/", **cookie)
        except Refusal as refusal:
            return page(pages.refused(refusal.title), refusal.status, **cookie)
        if request.method == "GET" and request.path == "/":
            return page(pages.studies(self.market, worker), **cookie)
        if request.method == "GET" and request.path == "/submissions/complete":
            active = self._latest_active_submission(worker)
            submission = self.market.complete(active.id, request.fields.get("cc", "NOCODE")) if active else None
            self.deliver()
            return page(pages.done(submission), **cookie)
        return page(pages.refused("There is no such page."), 404)

    def _latest_active_submission(self, worker: str) -> Submission | None:
        """Return the submission that the participant would end: the latest unfinished one, otherwise the latest."""
        own = [submission for submission in self.market.submissions.values() if submission.participant == worker]
        active = [submission for submission in own if submission.status in ("ACTIVE", "RESERVED")]
        return next(reversed(active or own), None)


def _send_all(events: list[Event]) -> None:
    for event in events:
        request = Request(event.target, data=event.body, headers=event.headers, method="POST")
        with suppress(OSError), urlopen(request, timeout=5):
            pass


def _cookie(worker: str) -> str:
    return f"{_COOKIE}={worker}; Path=/; HttpOnly; SameSite=Lax"


def _error(refusal: Refusal) -> Reply:
    code = 140000 + refusal.status
    error = {"status": refusal.status, "error_code": code, "title": refusal.title, "detail": refusal.detail}
    return data({"error": error}, refusal.status)


def _submission_data(submission: Submission) -> dict[str, Any]:
    return {**_data(submission), "participant": submission.participant, "entered_code": submission.code}


def _list_row(submission: Submission) -> dict[str, Any]:
    flag = {"authenticity_check": submission.authenticity} if submission.authenticity else {}
    return {**_data(submission), "participant_id": submission.participant, "study_code": submission.code, **flag}


def _data(submission: Submission) -> dict[str, Any]:
    return {
        "id": submission.id, "study_id": submission.study, "status": submission.status,
        "started_at": submission.started_at, "completed_at": submission.completed_at,
        "bonus_payments": list(submission.bonuses), "return_requested": submission.return_requested,
    }  # fmt: skip


def _hook(subscription: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in subscription.items() if name != "secret"}


def _balance(market: Market) -> dict[str, Any]:
    amounts = dict.fromkeys(("total_balance", "available_balance"), market.balance)
    return {"currency_code": market.currency, **amounts}


def _workspace_data(market: Market) -> dict[str, Any]:
    return {"id": market.workspace, "title": "Stand-in workspace", "description": "", "currency_code": market.currency}


def _project(market: Market) -> dict[str, Any]:
    return {"id": market.project, "title": "Stand-in project", "workspace": market.workspace}


def _submissions(market: Market, query: Any) -> list[Any]:
    study_id = query.get("study", "")
    market.study(study_id)
    return [_list_row(submission) for submission in market.submissions.values() if submission.study == study_id]


def _in_workspace(market: Market, workspace: str, answer: Any) -> Any:
    if workspace != market.workspace:
        raise Refusal(404, "Not found")
    return answer


_ID = r"/(\w+)/"
_ROUTES: list[tuple[str, str, Callable[..., Any]]] = [
    ("GET", "/users/me/", lambda m, b: {"id": m.researcher, "currency_code": m.currency}),
    ("GET", "/workspaces/", lambda m, b: [_workspace_data(m)]),
    ("GET", f"/workspaces{_ID}balance/", lambda m, b, key: _in_workspace(m, key, _balance(m))),
    ("GET", f"/workspaces{_ID}projects/", lambda m, b, key: _in_workspace(m, key, [_project(m)])),
    ("GET", f"/projects{_ID}", lambda m, b, key: {**_project(m), "id": key}),
    ("GET", "/filters/", lambda m, b: FILTERS),
    ("POST", "/study-cost-calculator/", lambda m, b: {
        "total_cost": with_fees(int(b["reward"])) * int(b["total_available_places"])}),
    ("GET", "/studies/", lambda m, b: [m.shown(study) for study in m.studies.values()]),
    ("POST", "/studies/", lambda m, b: m.create(b)),
    ("GET", f"/studies{_ID}", lambda m, b, key: m.shown(m.study(key))),
    ("PATCH", f"/studies{_ID}", lambda m, b, key: m.change(key, b)),
    ("POST", f"/studies{_ID}transition/", lambda m, b, key: m.transition(key, b.get("action"))),
    ("GET", "/submissions/", _submissions),
    ("POST", "/submissions/bulk-approve/", lambda m, b: m.approve_all(b)),
    ("GET", f"/submissions{_ID}", lambda m, b, key: _submission_data(m.submission(key))),
    ("POST", f"/submissions{_ID}transition/", lambda m, b, key: _submission_data(m.decide(key, b))),
    ("POST", f"/submissions{_ID}request-return/", lambda m, b, key: _submission_data(m.ask_return(key, b))),
    ("POST", "/hooks/secrets/", lambda m, b: m.new_secret(b)),
    ("GET", "/hooks/subscriptions/", lambda m, b: [_hook(hook) for hook in m.hooks.values()]),
    ("POST", "/hooks/subscriptions/", lambda m, b: m.subscribe(b)),
    ("POST", f"/hooks/subscriptions{_ID}", lambda m, b, key: _hook(m.confirm(key, b))),
    ("POST", "/submissions/bonus-payments/", lambda m, b: m.set_up_bonuses(b)),
    ("POST", f"/bulk-bonus-payments{_ID}pay/", lambda m, b, key: m.pay_bonuses(key)),
]  # fmt: skip
"""Method, path and answer: of the market, the body or query, and what the path names; lists are paged."""
_CREATING = {"/studies/", "/hooks/secrets/", "/hooks/subscriptions/", "/submissions/bonus-payments/"}
