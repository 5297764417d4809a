"""The stand-in over HTTP, on 127.0.0.1: API, published keys and participants' pages."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import Request, urlopen

from marketplaces.prolific.standin import pages
from marketplaces.prolific.standin.market import (
    EVENT_TYPES,
    FILTERS,
    Event,
    Market,
    Refusal,
    Submission,
    new_id,
    with_fees,
)

TOKEN = "stand-in-token"
KINDS = ("drop", "drop_after", "error", "error_after", "slow", "nonsense", "throttle")
_COOKIE = "worker"


@dataclass
class Misbehaviour:
    """A fault in the next `times` calls whose "METHOD /path" matches `pattern`.

    Kinds: "drop" and "error" (500) hit a call before it takes effect, "drop_after" and "error_after" afterwards;
    "slow" waits `seconds` before the call takes effect; "nonsense" returns something other than JSON, without effect;
    "throttle" returns 429.
    """

    kind: str
    pattern: str = ""
    times: int = 1
    seconds: float = 2.0

    def applies_to(self, call: str) -> bool:
        return self.times > 0 and re.search(self.pattern, call) is not None


@dataclass(frozen=True)
class Call:
    """One API call as it arrived."""

    method: str
    path: str
    body: Any


class StandIn:
    """Serves a `Market`; a context manager.

    Args:
        port: 0 for any free port.
    """

    def __init__(self, *, port: int = 0, **market: Any) -> None:
        self.market = Market(**{"token": TOKEN, **market})
        self.calls: list[Call] = []
        self.misbehaviours: list[Misbehaviour] = []
        handler = type("Handler", (_Handler,), {"standin": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", port), handler, bind_and_activate=True)
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> StandIn:
        self._thread.start()
        return self

    def close(self) -> None:
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()

    def __enter__(self) -> StandIn:
        return self.start()

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def misbehave(self, kind: str, pattern: str = "", *, times: int = 1, seconds: float = 2.0) -> None:
        assert kind in KINDS, kind
        self.misbehaviours.append(Misbehaviour(kind, pattern, times, seconds))

    def behave(self) -> None:
        self.misbehaviours.clear()

    def deliver(self) -> None:
        """Send new events to their subscribers, once and in the background; undelivered events are lost."""
        with self.market.lock:
            events, self.market.events = self.market.events, []
        if events:
            threading.Thread(target=_send_all, args=(events,), daemon=True).start()

    def next_misbehaviour(self, call: str) -> Misbehaviour | None:
        with self.market.lock:
            misbehaviour = next((candidate for candidate in self.misbehaviours if candidate.applies_to(call)), None)
            if misbehaviour is not None:
                misbehaviour.times -= 1
            return misbehaviour


def _send_all(events: list[Event]) -> None:
    for event in events:
        request = Request(event.target, data=event.body, headers=event.headers, method="POST")
        with suppress(OSError), urlopen(request, timeout=5):
            pass


class _DroppedConnection(Exception):
    """Hang up without a response."""


class _Handler(BaseHTTPRequestHandler):
    standin: StandIn
    protocol_version = "HTTP/1.1"

    def log_message(self, *_args: Any) -> None:
        """Log nothing: addresses contain participants' identifiers."""

    def do_GET(self) -> None:
        self._take()

    do_POST = do_PATCH = do_GET

    def _take(self) -> None:
        url = urlsplit(self.path)
        length = int(self.headers.get("content-length") or 0)
        self.body = self.rfile.read(length)
        self.query = {name: values[-1] for name, values in parse_qs(url.query).items()}
        self.route = url.path
        self.close_connection = True
        try:
            if self.route.startswith("/api/") or self.route.startswith("/.well-known/"):
                self._interface()
            else:
                self._page()
        except _DroppedConnection:
            self.connection.close()
        except BrokenPipeError:
            pass

    # ---- the API -------------------------------------------------------------------------------------

    def _interface(self) -> None:
        call = f"{self.command} {self.route}"
        misbehaviour = self.standin.next_misbehaviour(call)
        kind = misbehaviour.kind if misbehaviour else ""
        if misbehaviour and kind == "slow":
            time.sleep(misbehaviour.seconds)
        if kind == "drop":
            raise _DroppedConnection
        if kind == "error":
            return self._send(500, b"<html>Internal Server Error</html>", "text/html")
        if kind == "nonsense":
            return self._send(200, b"<html>Welcome</html>", "text/html")
        if kind == "throttle":
            return self._refuse(Refusal(429, "Too many requests", "Request was throttled."))
        try:
            status, answer = self._answer()
        except Refusal as refusal:
            return self._refuse(refusal)
        if kind == "drop_after":
            raise _DroppedConnection
        if kind == "error_after":
            return self._send(500, b"<html>Internal Server Error</html>", "text/html")
        extra = {"x_hook_secret": answer["secret"]} if isinstance(answer, dict) and "secret" in answer else {}
        self._json(status, _hook(answer) if extra else answer, **extra)

    def _answer(self) -> tuple[int, Any]:
        market = self.standin.market
        if self.route == "/.well-known/study/jwks.json":
            return 200, {"keys": [market.key.public()]}
        try:
            body = json.loads(self.body) if self.body else {}
        except ValueError:
            raise Refusal(400, "Parse error", "The body is not JSON.") from None
        self.standin.calls.append(Call(self.command, self.route, body))
        if self.headers.get("authorization") != f"Token {market.token}":
            raise Refusal(401, "Unauthorized", "Invalid token.")
        for method, pattern, respond in _ROUTES:
            if method == self.command and (match := re.fullmatch(f"/api/v1{pattern}", self.route)):
                with market.lock:
                    return respond(self, market, body, *match.groups())
        raise Refusal(404, "Not found", "There is no such address.")

    def _page_of_rows(self, rows: list[Any]) -> tuple[int, Any]:
        page, size = int(self.query.get("page", 1)), int(self.query.get("page_size", 20))
        has_more = len(rows) > page * size
        next_address = (
            f"{self.standin.address}{self.route}?{urlencode({**self.query, 'page': page + 1})}" if has_more else None
        )
        links = {"self": {"href": self.route}, "next": {"href": next_address, "title": "Next"}}
        return 200, {"results": rows[(page - 1) * size : page * size], "_links": links, "meta": {"count": len(rows)}}

    def _refuse(self, refusal: Refusal) -> None:
        error = {
            "status": refusal.status,
            "error_code": 140000 + refusal.status,
            "title": refusal.title,
            "detail": refusal.detail,
        }
        self._json(refusal.status, {"error": error})

    def _json(self, status: int, answer: Any, **headers: str) -> None:
        self._send(status, b"" if answer is None else json.dumps(answer).encode(), "application/json", **headers)

    def _send(self, status: int, body: bytes, kind: str, **headers: str) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.send_header("connection", "close")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    # ---- participants' pages -------------------------------------------------------------------------

    def _page(self) -> None:
        market = self.standin.market
        cookie = SimpleCookie(self.headers.get("cookie", ""))
        worker = cookie[_COOKIE].value if _COOKIE in cookie else new_id()
        cookie_header = {"set_cookie": f"{_COOKIE}={worker}; Path=/; HttpOnly; SameSite=Lax"}
        is_post = self.command == "POST"
        with market.lock:
            try:
                if self.route == "/" and not is_post:
                    return self._html(pages.studies(market, worker), **cookie_header)
                if is_post and self.route == "/another-worker":
                    cookie_header = {"set_cookie": f"{_COOKIE}={new_id()}; Path=/; HttpOnly; SameSite=Lax"}
                    return self._redirect("/", **cookie_header)
                if is_post and (match := re.fullmatch(r"/studies/(\w+)/start", self.route)):
                    return self._redirect(market.start(match[1], worker), **cookie_header)
                if is_post and (match := re.fullmatch(r"/submissions/(\w+)/return", self.route)):
                    self._refuse_foreign_submission(match[1], worker)
                    market.give_back(match[1])
                    self.standin.deliver()
                    return self._redirect("/", **cookie_header)
                if self.route == "/submissions/complete" and not is_post:
                    active = self._latest_active_submission(worker)
                    submission = market.complete(active.id, self.query.get("cc", "NOCODE")) if active else None
                    self.standin.deliver()
                    return self._html(pages.done(submission), **cookie_header)
            except Refusal as refusal:
                return self._html(pages.refused(refusal.title), status=refusal.status, **cookie_header)
        self._html(pages.refused("There is no such page."), status=404)

    def _latest_active_submission(self, worker: str) -> Submission | None:
        """Return the submission that the participant would end: the latest unfinished one, otherwise the latest."""
        own_submissions = [
            submission for submission in self.standin.market.submissions.values() if submission.participant == worker
        ]
        return next(
            (submission for submission in reversed(own_submissions) if submission.status in ("ACTIVE", "RESERVED")),
            own_submissions[-1] if own_submissions else None,
        )

    def _refuse_foreign_submission(self, submission: str, worker: str) -> None:
        if self.standin.market.submission(submission).participant != worker:
            raise Refusal(404, "Not found")

    def _redirect(self, address: str, **headers: str) -> None:
        self._send(HTTPStatus.SEE_OTHER, b"", "text/html", location=address, **headers)

    def _html(self, page: str, *, status: int = 200, **headers: str) -> None:
        self._send(status, page.encode(), "text/html; charset=utf-8", **headers)


def _submission_data(submission: Submission) -> dict[str, Any]:
    return {
        "id": submission.id, "study_id": submission.study, "participant": submission.participant,
        "status": submission.status, "started_at": submission.started_at, "completed_at": submission.completed_at,
        "entered_code": submission.code, "bonus_payments": list(submission.bonuses),
        "return_requested": submission.return_requested,
    }  # fmt: skip


def _list_row(submission: Submission) -> dict[str, Any]:
    return {
        "id": submission.id, "study_id": submission.study, "participant_id": submission.participant,
        "status": submission.status, "started_at": submission.started_at, "completed_at": submission.completed_at,
        "study_code": submission.code, "bonus_payments": list(submission.bonuses),
        "return_requested": submission.return_requested,
        **({"authenticity_check": submission.authenticity} if submission.authenticity else {}),
    }  # fmt: skip


def _hook(subscription: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in subscription.items() if name != "secret"}


def _balance(market: Market) -> dict[str, Any]:
    breakdown = {"rewards": market.balance, "fees": 0, "vat": 0}
    return {
        "currency_code": market.currency, "total_balance": market.balance, "balance_breakdown": breakdown,
        "available_balance": market.balance, "available_balance_breakdown": breakdown,
    }  # fmt: skip


def _workspace_data(market: Market) -> dict[str, Any]:
    return {"id": market.workspace, "title": "Stand-in workspace", "description": "", "currency_code": market.currency}


def _project(market: Market) -> dict[str, Any]:
    return {"id": market.project, "title": "Stand-in project", "workspace": market.workspace}


def _require_workspace(market: Market, workspace: str) -> None:
    if workspace != market.workspace:
        raise Refusal(404, "Not found")


def _for_workspace(respond: Callable[[_Handler, Market], Any]) -> Callable[..., tuple[int, Any]]:
    def answer(handler: _Handler, market: Market, _body: Any, workspace: str) -> tuple[int, Any]:
        _require_workspace(market, workspace)
        result: tuple[int, Any] = respond(handler, market)
        return result

    return answer


def _submissions(handler: _Handler, market: Market, _body: Any) -> tuple[int, Any]:
    study_id = handler.query.get("study", "")
    market.study(study_id)
    return handler._page_of_rows(
        [_list_row(submission) for submission in market.submissions.values() if submission.study == study_id]
    )


def _cost(_handler: _Handler, _market: Market, body: Any) -> tuple[int, Any]:
    return 200, {"total_cost": with_fees(int(body["reward"])) * int(body["total_available_places"])}


def _pay(_handler: _Handler, market: Market, _body: Any, bulk: str) -> tuple[int, Any]:
    market.pay_bonuses(bulk)
    return 202, None


def _approve_all(_handler: _Handler, market: Market, body: Any) -> tuple[int, Any]:
    market.approve_all(body)
    return 200, {"message": "The request to bulk approve has been made successfully."}


_ID = r"/(\w+)/"
_ROUTES: list[tuple[str, str, Callable[..., tuple[int, Any]]]] = [
    ("GET", "/users/me/", lambda h, m, b: (200, {"id": m.researcher, "currency_code": m.currency})),
    ("GET", "/workspaces/", lambda h, m, b: h._page_of_rows([_workspace_data(m)])),
    ("GET", f"/workspaces{_ID}balance/", _for_workspace(lambda h, m: (200, _balance(m)))),
    ("GET", f"/workspaces{_ID}projects/", _for_workspace(lambda h, m: h._page_of_rows([_project(m)]))),
    ("GET", f"/projects{_ID}", lambda h, m, b, project: (200, {**_project(m), "id": project})),
    ("GET", "/filters/", lambda h, m, b: h._page_of_rows(FILTERS)),
    ("POST", "/study-cost-calculator/", _cost),
    ("GET", "/studies/", lambda h, m, b: h._page_of_rows([m.shown(study) for study in m.studies.values()])),
    ("POST", "/studies/", lambda h, m, b: (201, m.create(b))),
    ("GET", f"/studies{_ID}", lambda h, m, b, study: (200, m.shown(m.study(study)))),
    ("PATCH", f"/studies{_ID}", lambda h, m, b, study: (200, m.change(study, b))),
    ("POST", f"/studies{_ID}transition/", lambda h, m, b, study: (200, m.transition(study, b.get("action")))),
    ("GET", "/submissions/", _submissions),
    ("POST", "/submissions/bulk-approve/", _approve_all),
    ("GET", f"/submissions{_ID}", lambda h, m, b, key: (200, _submission_data(m.submission(key)))),
    ("POST", f"/submissions{_ID}transition/", lambda h, m, b, key: (200, _submission_data(m.decide(key, b)))),
    ("POST", f"/submissions{_ID}request-return/", lambda h, m, b, key: (200, _submission_data(m.ask_return(key, b)))),
    ("GET", "/hooks/event-types/", lambda h, m, b: h._page_of_rows([{"event_type": name} for name in EVENT_TYPES])),
    ("POST", "/hooks/secrets/", lambda h, m, b: (201, m.new_secret(b))),
    ("GET", "/hooks/subscriptions/", lambda h, m, b: h._page_of_rows([_hook(hook) for hook in m.hooks.values()])),
    ("POST", "/hooks/subscriptions/", lambda h, m, b: (201, m.subscribe(b))),
    ("POST", f"/hooks/subscriptions{_ID}", lambda h, m, b, hook: (200, _hook(m.confirm(hook, b)))),
    ("POST", "/submissions/bonus-payments/", lambda h, m, b: (201, m.set_up_bonuses(b))),
    ("POST", f"/bulk-bonus-payments{_ID}pay/", _pay),
]
