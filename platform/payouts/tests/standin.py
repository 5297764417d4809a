"""A stand-in for a recruiter's API over real HTTP, with its own books, and the payer that calls it.

It can fail in every way in which such an API fails: before or after a request takes effect, with an error, an invalid
answer, a closed connection, or no answer at all.
"""

from __future__ import annotations

import http.client
import json
import threading
import time
import urllib.request
from collections import Counter, deque
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from payouts.payers import Answer, AssignmentStatus, Order, Outcome, Unreachable

PATIENCE = 1.0
"""How long the payer waits, in seconds."""
FAULTS = (
    "error_before", "error_after", "drop_before", "drop_after", "nonsense_before", "nonsense_after",
    "silence_before", "silence_after",
)  # fmt: skip


class StandIn:
    """`with StandIn() as standin`: a server at `standin.address`.

    Attributes:
        repeats_safely: an order is not paid again under an identifier that was paid before.
        faults: the next failures by method ("assignment_status", "prepare", "pay", "look_up").
        paid: every payment made, as (uid, amount).
        statuses: by worker; default: submitted.
        later: orders are only accepted, and confirmed at the second look-up.
    """

    def __init__(self, *, repeats_safely: bool = True) -> None:
        self.repeats_safely = repeats_safely
        self.faults: dict[str, deque[str]] = {}
        self.paid: list[tuple[str, str]] = []
        self.asked: Counter[str] = Counter()
        self.statuses: dict[str, str] = {}
        self.refuses = ""
        self.later = False
        self._prepared = 0
        self._looked: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> StandIn:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def fail(self, requested: str, *faults: str) -> None:
        self.faults.setdefault(requested, deque()).extend(faults)

    @property
    def times(self) -> Counter[str]:
        """Return how often each order was paid."""
        return Counter(uid for uid, _amount in self.paid)

    def do(self, requested: str, order: dict[str, str]) -> dict[str, str]:
        uid = order["uid"]
        with self._lock:
            self.asked[requested] += 1
            if requested == "assignment_status":
                return {"assignment_status": self.statuses.get(order["worker"], "submitted")}
            if requested == "prepare":
                self._prepared += 1
                return {"reference": f"batch-{self._prepared}"}
            if requested == "pay":
                if self.refuses:
                    return {"outcome": "refused", "reason": self.refuses}
                if not (self.repeats_safely and uid in self.times):
                    self.paid.append((uid, order["amount"]))
                return {"outcome": "sent" if self.later else "confirmed"}
            if uid not in self.times:
                return {"outcome": "not_found"}
            self._looked[uid] += 1
            return {"outcome": "sent" if self.later and self._looked[uid] < 2 else "confirmed"}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        standin = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                order = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                requested = self.path.strip("/")
                waiting = standin.faults.get(requested)
                fault, _under, when = (waiting.popleft() if waiting else "none_none").partition("_")
                if when == "before":
                    self._fail(fault)
                    return
                answer = standin.do(requested, order)
                if when == "after":
                    self._fail(fault)
                    return
                self._say(200, json.dumps(answer).encode())

            def _fail(self, fault: str) -> None:
                if fault == "error":
                    self._say(500, b"{}")
                elif fault == "nonsense":
                    self._say(200, b"<html>certainly</html>")
                elif fault == "silence":
                    time.sleep(PATIENCE * 1.5)
                self.close_connection = True

            def _say(self, status: int, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments: Any) -> None: ...

        return Handler


class StandInPayer:
    """Pays through the server at `address`."""

    def __init__(self, address: str, *, may_repeat: bool) -> None:
        self.address = address
        self.may_repeat = may_repeat

    def balance(self) -> tuple[Decimal, str]:
        return Decimal("100.00"), "USD"

    def fee(self, order: Order) -> Decimal:
        return order.amount / 5

    def assignment_status(self, order: Order) -> AssignmentStatus:
        return AssignmentStatus(self._ask("assignment_status", order)["assignment_status"])

    def prepare(self, order: Order) -> str:
        return self._ask("prepare", order)["reference"]

    def pay(self, order: Order) -> Answer:
        return self._answer(self._ask("pay", order))

    def look_up(self, order: Order) -> Answer:
        return self._answer(self._ask("look_up", order))

    def _answer(self, reply: dict[str, str]) -> Answer:
        return Answer(Outcome(reply["outcome"]), reply.get("reason", ""))

    def _ask(self, method: str, order: Order) -> dict[str, str]:
        body = {
            "uid": str(order.uid), "worker": order.worker, "amount": str(order.amount), "reference": order.reference
        }  # fmt: skip
        request = urllib.request.Request(f"{self.address}/{method}", data=json.dumps(body).encode(), method="POST")
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                reply: dict[str, str] = json.loads(answer.read())
                return reply
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise Unreachable(f"the stand-in server did not answer ({type(error).__name__})") from None
