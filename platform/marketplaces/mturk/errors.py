"""Errors of Mechanical Turk's API; each is a `marketplaces.kinds.MarketplaceError`.

mTurk's own messages name workers, so none of them is passed on: we choose our own message by mTurk's error code.
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
        told: mTurk's message; it may name workers, so use it only to extract IDs.
    """

    def __init__(self, code: str, told: str = ""):
        self.code = code.rpartition(".")[2].lower()
        self.told = told
        super().__init__(_words_for(self.code))


NOT_NOW = frozenset(
    {
        "throttlingexception", "requestexpired", "notsignedin", "unrecognizedclientexception",
        "invalidsignatureexception", "signaturedoesnotmatch", "accessdeniedexception",
    }
)  # fmt: skip
"""Error codes that say nothing about the request itself: it can be repeated once the account or the time allows it."""

_WORDS: dict[str, str | Promise] = {
    "insufficientfunds": gettext_lazy("The account at Mechanical Turk does not have enough money for it."),
    "assignmentdoesnotexist": gettext_lazy("Mechanical Turk knows no such assignment of this account."),
    "invalidassignmentstate": gettext_lazy(
        "The assignment is not in a state that allows it: it was not submitted, or has been decided already."
    ),
    "hitdoesnotexist": gettext_lazy("Mechanical Turk knows no such task of this account (any more)."),
    "invalidhitstate": gettext_lazy(
        "The task is not in a state that allows it. A task can be deleted when nobody works on it any more and "
        "every submitted assignment has been approved or rejected."
    ),
    "invalidmaximumassignmentsincrease": gettext_lazy(
        "A task made with fewer than 10 assignments can never have 10 or more. Publish another one."
    ),
    "workerdoesnotexist": gettext_lazy("Mechanical Turk knows no such worker, or they did not do this assignment."),
    "unrecognizedclientexception": gettext_lazy("Mechanical Turk does not know the access key. Type it again."),
    "invalidsignatureexception": gettext_lazy("The secret access key does not fit the access key. Type both again."),
    "signaturedoesnotmatch": gettext_lazy("The secret access key does not fit the access key. Type both again."),
    "accessdeniedexception": gettext_lazy(
        "The access key may not use Mechanical Turk. Give its user the right AmazonMechanicalTurkFullAccess."
    ),
    "throttlingexception": gettext_lazy("Mechanical Turk asks for patience: too many requests. Try again in a minute."),
    "requestexpired": gettext_lazy("This server's clock is wrong; Mechanical Turk refuses its requests."),
}


def _words_for(code: str) -> str:
    if code in _WORDS:
        return str(_WORDS[code])
    return _("Mechanical Turk refuses it ({code}).").format(code=code if code.isalnum() else _("without a reason"))
