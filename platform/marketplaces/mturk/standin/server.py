"""The stand-in's server on 127.0.0.1: the requester API at the root, with the workers' pages alongside."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import threading
import time
from collections import deque
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

from marketplaces.mturk.standin import interface, pages
from marketplaces.mturk.standin.interface import Call, Fault
from marketplaces.mturk.standin.market import Assignment, Hit, Market, RequestError, Worker
from marketplaces.mturk.standin.misbehaviours import Misbehaviour

KEY_ID = "AKIATWINTWINTWINTWIN"
SECRET = "stand-in-secret-that-opens-nothing-else"
"""Credentials for the stand-in; they must appear nowhere else."""
JSON, HTML = "application/x-amz-json-1.1", "text/html; charset=utf-8"
_ID = r"([A-Za-z0-9]{1,64})"


class StandIn:
    """A complete stand-in for Mechanical Turk. Use it as a context manager.

    Args:
        port: 0 for any free port.
        balance: the requester's balance in US dollars.

    Attributes:
        market: the tasks, assignments and money.
        calls: the operations that were called, in order.
        slowness: the delay of Misbehaviour.SLOW in seconds.
    """

    def __init__(self, *, port: int = 0, balance: Decimal = Decimal("10000.00"), slowness: float = 60.0):
        self.market = Market(balance)
        self.calls: list[str] = []
        self.slowness = slowness
        self.every: tuple[Misbehaviour, int] | None = None
        self._due: dict[str, deque[Misbehaviour]] = {}
        self._over = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        """Base address of the API and of the workers' pages."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()

    def misbehave(self, operation: str, *failures: Misbehaviour) -> None:
        """Make the next calls of an operation fail, one after another; "" means any operation."""
        self._due.setdefault(operation, deque()).extend(failures)

    def behave(self) -> None:
        """Cancel all remaining failures."""
        self._due.clear()
        self.every = None

    def next_failure(self, operation: str) -> Misbehaviour | None:
        """Return the failure of the call that has just arrived, if any."""
        self.calls.append(operation)
        for name in (operation, ""):
            if self._due.get(name):
                return self._due[name].popleft()
        if self.every is not None and len(self.calls) % self.every[1] == 0:
            return self.every[0]
        return None

    def delay_answer(self) -> None:
        """Wait as long as a slow answer takes, or until the stand-in stops."""
        self._over.wait(self.slowness)


def _handler(standin: StandIn) -> type[BaseHTTPRequestHandler]:
    class Handler(_ConnectionHandler):
        pass

    Handler.standin = standin
    return Handler


class _ConnectionHandler(BaseHTTPRequestHandler):
    """One connection."""

    standin: StandIn
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing, because requests name workers."""

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        try:
            with self.standin.market.lock:
                self.standin.market.settle()
                self._get(address.path, dict(parse_qsl(address.query)))
        except (pages.PageNotFound, RequestError):
            self._send(404, "Not found", HTML)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        path = urlsplit(self.path).path
        if path == "/":
            self._interface(body)
            return
        try:
            with self.standin.market.lock:
                self.standin.market.settle()
                self._post(path, dict(parse_qsl(body.decode(errors="replace"), keep_blank_values=True)))
        except RequestError as error:
            self._send(400, pages.refused(error), HTML)
        except pages.PageNotFound:
            self._send(404, "Not found", HTML)

    # ---- the workers' pages ----------------------------------------------------------------------------

    def _get(self, path: str, query: dict[str, str]) -> None:
        market = self.standin.market
        if path == "/":
            self._send(200, pages.begin(), HTML)
        elif path == "/worker":
            self._worker(query.get("worker", ""))
            self._redirect(f"/worker/{query['worker']}")
        elif match := re.fullmatch(rf"/worker/{_ID}", path):
            self._send(200, pages.tasks(market, self._worker(match[1])), HTML)
        elif match := re.fullmatch(rf"/worker/{_ID}/hit/{_ID}", path):
            self._send(200, pages.preview(market, self._worker(match[1]), self._hit(match[2])), HTML)
        elif match := re.fullmatch(rf"/worker/{_ID}/assignment/{_ID}", path):
            worker = self._worker(match[1])
            self._send(200, pages.work(worker, self._assignment(match[2], worker), self.standin.url), HTML)
        else:
            raise pages.PageNotFound

    def _post(self, path: str, fields: dict[str, str]) -> None:
        market = self.standin.market
        if match := re.fullmatch(rf"/worker/{_ID}/hit/{_ID}/accept", path):
            accepted = market.accept(self._worker(match[1]), self._hit(match[2]))
            self._redirect(f"/worker/{accepted.worker}/assignment/{accepted.id}")
        elif match := re.fullmatch(rf"/worker/{_ID}/assignment/{_ID}/return", path):
            worker = self._worker(match[1])
            market.leave(self._assignment(match[2], worker))
            self._redirect(f"/worker/{worker.id}")
        elif path == "/mturk/externalSubmit":
            assignment = market.assignments.get(fields.get("assignmentId", ""))
            if assignment is None:
                raise RequestError("AssignmentDoesNotExist", "There is no such assignment.")
            market.submit(assignment, fields)
            self._send(200, pages.submitted(assignment), HTML)
        else:
            raise pages.PageNotFound

    def _worker(self, key: str) -> Worker:
        if not re.fullmatch(r"A[A-Z0-9]{1,40}", key):
            raise pages.PageNotFound
        return self.standin.market.worker(key)

    def _hit(self, key: str) -> Hit:
        return self.standin.market.hit(key)

    def _assignment(self, key: str, worker: Worker) -> Assignment:
        assignment = self.standin.market.assignments.get(key)
        if assignment is None or assignment.worker != worker.id:
            raise pages.PageNotFound
        return assignment

    # ---- the API ---------------------------------------------------------------------------------------

    def _interface(self, body: bytes) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        call = Call(f"http://{headers.get('host', '')}/", headers, body)
        failure = self.standin.next_failure(call.operation)
        if failure is Misbehaviour.THROTTLED:
            self._fail(400, "ThrottlingException", {"message": "Rate exceeded"})
        elif failure is Misbehaviour.FAILS:
            self._fail(500, "ServiceFault", {"Message": "Try again.", "TurkErrorCode": "AWS.ServiceUnavailable"})
        elif failure is Misbehaviour.DOWN:
            self._hang_up()
        else:
            self._answer(call, failure)

    def _answer(self, call: Call, failure: Misbehaviour | None) -> None:
        try:
            interface.refuse_unsigned(call, key_id=KEY_ID, secret=SECRET)
            result = interface.answer(self.standin.market, call)
        except Fault as fault:
            return self._fail(fault.status, fault.name, {"message": str(fault)})
        except RequestError as error:
            timestamp = f"{int(time.time() * 1000)}"
            message = {"Message": f"{error} ({timestamp} {error.code})", "TurkErrorCode": error.code}
            return self._fail(400, "RequestError", message)
        if failure is Misbehaviour.FAILS_LATE:
            self._fail(500, "ServiceFault", {"Message": "Try again.", "TurkErrorCode": "AWS.ServiceUnavailable"})
        elif failure is Misbehaviour.LOST:
            self._hang_up()
        elif failure is Misbehaviour.NONSENSE:
            self._send(200, "<html><body>It works!</body></html>", HTML)
        elif failure is Misbehaviour.GARBLED:
            self._send(200, '{"HIT": [], "AvailableBalance": "plenty", "Assignments": {"a": 1}}', JSON)
        else:
            if failure is Misbehaviour.SLOW:
                self.standin.delay_answer()
            self._send(200, json.dumps(result), JSON)

    def _fail(self, status: int, name: str, message: dict[str, str]) -> None:
        self._send(status, json.dumps({"__type": name, **message}), JSON)

    def _hang_up(self) -> None:
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    # ---- answers ---------------------------------------------------------------------------------------

    def _send(self, status: int, text: str, kind: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _redirect(self, address: str) -> None:
        self.send_response(303)
        self.send_header("Location", address)
        self.send_header("Content-Length", "0")
        self.end_headers()
