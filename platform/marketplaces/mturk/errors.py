"""Errors of Mechanical Turk's API; each is a `marketplaces.kinds.MarketplaceError`.

mTurk's own messages can name workers, so they are never passed on. We choose our own message by mTurk's error code.
"""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from marketplaces.kinds import MarketplaceError


class Unclear(MarketplaceError):
    """mTurk did not answer, or gave a malformed answer: whether the request took effect is unknown."""


class Refused(MarketplaceError):
    """mTurk refused the request: nothing took effect.

    Attributes:
        code: mTurk's error code without the namespace, in lower case.
        message: mTurk's message; it may name workers, so use it only to extract IDs.
    """

    def __init__(self, code: str, message: str = ""):
        self.code = code.rpartition(".")[2].lower()
        self.message = message
        super().__init__(_message_for(self.code))


RETRYABLE_CODES = frozenset(
    {
        "throttlingexception", "requestexpired", "notsignedin", "unrecognizedclientexception",
        "invalidsignatureexception", "signaturedoesnotmatch", "accessdeniedexception", "addressrefused",
    }
)  # fmt: skip
"""Error codes that say nothing about the request itself: it can be repeated once the account or the time allows it."""

_MESSAGES: dict[str, str | Promise] = {
    "insufficientfunds": gettext_lazy("The balance of the Mechanical Turk account is too low."),
    "assignmentdoesnotexist": gettext_lazy("This account has no such assignment on Mechanical Turk."),
    "invalidassignmentstate": gettext_lazy(
        "The assignment's status does not allow this: it has not been submitted, or it has already been approved or "
        "rejected."
    ),
    "hitdoesnotexist": gettext_lazy("This account has no such task on Mechanical Turk, or no longer has it."),
    "invalidhitstate": gettext_lazy(
        "The task's status does not allow this. A task can be deleted once nobody is working on it and every submitted "
        "assignment has been approved or rejected."
    ),
    "invalidmaximumassignmentsincrease": gettext_lazy(
        "A task that was created with fewer than 10 assignments can never have 10 or more. Publish another task."
    ),
    "workerdoesnotexist": gettext_lazy("Mechanical Turk has no such worker, or the worker did not do this assignment."),
    "unrecognizedclientexception": gettext_lazy("Mechanical Turk does not recognise the access key. Enter it again."),
    "invalidsignatureexception": gettext_lazy("The secret access key does not match the access key. Enter both again."),
    "signaturedoesnotmatch": gettext_lazy("The secret access key does not match the access key. Enter both again."),
    "accessdeniedexception": gettext_lazy(
        "The access key is not allowed to use Mechanical Turk. Give its AWS user the permission "
        "AmazonMechanicalTurkFullAccess."
    ),
    "addressrefused": gettext_lazy(
        "The account's address leads to a private network. The administrator of this server can allow it (LOCAL_HOSTS)."
    ),
    "throttlingexception": gettext_lazy("Mechanical Turk received too many requests. Try again in a minute."),
    "requestexpired": gettext_lazy("This server's clock is wrong, so Mechanical Turk refuses its requests."),
}


def _message_for(code: str) -> str:
    if code in _MESSAGES:
        return str(_MESSAGES[code])
    return _("Mechanical Turk refused the request ({code}).").format(
        code=code if code.isalnum() else _("no reason given")
    )
