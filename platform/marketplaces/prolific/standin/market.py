"""The stand-in's data: one researcher's workspace, studies, participants, submissions, and the money."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

ISSUER = "https://www.prolific.com"
LINK_LIFETIME = 600
"""Seconds for which a signed link is valid."""
FEES, TAX = Decimal(1) / 3, Decimal("0.2")
MIN_REWARD = 10
CODE_TYPES = {
    "COMPLETED", "FAILED_ATTENTION_CHECK", "FOLLOW_UP_STUDY", "GIVE_BONUS", "INCOMPATIBLE_DEVICE", "NO_CONSENT",
    "OTHER", "FIXED_SCREENOUT", "SCREENED_OUT",
}  # fmt: skip
ACTIONS = {
    "AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW", "REQUEST_RETURN", "ADD_TO_PARTICIPANT_GROUP",
    "REMOVE_FROM_PARTICIPANT_GROUP", "DYNAMIC_PAYMENT", "FIXED_SCREEN_OUT_PAYMENT",
}  # fmt: skip
REJECTIONS = {
    "TOO_QUICKLY", "TOO_SLOWLY", "FAILED_INSTRUCTIONS", "INCOMP_LONGITUDINAL", "FAILED_CHECK", "LOW_EFFORT",
    "MALINGERING", "NO_CODE", "BAD_CODE", "NO_DATA", "UNSUPP_DEVICE", "OTHER",
}  # fmt: skip
SHORTEST_REJECTION = 100
MAX_AT_ONCE = 200
"""Maximum number of submissions in one request that pays or approves many."""
PLACE_FREED = {"RETURNED", "TIMED-OUT", "REJECTED", "SCREENED OUT"}
EVENT_TYPES = ("submission.status.change", "study.status.change", "study.progress.change")
_REQUIRED = ("name", "description", "external_study_url", "prolific_id_option", "completion_codes",
             "total_available_places", "estimated_completion_time", "reward")  # fmt: skip
_WRONG = {"reward": "The reward is too low.", "completion_codes": "Not a valid completion code, or not available."}
_DEVICES = {"desktop", "tablet", "mobile"}
_MAY_CHANGE_WHEN_PUBLISHED = {"total_available_places", "internal_name", "description", "name"}


class Refusal(Exception):
    """An error response of the API: a status, a title and a detail."""

    def __init__(self, status: int, title: str, detail: Any = "") -> None:
        super().__init__(title)
        self.status, self.title, self.detail = status, title, detail


def new_id() -> str:
    """Return 24 hexadecimal digits, like Prolific's identifiers."""
    return secrets.token_hex(12)


def now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


def with_fees(amount: int) -> int:
    """Return an amount in cents including Prolific's fees and taxes."""
    total = Decimal(amount) * (1 + FEES * (1 + TAX))
    return int(total.quantize(Decimal(1), rounding=ROUND_HALF_UP))


@dataclass
class Key:
    """A key that signs links."""

    kid: str = field(default_factory=lambda: secrets.token_hex(8))
    private: rsa.RSAPrivateKey = field(default_factory=lambda: rsa.generate_private_key(65537, 2048))

    def public(self) -> dict[str, Any]:
        data: dict[str, Any] = RSAAlgorithm.to_jwk(self.private.public_key(), as_dict=True)
        return {**data, "kid": self.kid, "alg": "RS256", "use": "sig", "key_ops": ["verify"]}


@cache
def first_key() -> Key:
    """Return the first key that signs links; created only once, since that takes a while."""
    return Key()


@dataclass
class Submission:
    id: str
    study: str
    participant: str
    status: str = "ACTIVE"
    started_at: str = field(default_factory=now)
    completed_at: str | None = None
    code: str | None = None
    return_requested: str | None = None
    return_reasons: list[str] = field(default_factory=list)
    bonuses: list[int] = field(default_factory=list)
    address: str = ""
    """Address of its treatment, in a study with several addresses."""
    authenticity: str | None = None
    """Result of the authenticity check; None if the API reports none, as its documentation says."""


@dataclass
class BulkBonus:
    id: str
    study: str
    payments: list[tuple[str, int]]
    """(submission, cents)."""
    paid: int = 0


@dataclass
class Event:
    """One event as it is sent, with a signature over the time and the body."""

    target: str
    body: bytes
    secret: str = field(repr=False)
    key: str = field(default_factory=lambda: secrets.token_hex(16))
    sent_at: int = field(default_factory=lambda: int(time.time()))

    @property
    def headers(self) -> dict[str, str]:
        digest = hmac.new(self.secret.encode(), str(self.sent_at).encode() + self.body, hashlib.sha256).digest()
        return {
            "X-Event-ID": self.key,
            "X-Timestamp": str(self.sent_at),
            "X-Prolific-Request-Timestamp": str(self.sent_at),
            "X-Prolific-Request-Signature": base64.b64encode(digest).decode(),
        }


FILTERS: list[dict[str, Any]] = [
    {
        "filter_id": "current-country-of-residence", "title": "Current Country of Residence", "type": "select",
        "data_type": "ChoiceID", "question": "In what country do you currently reside?", "category": "Demographics",
        "choices": {"0": "United Kingdom", "1": "United States", "2": "Ireland"},
    },
    {
        "filter_id": "age", "title": "Age", "type": "range", "data_type": "integer", "min": 18, "max": 100,
        "question": "What is your date of birth?", "category": "Demographics",
    },
    {
        "filter_id": "previous_studies_blocklist", "title": "Exclude participants from previous studies",
        "type": "select", "data_type": "StudyID", "choices": {}, "category": "Participation on Prolific",
    },
]  # fmt: skip
"""Some of the filters, as the API lists them."""
_FILTER_IDS = {entry["filter_id"] for entry in FILTERS}


class Market:
    """All of the stand-in's data, behind one lock. Amounts are in cents."""

    def __init__(
        self,
        *,
        currency: str = "USD",
        balance: int = 1_000_000,
        token: str = "",
        pays_screen_outs: bool = True,
        pays_parts: bool = True,
    ) -> None:
        self.lock = threading.RLock()
        self.token = token
        self.currency, self.balance = currency, balance
        self.workspace, self.project, self.researcher = new_id(), new_id(), new_id()
        self.studies: dict[str, dict[str, Any]] = {}
        self.submissions: dict[str, Submission] = {}
        self.bulks: dict[str, BulkBonus] = {}
        self.key = first_key()
        self.paid: list[tuple[str, str, int]] = []
        """(submission, "reward" or "bonus", cents) in the order of payment."""
        self.pays_late = False
        self.pays_screen_outs = pays_screen_outs
        """Whether the workspace has the fixed payment for screened-out participants."""
        self.pays_parts = pays_parts
        """Whether the workspace has dynamic payment."""
        self.hook_secret = ""
        self.hooks: dict[str, dict[str, Any]] = {}
        self.events: list[Event] = []
        self._unpaid_bonuses: list[tuple[str, int]] = []
        self._to_approve: list[Submission] = []

    # ---- studies -------------------------------------------------------------------------------------

    def create(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        self._check(fields)
        study = {
            "internal_name": "", "is_external_study_url_secure": False, "device_compatibility": [],
            "project": self.project, "filters": [], **fields,
            "id": new_id(), "status": "UNPUBLISHED", "places_taken": 0, "date_created": now(), "published_at": None,
            "currency_code": self.currency,
        }  # fmt: skip
        self.studies[study["id"]] = study
        return self.shown(study)

    def _check(self, fields: Mapping[str, Any]) -> None:
        errors = {name: ["This field is required."] for name in _REQUIRED if fields.get(name) in (None, "", [])}
        codes, addresses = fields.get("completion_codes") or [], fields.get("access_details") or []
        numbers = ("reward", "total_available_places", "estimated_completion_time")
        wrong = {name: not isinstance(fields.get(name), int) or fields[name] < 1 for name in numbers}
        wrong["reward"] = wrong["reward"] or fields["reward"] < MIN_REWARD
        options = (None, "question", "url_parameters", "not_required")
        wrong["project"] = fields.get("project", self.project) != self.project
        wrong["prolific_id_option"] = fields.get("prolific_id_option") not in options
        wrong["device_compatibility"] = bool(set(fields.get("device_compatibility") or ()) - _DEVICES)
        wrong["completion_codes"] = len({code.get("code") for code in codes}) < len(codes) or not all(
            self._is_valid_code(code, fields) for code in codes
        )
        allocated = sum(address["total_allocation"] for address in addresses)
        wrong["access_details"] = bool(addresses) and allocated != fields.get("total_available_places")
        wrong["eligibility_requirements"] = "eligibility_requirements" in fields
        wrong["filters"] = any(entry.get("filter_id") not in _FILTER_IDS for entry in fields.get("filters") or ())
        errors = {
            **{name: [_WRONG.get(name, "Not a choice.")] for name, is_wrong in wrong.items() if is_wrong},
            **errors,
        }
        if errors:
            raise Refusal(400, "Validation error", errors)

    def _is_valid_code(self, code: Mapping[str, Any], fields: Mapping[str, Any]) -> bool:
        actions = {action.get("action"): action for action in code.get("actions", [])}
        if code.get("code_type") not in CODE_TYPES or not actions or set(actions) - ACTIONS or not code.get("code"):
            return False
        asked = actions.get("REQUEST_RETURN", {"return_reason": "-"}).get("return_reason")
        fixed = actions.get("FIXED_SCREEN_OUT_PAYMENT")
        pays_fixed = fixed is None or self._pays_fixed(fixed, fields)
        return bool(asked) and pays_fixed and (self.pays_parts or "DYNAMIC_PAYMENT" not in actions)

    def _pays_fixed(self, action: Mapping[str, Any], fields: Mapping[str, Any]) -> bool:
        reward, slots = action.get("fixed_screen_out_reward"), action.get("slots")
        if not isinstance(reward, int) or not isinstance(slots, int) or slots < 1:
            return False
        return self.pays_screen_outs and bool(0 < reward < fields["reward"])

    def shown(self, study: dict[str, Any]) -> dict[str, Any]:
        """Return a study as the API shows it."""
        total = with_fees(study["reward"]) * study["total_available_places"]
        return {
            **study,
            "total_cost": total,
            "fees_percentage": float(FEES),
            "vat_percentage": float(TAX),
            "places_taken": self._taken(study["id"]),
        }

    def study(self, study_id: str) -> dict[str, Any]:
        if study_id not in self.studies:
            raise Refusal(404, "Not found", "No study matches the given query.")
        return self.studies[study_id]

    def change(self, study_id: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        study = self.study(study_id)
        if study["status"] != "UNPUBLISHED" and set(fields) - _MAY_CHANGE_WHEN_PUBLISHED:
            raise Refusal(400, "Not allowed", "Only some fields of a published study can be changed.")
        places = fields.get("total_available_places", study["total_available_places"])
        if study["status"] != "UNPUBLISHED":
            added_places = places - study["total_available_places"]
            if added_places < 0:
                raise Refusal(400, "Not allowed", "Places of a published study can only be added.")
            self._spend(with_fees(study["reward"]) * added_places)
        self._check({**study, **fields})
        study.update(fields)
        return self.shown(study)

    def transition(self, study_id: str, action: str) -> dict[str, Any]:
        study = self.study(study_id)
        allowed = {
            "PUBLISH": {"UNPUBLISHED": "ACTIVE"},
            "PAUSE": {"ACTIVE": "PAUSED"},
            "START": {"PAUSED": "ACTIVE"},
            "STOP": {"ACTIVE": "AWAITING REVIEW", "PAUSED": "AWAITING REVIEW"},
        }
        if action not in allowed:
            raise Refusal(400, "Validation error", {"action": ["Not a choice."]})
        if study["status"] not in allowed[action]:
            raise Refusal(400, "Not allowed", f"A study that is {study['status']} cannot do this.")
        if action == "PUBLISH":
            self._spend(with_fees(study["reward"]) * study["total_available_places"])
            study["published_at"] = now()
        study["status"] = allowed[action][study["status"]]
        return self.shown(study)

    def _spend(self, cents: int) -> None:
        if cents > self.balance:
            raise Refusal(400, "Insufficient funds", "The workspace's balance does not cover this.")
        self.balance -= cents

    def _taken(self, study_id: str) -> int:
        return sum(one.study == study_id and one.status not in PLACE_FREED for one in self.submissions.values())

    # ---- participants --------------------------------------------------------------------------------

    def start(self, study_id: str, participant: str) -> str:
        """Take a place for a participant unless they already have one; return the address to which they are sent."""
        with self.lock:
            study, own = self.study(study_id), self._submissions_of(study_id, participant)
            active = next((one for one in own if one.status in ("RESERVED", "ACTIVE")), None)
            if active is None:
                if own:
                    raise Refusal(400, "Already taken part")
                if study["status"] != "ACTIVE" or self._taken(study_id) >= study["total_available_places"]:
                    raise Refusal(400, "No place is free")
                active = Submission(new_id(), study_id, participant, address=self._address_for(study))
                self.submissions[active.id] = active
            return self.link(active)

    def _submissions_of(self, study_id: str, participant: str) -> list[Submission]:
        return [one for one in self.submissions.values() if (one.study, one.participant) == (study_id, participant)]

    def _address_for(self, study: Mapping[str, Any]) -> str:
        """Return the address of a Taskflow study with the most places left; "" if one address serves all."""
        taken = Counter(one.address for one in self.submissions.values() if one.status not in PLACE_FREED)
        addresses = study.get("access_details") or []
        left = {one["external_url"]: one["total_allocation"] - taken[one["external_url"]] for one in addresses}
        return max(left, key=left.__getitem__, default="")

    def link(self, submission: Submission, **claims: Any) -> str:
        """Return the study's address for one participant, signed if required; `claims` override the real ones."""
        study = self.studies[submission.study]
        ids = {"PROLIFIC_PID": submission.participant, "STUDY_ID": submission.study, "SESSION_ID": submission.id}
        address = submission.address or study["external_study_url"]
        for name, value in ids.items():
            address = address.replace(f"{{{{%{name}%}}}}", value)
        if not study["is_external_study_url_secure"]:
            return address
        url = urlsplit(address)
        query = urlencode([*parse_qsl(url.query), ("prolific_token", self.signed(submission, **claims))])
        return urlunsplit(url._replace(query=query))

    def signed(self, submission: Submission, *, key: Key | None = None, **claims: Any) -> str:
        """Return the token of a signed link; `claims` override the real ones."""
        url = urlsplit(self.studies[submission.study]["external_study_url"])
        issued_at = int(time.time())
        payload = {
            "iss": ISSUER,
            "aud": f"{url.scheme}://{url.netloc}",
            "sub": submission.id,
            "iat": issued_at,
            "exp": issued_at + LINK_LIFETIME,
            "prolific": {
                "PROLIFIC_PID": submission.participant,
                "STUDY_ID": submission.study,
                "SESSION_ID": submission.id,
                "workspace_id": self.workspace,
            },
            **claims,
        }
        signer = key or self.key
        return jwt.encode(payload, signer.private, algorithm="RS256", headers={"kid": signer.kid})

    def complete(self, submission_id: str, code: str) -> Submission:
        """Complete a submission with the code that the participant entered, or NOCODE."""
        with self.lock:
            submission = self.submission(submission_id)
            if submission.status not in ("ACTIVE", "RESERVED"):
                return submission
            study = self.studies[submission.study]
            submission.code, submission.completed_at, submission.status = code, now(), "AWAITING REVIEW"
            for action in self._code(study, code).get("actions", ()):
                if action["action"] == "AUTOMATICALLY_APPROVE":
                    self._approve(submission)
                elif action["action"] == "REQUEST_RETURN":
                    submission.return_requested = now()
                elif action["action"] == "FIXED_SCREEN_OUT_PAYMENT":
                    submission.status = "SCREENED OUT"
                    self.paid.append((submission.id, "screen_out", action["fixed_screen_out_reward"]))
            self.notify_subscribers(submission)
            if study["status"] == "ACTIVE" and self._is_full(study):
                study["status"] = "AWAITING REVIEW"
            return submission

    def _code(self, study: Mapping[str, Any], code: Any) -> dict[str, Any]:
        """Return one of the study's completion codes; {} if it is none of them."""
        return next((candidate for candidate in study["completion_codes"] if candidate["code"] == code), {})

    def _is_full(self, study: dict[str, Any]) -> bool:
        own = [one for one in self.submissions.values() if one.study == study["id"]]
        submitted = sum(one.status in ("AWAITING REVIEW", "APPROVED") for one in own)
        return submitted >= study["total_available_places"]

    def give_back(self, submission_id: str) -> None:
        """Return the submission and free its place."""
        with self.lock:
            submission = self.submission(submission_id)
            if submission.status in ("RESERVED", "ACTIVE", "AWAITING REVIEW"):
                submission.status = "RETURNED"
                self.notify_subscribers(submission)

    def time_out(self, submission_id: str) -> None:
        """End a submission that has timed out, as Prolific does."""
        with self.lock:
            submission = self.submission(submission_id)
            if submission.status in ("RESERVED", "ACTIVE"):
                submission.status = "TIMED-OUT"

    def submission_of(self, study_id: str, participant: str) -> Submission:
        """Return a participant's latest submission in a study; raise Refusal if there is none."""
        if not (own := self._submissions_of(study_id, participant)):
            raise Refusal(404, "Not found")
        return own[-1]

    # ---- webhooks ------------------------------------------------------------------------------------

    def new_secret(self, order: Mapping[str, Any]) -> dict[str, Any]:
        if order.get("workspace_id") != self.workspace:
            raise Refusal(404, "Not found")
        self.hook_secret = secrets.token_hex(32)
        return {"id": new_id(), "value": self.hook_secret, "workspace_id": self.workspace}

    def subscribe(self, order: Mapping[str, Any]) -> dict[str, Any]:
        is_valid = order.get("event_type") in EVENT_TYPES and str(order.get("target_url", "")).startswith("http")
        if not is_valid or order.get("workspace_id") != self.workspace or not self.hook_secret:
            raise Refusal(400, "Validation error", {"event_type": ["Not a choice, or there is no secret."]})
        hook = {**order, "id": new_id(), "is_enabled": False, "secret": secrets.token_hex(16)}
        self.hooks[hook["id"]] = hook
        return hook

    def confirm(self, hook_id: str, order: Mapping[str, Any]) -> dict[str, Any]:
        hook = self.hooks.get(hook_id)
        if hook is None or order.get("secret") != hook["secret"]:
            raise Refusal(400, "Validation error", {"secret": ["Not the secret of this subscription."]})
        hook["is_enabled"] = True
        return hook

    def notify_subscribers(self, submission: Submission) -> None:
        """Record an event for each subscription to changes of submissions."""
        for hook in self.hooks.values():
            if hook["is_enabled"] and hook["event_type"] == "submission.status.change":
                payload = {
                    "resource_id": submission.id, "event_type": hook["event_type"],
                    "participant_id": submission.participant, "status": submission.status,
                }  # fmt: skip
                self.events.append(Event(hook["target_url"], json.dumps(payload).encode(), self.hook_secret))

    # ---- submissions and money -----------------------------------------------------------------------

    def submission(self, submission_id: str) -> Submission:
        if submission_id not in self.submissions:
            raise Refusal(404, "Not found", "No submission matches the given query.")
        return self.submissions[submission_id]

    def decide(self, submission_id: str, order: Mapping[str, Any]) -> Submission:
        """Approve or reject a submission."""
        submission, action = self.submission(submission_id), order.get("action")
        if action == "COMPLETE":
            return self._complete_partly(submission, order)
        if action not in ("APPROVE", "REJECT"):
            raise Refusal(400, "Validation error", {"action": ["Not a choice."]})
        if submission.status != "AWAITING REVIEW":
            raise Refusal(400, "Not allowed", f"A submission that is {submission.status} cannot be reviewed.")
        if action == "APPROVE":
            self._approve(submission)
        else:
            if order.get("rejection_category") not in REJECTIONS:
                raise Refusal(400, "Validation error", {"rejection_category": ["Not a choice."]})
            if len(str(order.get("message", ""))) < SHORTEST_REJECTION:
                raise Refusal(400, "Validation error", {"message": [f"At least {SHORTEST_REJECTION} characters."]})
            submission.status = "REJECTED"
        return submission

    def _complete_partly(self, submission: Submission, order: Mapping[str, Any]) -> Submission:
        """Complete a submission with a code that pays part of the reward."""
        study, options = self.studies[submission.study], order.get("completion_code_data") or {}
        code, percent = self._code(study, order.get("completion_code")), options.get("percentage_of_reward")
        if {"action": "DYNAMIC_PAYMENT"} not in code.get("actions", ()):
            raise Refusal(400, "Validation error", {"completion_code": ["Not a code with dynamic payment."]})
        if not isinstance(percent, int) or not 8 <= percent <= 99:
            raise Refusal(400, "Validation error", {"percentage_of_reward": ["A number from 8 to 99 is required."]})
        if submission.status != "ACTIVE":
            raise Refusal(400, "Not allowed", f"A submission that is {submission.status} cannot be completed.")
        submission.code, submission.completed_at, submission.status = code["code"], now(), "PARTIALLY APPROVED"
        self.paid.append((submission.id, "part", round(study["reward"] * percent / 100)))
        self.notify_subscribers(submission)
        return submission

    def ask_return(self, submission_id: str, order: Mapping[str, Any]) -> Submission:
        """Ask the participant to return their submission."""
        submission, reasons = self.submission(submission_id), order.get("request_return_reasons")
        if not isinstance(reasons, list) or not reasons or not all(isinstance(one, str) and one for one in reasons):
            raise Refusal(400, "Validation error", {"request_return_reasons": ["This field is required."]})
        if submission.status != "AWAITING REVIEW":
            raise Refusal(400, "Not allowed", f"A submission that is {submission.status} cannot be asked for.")
        submission.return_requested = now()
        submission.return_reasons += reasons
        return submission

    def approve_all(self, order: Mapping[str, Any]) -> dict[str, str]:
        """Approve many submissions, at once or, with `pays_late`, when `pay_outstanding` is called."""
        submission_ids = order.get("submission_ids")
        if not isinstance(submission_ids, list) or not 0 < len(submission_ids) <= MAX_AT_ONCE:
            raise Refusal(400, "Validation error", {"submission_ids": [f"A list of 1 to {MAX_AT_ONCE} is required."]})
        self._to_approve += [self.submission(submission_id) for submission_id in submission_ids]
        if not self.pays_late:
            self.pay_outstanding()
        return {"message": "The request to bulk approve has been made successfully."}

    def _approve(self, submission: Submission) -> None:
        submission.status = "APPROVED"
        self.paid.append((submission.id, "reward", self.studies[submission.study]["reward"]))

    def set_up_bonuses(self, order: Mapping[str, Any]) -> dict[str, Any]:
        """Prepare bonuses from lines of "submission or participant, amount in units"."""
        study = self.study(str(order.get("study_id")))
        payments = []
        for line in str(order.get("csv_bonuses", "")).split("\n"):
            recipient, comma, amount = line.strip().partition(",")
            try:
                cents = int(Decimal(amount) * 100)
                assert comma and cents > 0
            except (ArithmeticError, ValueError, AssertionError):
                raise Refusal(
                    400, "Validation error", {"csv_bonuses": ["Each line needs a participant and an amount."]}
                ) from None
            submission = self.submissions.get(recipient) or self.submission_of(study["id"], recipient)
            if submission.study != study["id"] or submission.status not in ("AWAITING REVIEW", "APPROVED"):
                raise Refusal(400, "Not allowed", f"No bonus can be paid on a submission that is {submission.status}.")
            payments.append((submission.id, cents))
        if len(payments) > MAX_AT_ONCE:
            raise Refusal(400, "Validation error", {"csv_bonuses": [f"At most {MAX_AT_ONCE} lines."]})
        bulk = BulkBonus(new_id(), study["id"], payments)
        self.bulks[bulk.id] = bulk
        total = sum(cents for _submission, cents in payments)
        return {"id": bulk.id, "study": bulk.study, "amount": total, "total_amount": with_fees(total)}

    def pay_bonuses(self, bulk_id: str) -> None:
        """Pay what was prepared; each call pays again."""
        if bulk_id not in self.bulks:
            raise Refusal(404, "Not found")
        bulk = self.bulks[bulk_id]
        self._spend(sum(with_fees(cents) for _submission, cents in bulk.payments))
        bulk.paid += 1
        self._unpaid_bonuses += bulk.payments
        if not self.pays_late:
            self.pay_outstanding()

    def pay_outstanding(self) -> None:
        """Carry out all outstanding payments and approvals."""
        with self.lock:
            for submission in self._to_approve:
                if submission.status == "AWAITING REVIEW":
                    self._approve(submission)
            self._to_approve = []
            for submission_id, cents in self._unpaid_bonuses:
                self.submissions[submission_id].bonuses.append(cents)
                self.paid.append((submission_id, "bonus", cents))
            self._unpaid_bonuses = []
