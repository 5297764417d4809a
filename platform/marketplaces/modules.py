"""What a marketplace's folder does, by its modules, each with the same functions for every marketplace.

Those that act raise MarketplaceError or NotPossible.

- `client`: `check(account)` calls the API and returns a sentence, for example with the balance.
- `visiting`: `arrive(study, link)` returns the `Arrival` at the study with this short name, or raises EntryRefused;
  `leave(enrolment, identity)` returns the `ReturnInstructions`, None if the ending's own text is enough.
- `terms`: `Status` and `Terms`, which type an offer's status and terms.
- `publishing`, how a study is offered and how that follows its status: `ready(study)` returns version, pay rule and
  account; `create(study, address, by, terms, **offer)` makes a draft, `publish(offer)` offers it, `price_of(offer)` is
  what that costs; `state_of(offers)` says in a few words how they are; `is_due(offer, status)` and `change(offer,
  status)` make them follow the study's status, which `CHANGES` describes by status, for one offer and for {number};
  `places_of(offer)`, 0 if none can be added, and `set_places(offer, places)`, which adds some; `id_of(typed)` and
  `adopt(study, account, key, address, by)` link what was created on the marketplace itself.
- `desk`, how the admin shows offers: `ACTS` by name, `COLOURS` of labels by status, `NOTICE` (a template above
  everything), `MANY` (whether a study may have several), `LINK` (what is appended to the study's address there),
  `IMPORT` (what to know before importing), `form_of(request, study, version, account, address)` with `offer()`, which
  returns arguments of `create`; `facts_of(offer)` with titles, `note_on(offer)`, and whether it `recruits(offer)`.
- `deciding`, what is known of submissions and done about them: `RULES` of rejecting, as sentences; `ACTS`, owners'
  decisions; `ADVICE` about `comparing.FINDINGS`; `sync(recruitment)`; `key_of(session)` and `fetch(submission)`, which
  raises NotPossible if it is another participant's; `reject(submission, reason, **more)`; `recorded(submission)` does
  what else follows for the ledger; `unsubmitted(identity, owed)` names what is to be said of an arrival without one.
- `paying`: `payer_of(study)`, `account_of(study)`, `approves_within(study)` (days until the marketplace approves by
  itself) and `BULK_SIZE`, as `payouts.payers.PaymentMethod` takes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any

FUNCTIONS = {
    "client": "check", "visiting": "arrive leave", "terms": "Status Terms",
    "publishing": "ready create publish price_of state_of is_due change CHANGES places_of set_places id_of adopt",
    "desk": "ACTS COLOURS NOTICE MANY LINK IMPORT form_of facts_of note_on recruits",
    "deciding": "RULES ACTS ADVICE sync key_of fetch reject recorded unsubmitted",
    "paying": "payer_of account_of approves_within BULK_SIZE",
}  # fmt: skip
"""The names that each module has."""


@dataclass(frozen=True)
class Report:
    """What a marketplace reports about one submission.

    Attributes:
        key: `Submission.key`.
        session, worker: what `Identity.proof` of its participant begins with, and their `Identity.worker`.
        fields: the other columns of `Submission` that it tells, with "status".
    """

    key: str
    session: str = field(repr=False)
    worker: str = field(repr=False)
    fields: Mapping[str, Any]

    @property
    def status(self) -> str:
        return str(self.fields["status"])


def _module(name: str, kind: str) -> Any:
    return import_module(f"marketplaces.{kind}.{name}")


client, visiting, terms, recruiting, selling, deciding, paying = (partial(_module, name) for name in FUNCTIONS)
"""Each returns the module of the marketplace with this key."""
