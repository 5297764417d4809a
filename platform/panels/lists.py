"""Payment lists: created from approved payments, written in the panel's format, compared with the panel's payments.

Every payment on a list is *sent* in the ledger: nobody can approve it again, mark it as paid or put it on another list
until the returned list shows whether it was paid. A payment that differs in the returned list is *unclear* and waits
for a person to decide, so that nobody is paid twice or forgotten.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils.translation import gettext as _

from panels.models import KIND, Panel, PaymentList, values_of
from participants.models import Enrolment
from payouts.deciding import NotDone
from payouts.models import LedgerRow
from payouts.posting import post
from recruiters.models import Identity
from recruiters.uploads import BadFile, Problem, table_of
from studies.models import Study

State = LedgerRow.State
MAX_ROWS = 5000
"""Maximum number of payments on one list."""
_ZERO = Decimal("0.00")


def waiting(study: Study) -> QuerySet[LedgerRow]:
    """Return approved payments that are on no list yet, without those of erased participants, who cannot be
    identified.
    """
    return LedgerRow.objects.filter(
        study=study.slug, recruiter=KIND, state=State.APPROVED, enrolment__identity__isnull=False
    )


def create(study: Study, *, user: Any) -> PaymentList:
    """Create a list of all approved payments in one currency, and mark them as sent.

    Raises:
        NotDone: no payments are waiting.
    """
    with transaction.atomic():
        Study.objects.select_for_update().get(pk=study.pk)
        rows = list(waiting(study).select_for_update(of=("self",)).order_by("pk")[:MAX_ROWS])
        if not rows:
            raise NotDone(_("No approved payments are waiting for a list. First approve payments on the page “Pay”."))
        rows = [row for row in rows if row.currency == rows[0].currency]
        last_number = PaymentList.objects.filter(study=study).aggregate(last=Max("number"))["last"] or 0
        payment_list = PaymentList.objects.create(study=study, number=last_number + 1, made_by=user)
        for row in rows:
            post(row, to=State.SENT, user=user, why=_("on payment list {number}").format(number=payment_list.number))
        payment_list.rows.set(rows)
    return payment_list


def take_back(payment_list: PaymentList, *, user: Any, why: str) -> int:
    """Record that the open payments of a list were never made, so that they can be approved again; return how many.

    Raises:
        NotDone: no reason was given, or the list has no open payments.
    """
    why = " ".join(why.split())[:200]
    if not why:
        raise NotDone(
            _(
                "Please explain how you know that these payments were not made. The explanation is recorded in the "
                "journal."
            )
        )
    with transaction.atomic():
        rows = _locked_open_rows(payment_list)
        if not rows:
            raise NotDone(_("This list has no open payments."))
        for row in rows:
            problem = _("Not paid through list {number}: {why}").format(number=payment_list.number, why=why)
            post(row, to=State.FAILED, user=user, why=why, problem=problem)
    return len(rows)


def _locked_open_rows(payment_list: PaymentList) -> list[LedgerRow]:
    """Return the unsettled payments of a list, locked."""
    rows = LedgerRow.objects.select_for_update(of=("self",)).filter(lists=payment_list, state=State.SENT)
    # A payment that failed and was approved again is on a later list.
    return [row for row in rows.order_by("pk") if row.lists.order_by("-number").first() == payment_list]


# ---- writing ---------------------------------------------------------------------------------------


def as_csv(payment_list: PaymentList, panel: Panel) -> Iterator[bytes]:
    """Return the list's open payments in the panel's own columns, one line per person.

    IDs and column names begin with a letter or digit, so that spreadsheets do not run them as formulas.
    """
    columns = panel.list_columns()
    yield _line(columns)
    for person in _people_with_open_rows(payment_list):
        yield _line(person[variable] for variable in columns.values())


def _line(cells: Iterable[Any]) -> bytes:
    buffer = io.StringIO()
    csv.writer(buffer).writerow(cells)
    return buffer.getvalue().encode()


def _people_with_open_rows(payment_list: PaymentList) -> Iterator[dict[str, Any]]:
    """Yield each person with open payments once, even if they took part several times."""
    grouped: dict[str, list[LedgerRow]] = defaultdict(list)
    with transaction.atomic():
        for row in _locked_open_rows(payment_list):
            identity = Identity.objects.filter(enrolment=row.enrolment_id).first()
            if identity is not None:
                grouped[values_of(identity)["person"]].append(row)
    for rows in grouped.values():
        person = rows[-1].enrolment
        yield {
            **values_of(person.identity),
            "amount": _sum(rows),
            "base": _sum(row for row in rows if row.reason == "base"),
            "bonus": _sum(row for row in rows if row.reason == "bonus"),
            "currency": rows[0].currency,
            "participant": person.pseudonym,
            "ending": person.state,
            "reference": f"{payment_list}-{person.pseudonym}",
        }


def _sum(rows: Iterable[LedgerRow]) -> Decimal:
    return sum((row.amount for row in rows), _ZERO)


# ---- reconciling -----------------------------------------------------------------------------------


@dataclass
class Findings:
    """The findings from a returned list.

    Attributes:
        confirmed: number of payments that are settled now.
        settled_before: number of uploaded lines whose payments were settled before.
        missing: people on the list who are not in the upload.
        remarks: the differences, each with its line number (0: none) and the result.
    """

    confirmed: int = 0
    settled_before: int = 0
    failed: int = 0
    unclear: int = 0
    missing: list[str] = field(default_factory=list)
    remarks: list[Problem] = field(default_factory=list)


@dataclass(frozen=True)
class Line:
    number: int
    person: str
    amount: Decimal


def read(data: bytes, panel: Panel) -> list[Line]:
    """Return the people and amounts in an uploaded list.

    Raises:
        BadFile: names every line that cannot be read; nothing is imported.
    """
    table = table_of(data)
    required = [panel.column_of("person"), panel.column_of("amount")]
    if any(table.names.count(name.casefold()) != 1 for name in required):
        message = _("The first line must name each of the columns “{columns}” once.")
        raise BadFile([Problem(table.header_line, message.format(columns="”, “".join(required)))])
    person_index, amount_index = (table.names.index(name.casefold()) for name in required)
    lines, problems = [], []
    for number, cells in table.rows:
        person = cells[person_index].strip().lstrip("'") if len(cells) > person_index else ""
        amount = _amount(cells[amount_index] if len(cells) > amount_index else "")
        if not person:
            problems.append(Problem(number, _("The ID is missing.")))
        elif amount is None:
            problems.append(Problem(number, _("This is not a valid amount. Enter it like 1.50.")))
        else:
            lines.append(Line(number, person, amount))
    if not lines and not problems:
        problems = [Problem(0, _("The file contains no payments."))]
    if problems:
        raise BadFile(problems)
    return lines


def _amount(typed: str) -> Decimal | None:
    try:
        amount = Decimal(typed.strip().lstrip("$€£").strip())
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and 0 <= amount < 10**8 else None


def reconcile(
    payment_list: PaymentList, panel: Panel, lines: Sequence[Line], *, user: Any, rest_failed: bool
) -> Findings:
    """Settle payments that match what is owed, mark differing ones as unclear, and leave or fail missing ones.

    Args:
        rest_failed: treat people who are not in the upload as not paid, so that their payments can be approved again.
    """
    lines_by_person: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        lines_by_person[line.person].append(line)
    findings = Findings()
    with transaction.atomic():
        people, open_rows = _people_of(payment_list), defaultdict(list)
        for row in _locked_open_rows(payment_list):
            open_rows[row.enrolment_id].append(row)
        for person, own_enrolments in people.items():
            own_lines = lines_by_person.pop(person, [])
            rows = [row for enrolment in own_enrolments for row in open_rows.get(enrolment.pk, [])]
            pseudonym = own_enrolments[-1].pseudonym
            if not rows:
                findings.settled_before += len(own_lines)
                continue
            _settle(payment_list, rows, own_lines, pseudonym, findings, user=user, rest_failed=rest_failed)
        _report_strangers(panel, lines_by_person, findings)
    return findings


def _people_of(payment_list: PaymentList) -> dict[str, list[Enrolment]]:
    """Return a list's people by the panel's ID, each with the enrolments that the list pays for."""
    identities = Identity.objects.filter(enrolment__ledger__lists=payment_list).select_related("enrolment").distinct()
    people: dict[str, list[Enrolment]] = defaultdict(list)
    for identity in identities.order_by("pk"):
        people[values_of(identity)["person"]].append(identity.enrolment)
    return people


def _settle(
    payment_list: PaymentList,
    rows: Sequence[LedgerRow],
    lines: Sequence[Line],
    pseudonym: str,
    findings: Findings,
    *,
    user: Any,
    rest_failed: bool,
) -> None:
    owed = _sum(rows)
    paid_total = sum((line.amount for line in lines), _ZERO)
    line_number = lines[0].number if lines else 0
    number = payment_list.number
    if not lines:
        findings.missing.append(pseudonym)
        if rest_failed:
            findings.failed += len(rows)
            _post(rows, State.FAILED, user, _("Not in the payments uploaded for list {number}.").format(number=number))
    elif len(lines) == 1 and paid_total == owed:
        findings.confirmed += len(rows)
        _post(rows, State.CONFIRMED, user, _("paid through list {number}").format(number=number))
    elif paid_total == 0:
        findings.failed += len(rows)
        why = _("The upload for list {number} says that nothing was paid.").format(number=number)
        _post(rows, State.FAILED, user, why)
        findings.remarks.append(Problem(line_number, f"{pseudonym}: {why}"))
    else:
        findings.unclear += len(rows)
        if len(lines) > 1:
            why = _(
                "The upload for list {number} contains them {times} times, with a total of {said}, but {owed} is due."
            )
        else:
            why = _("The upload for list {number} says {said}, but {owed} is due.")
        why = why.format(number=number, times=len(lines), said=paid_total, owed=owed)
        _post(rows, State.UNCLEAR, user, why)
        findings.remarks.append(Problem(line_number, f"{pseudonym}: {why}"))


def _post(rows: Sequence[LedgerRow], to: str, user: Any, why: str) -> None:
    for row in rows:
        post(row, to=to, user=user, why=why, problem="" if to == State.CONFIRMED else why)


def _report_strangers(panel: Panel, lines_by_person: Mapping[str, Sequence[Line]], findings: Findings) -> None:
    """Report people in the upload who are not on the list to the researcher; change nothing for them."""
    identities = {
        values_of(identity)["person"]: identity
        for identity in Identity.objects.filter(study=panel.study.slug, recruiter=KIND).select_related("enrolment")
    }
    for person, lines in lines_by_person.items():
        identity = identities.get(person)
        if identity is None:
            message = _("Nobody with this ID took part in this study. Nothing was changed.")
        else:
            message = _(
                "{participant} is not on this list. Nothing was changed; check whether they were paid twice."
            ).format(participant=identity.enrolment.pseudonym)
        findings.remarks.append(Problem(lines[0].number, message))


def status_of(payment_list: PaymentList) -> dict[str, int]:
    """Return how many payments of a list are open, settled, unclear, or moved to another list."""
    states = list(payment_list.rows.values_list("state", flat=True))
    settled_count = states.count(State.CONFIRMED)
    open_count, unclear_count = states.count(State.SENT), states.count(State.UNCLEAR)
    return {
        "all": len(states), "open": open_count, "settled": settled_count, "unclear": unclear_count,
        "again": len(states) - settled_count - open_count - unclear_count,
    }  # fmt: skip
