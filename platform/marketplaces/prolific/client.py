"""The part of Prolific's API that studies need.

Source: docs.prolific.com, "API reference". Prolific gives money in hundredths of the workspace's currency; here it is
in `Decimal` units. No request is sent twice: if the response to an order is lost, its status is looked up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, NoReturn

import httpx2
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from marketplaces.calls import send
from marketplaces.kinds import NotSent, NotThere, Refused, Unclear
from marketplaces.models import Account, credentials_of

PAGE_SIZE = 100
"""Number of rows requested at a time."""
MOST_PAGES = 500
MAX_BULK = 100
"""Maximum number of submissions in one request that approves or pays many.

Prolific's own pages state no maximum (read on 2026-11-22). A published description of its API says "up to 200
participants per request" for bonuses and nothing for approvals, so this stays well below.
"""
_MAX_ERROR_LENGTH = 200
_IDS = re.compile(r"\b[0-9a-fA-F]{24}\b")


class Client:
    """A client for Prolific's API, signed in as one account.

    Args:
        address: of the API without a path: https://api.prolific.com, or the stand-in's.
    """

    @sensitive_variables()
    def __init__(self, address: str, token: str) -> None:
        self._address = address
        self._headers = {"Authorization": f"Token {token}", "Accept": "application/json"}

    # ---- requests ------------------------------------------------------------------------------------

    def ask(
        self, method: str, path: str, fields: Mapping[str, Any] | None = None, *, query: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """Send one request to an address below `/api/v1`; return the object in the answer."""
        return _object_in(self._send(method, path, fields, query))

    def rows(self, path: str, **query: str) -> Iterator[dict[str, Any]]:
        """Yield every row of a list, page by page."""
        for number in range(1, MOST_PAGES + 1):
            data = self.ask("GET", path, query={**query, "page": str(number), "page_size": str(PAGE_SIZE)})
            rows = data.get("results")
            if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
                raise_invalid_response()
            yield from rows
            links = data.get("_links")
            next_link = links.get("next") if isinstance(links, dict) else None
            next_address = next_link.get("href") if isinstance(next_link, dict) else None
            if not rows or not (next_address or (links is None and len(rows) == PAGE_SIZE)):
                return

    def balance(self, workspace: str) -> tuple[Decimal, str]:
        """Return what a workspace can spend, and its currency."""
        data = self.ask("GET", f"/workspaces/{workspace}/balance/")
        return units(data.get("available_balance")), text_of(data, "currency_code")

    def study(self, *path: str, method: str = "GET", fields: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Send a request that is answered with a study; its ID and status are texts.

        Args:
            path: the parts below `/studies/`, such as a study's ID.
        """
        data = self.ask(method, "/".join(("/studies", *path, "")), fields)
        text_of(data, "id")
        text_of(data, "status")
        return data

    def submission(self, submission: str) -> dict[str, Any]:
        data = self.ask("GET", f"/submissions/{submission}/")
        text_of(data, "status")
        return data

    def decide(self, submission: str, action: str, **more: Any) -> dict[str, Any]:
        """Send a decision about a submission: APPROVE, REJECT, or COMPLETE for its participant."""
        return self.ask("POST", f"/submissions/{submission}/transition/", {"action": action, **more})

    @sensitive_variables()
    def subscribe(self, *, workspace: str, event: str, target: str) -> None:
        """Subscribe `target` to an event, and confirm the subscription with the secret in the response."""
        fields = {"workspace_id": workspace, "event_type": event, "target_url": target}
        answer = self._send("POST", "/hooks/subscriptions/", fields)
        key = text_of(_object_in(answer), "id")
        self.ask("POST", f"/hooks/subscriptions/{key}/", {"secret": answer.headers.get("x-hook-secret", "")})

    def _send(
        self,
        method: str,
        path: str,
        fields: Mapping[str, Any] | None = None,
        query: Mapping[str, str] | None = None,
    ) -> httpx2.Response:
        url = f"{self._address}/api/v1{path}"
        answer = send("Prolific", method, url, json=fields, params=query, headers=self._headers)
        if answer.status_code >= 300:
            _refuse(answer)
        return answer

    # ---- many at once --------------------------------------------------------------------------------

    def approve_all(self, submissions: Sequence[str]) -> None:
        """Approve many submissions, at most `MAX_BULK`; Prolific approves them some time after its response."""
        assert len(submissions) <= MAX_BULK
        self._send("POST", "/submissions/bulk-approve/", {"submission_ids": list(submissions)})

    def set_up_bonuses(self, *, study: str, bonuses: Mapping[str, Decimal]) -> str:
        """Prepare bonuses by submission, at most `MAX_BULK`; no money moves. Return the reference for paying them."""
        assert len(bonuses) <= MAX_BULK
        lines = "\n".join(f"{submission},{amount:.2f}" for submission, amount in bonuses.items())
        order = {"study_id": study, "csv_bonuses": lines}
        return text_of(self.ask("POST", "/submissions/bonus-payments/", order), "id")

    def pay_bonus(self, reference: str) -> None:
        """Pay what was prepared under this reference. Prolific pays on every call: never call this twice."""
        answer = self._send("POST", f"/bulk-bonus-payments/{reference}/pay/")
        if answer.content.strip() and "json" not in answer.headers.get("content-type", ""):
            raise_invalid_response()


def _object_in(answer: httpx2.Response) -> dict[str, Any]:
    try:
        data = answer.json()
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise_invalid_response()
    return data


def _refuse(answer: httpx2.Response) -> NoReturn:
    status, reason = answer.status_code, _error_text(answer)
    if status == 429:
        raise NotSent(_("Prolific received too many requests and accepts no more for a while."))
    if status in (401, 403):
        raise Refused(
            _("Prolific does not accept the account's token, or the token does not allow this request."), reason=reason
        )
    if status == 404:
        raise NotThere(_("This does not exist on Prolific, or the account has no access to it."), reason=reason)
    if 400 <= status < 500:
        explanation = (
            _("Prolific refused the request: {words}").format(words=reason)
            if reason
            else _("Prolific refused the request without giving a reason.")
        )
        raise Refused(explanation, reason=reason)
    raise Unclear(_("Prolific reports an internal error ({status}).").format(status=status))


def _error_text(answer: httpx2.Response) -> str:
    """Return an error's message without any participant's identifiers."""
    try:
        error = answer.json()["error"]
        details = [error.get("title"), error.get("detail")]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return ""
    text = ": ".join(_flattened(detail) for detail in details if detail)
    return _IDS.sub("…", " ".join(text.split()))[:_MAX_ERROR_LENGTH]


def _flattened(details: Any) -> str:
    if isinstance(details, dict):
        return "; ".join(f"{name}: {_flattened(value)}" for name, value in details.items())
    return ", ".join(_flattened(value) for value in details) if isinstance(details, list) else str(details)


def raise_invalid_response() -> NoReturn:
    """Raise Unclear: the response is invalid."""
    raise Unclear(_("Prolific's response can't be read."))


def text_of(data: Mapping[str, Any], name: str) -> str:
    """Return a required text from a response; raise Unclear if it is missing."""
    value = data.get(name)
    if not isinstance(value, str) or not value:
        raise_invalid_response()
    return value


def normalised_status(status: Any) -> str:
    """Return a status in one spelling, whether its words are separated by spaces, dashes or underscores."""
    return str(status).upper().replace("_", " ").replace("-", " ")


def participant_of(submission: Mapping[str, Any]) -> Any:
    """Return the participant of a submission, whose key differs between lists and single submissions."""
    return submission.get("participant_id") or submission.get("participant")


def units(value: Any) -> Decimal:
    """Return an amount from a response in units of its currency; raise Unclear if it is not one."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 10**12:
        raise_invalid_response()
    return (Decimal(str(value)) / 100).quantize(Decimal("0.01"))


def hundredths(amount: Decimal) -> int:
    """Return an amount in Prolific's unit; whole cents only."""
    return int((amount * 100).to_integral_exact())


def client_of(account: Account) -> Client:
    """Return the account's client for Prolific.

    Raises:
        MarketplaceError: the account cannot sign in.
    """
    credentials = credentials_of(account)
    if not credentials or not credentials.get("token") or not account.base_address:
        raise Refused(_("The account “{title}” has no token yet: enter one on its page.").format(title=account))
    return Client(account.base_address, credentials["token"])


def check(account: Account) -> str:
    """Return a message that the token is valid, with the balances that can be spent; it names no one. Raise
    MarketplaceError.
    """
    client = client_of(account)
    client.ask("GET", "/users/me/")
    workspaces = list(client.rows("/workspaces/"))
    if not workspaces:
        return _("Prolific accepts the token, but it belongs to no workspace.")
    balances = []
    for workspace in workspaces:
        amount, currency = client.balance(text_of(workspace, "id"))
        title = workspace.get("title")
        balances.append(_("“{title}” has {amount} {currency}").format(title=title, amount=amount, currency=currency))
    return _("Prolific accepts the token. Balance: {balances}.").format(balances="; ".join(balances))
