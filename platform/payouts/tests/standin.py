"""A stand-in for a recruiter's API over real HTTP, with its own books, and the payer that calls it.

It can fail in every way in which such an API fails (`llm_agents.standins.kit.Fault`).
"""

from __future__ import annotations

import http.client
import json
import urllib.request
from collections import Counter
from decimal import Decimal

from llm_agents.standins.http import HttpRequest
from llm_agents.standins.kit import Fault, Reply, Service, data
from payouts.payers import Answer, AssignmentStatus, Order, Outcome, Payer, Unreachable

PATIENCE = 1.0
"""How long the payer waits, in seconds."""
FAULTS = [fault for fault in Fault if fault not in (Fault.GARBLED, Fault.TWICE)]


class StandIn(Service):
    """`with StandIn() as standin`: a server at `standin.address`; its calls are the methods of a payer.

    Attributes:
        repeats_safely: an order is not paid again under an identifier that was paid before.
        paid: every payment made, as (uid, amount).
        statuses: by worker; default: submitted.
        later: orders are only accepted, and confirmed at the second look-up.
    """

    def __init__(self, *, repeats_safely: bool = True) -> None:
        super().__init__()
        self.repeats_safely = repeats_safely
        self.paid: list[tuple[str, str]] = []
        self.asked: Counter[str] = Counter()
        self.statuses: dict[str, str] = {}
        self.refuses = ""
        self.later = False
        self._prepared = 0
        self._looked: Counter[str] = Counter()

    def call_of(self, request: HttpRequest) -> str:
        return request.path.strip("/")

    def answer(self, request: HttpRequest) -> Reply:
        return data(self.do(self.call_of(request), json.loads(request.body)))

    @property
    def times(self) -> Counter[str]:
        """Return how often each order was paid."""
        return Counter(uid for uid, _amount in self.paid)

    def do(self, requested: str, order: dict[str, str]) -> dict[str, str]:
        uid = order["uid"]
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


class StandInPayer(Payer):
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
