"""Processes are killed at every step, or pay and approve at the same time: everyone is paid exactly once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from functools import partial

import pytest
from django.contrib.auth.models import User
from django.db import connection

from config.children import ROOT
from payouts import books, deciding, paying
from payouts.models import LedgerRow
from payouts.tests.people import STUDY, finished
from payouts.tests.standin import StandIn
from payouts.tests.test_paying import OPEN, approve, boss, keys, later, states  # noqa: F401
from studies.tests.kit import at_once

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.services]

MAX_STEPS = 200


class PayingProcess:
    """A process whose children pay from the test's database."""

    def __init__(self, standin: StandIn) -> None:
        database = connection.settings_dict
        host = database["HOST"] or database["OPTIONS"].get("host", "")
        address = (
            f"sqlite:///{database['NAME']}"
            if connection.vendor == "sqlite"
            else f"postgres://postgres@/{database['NAME']}?host={host}"
        )
        variables = {
            "DATABASE_URL": address,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "PYTHONPATH": f"{ROOT / 'platform'}{os.pathsep}{ROOT}",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "payouts.tests.teller", standin.address, "yes" if standin.repeats_safely else "no"],
            env={**os.environ, **variables}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def pay(self, *, die_at: int = 0) -> int:
        """Let a child pay; return its exit status, -9 if it was killed at that step."""
        assert self._process.stdin is not None and self._process.stdout is not None
        print(die_at, file=self._process.stdin, flush=True)
        return int(self._process.stdout.readline())

    def stop(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def paying_processes(standin: StandIn) -> Iterator[Callable[[], PayingProcess]]:
    processes: list[PayingProcess] = []

    def another() -> PayingProcess:
        processes.append(PayingProcess(standin))
        return processes[-1]

    yield another
    for process in processes:
        process.stop()


def finish(paying_process: PayingProcess) -> None:
    """Run the sweep repeatedly, as after a restart."""
    for _round in range(8):
        later()
        assert paying_process.pay() == 0
        if not LedgerRow.objects.filter(state__in=OPEN).exists():
            return


@pytest.mark.slow  # test_any_order.py has all orders, without kills
@pytest.mark.parametrize(("lost", "least"), [pytest.param("", 8, id="answered"), ("cut", 8), ("lost", 6)])
def test_killed_at_every_step(
    standin: StandIn,
    paying_processes: Callable[[], PayingProcess],
    boss: User,  # noqa: F811
    lost: str,
    least: int,
):
    """After a lost answer, the next steps look up the result, whether or not the order took effect."""
    paying_process = paying_processes()
    base_rows: list[LedgerRow] = []
    for step in range(1, MAX_STEPS):
        base, _bonus = finished(f"A{step}")
        base_rows.append(base)
        approve(boss, base)
        if lost:
            standin.misbehave(lost, "pay")
            assert paying_process.pay() == 0
            later()
        status = paying_process.pay(die_at=step)
        assert books.check() == [], f"killed at step {step}"
        assert status in (0, -signal.SIGKILL)
        finish(paying_process)
        assert states(base) == ["confirmed"], f"killed at step {step}"
        assert standin.times[str(base.uid)] == 1, f"killed at step {step}"
        if status == 0:
            break
    assert least < step < MAX_STEPS - 1, "every step was tried, and there are as many as expected"
    assert standin.times == {str(row.uid): 1 for row in base_rows}
    assert sum(Decimal(amount) for _uid, amount in standin.paid) == books.balances(STUDY)[STUDY, "USD"]["paid"]


@pytest.mark.slow
@pytest.mark.parametrize("number", [2, 3])
def test_several_processes_pay_at_once(
    standin: StandIn,
    paying_processes: Callable[[], PayingProcess],
    boss: User,  # noqa: F811
    number: int,
):
    rows = [row for person in range(6) for row in finished(f"A{person}")]
    approve(boss, *rows)
    several = [paying_processes() for _one in range(number)]
    for _round in range(3):
        at_once([paying_process.pay for paying_process in several])
        later()
    finish(several[0])
    assert states(*rows) == ["confirmed"] * len(rows)
    assert standin.times == {str(row.uid): 1 for row in rows}


def test_simultaneous_clicks_approve_once_and_never_beyond_the_limit(standin: StandIn, boss: User):  # noqa: F811
    rows = [finished(f"A{number}")[0] for number in range(8)]
    deciding.set_limit(study=STUDY, currency="USD", most=Decimal("6.00"))
    clicks = [partial(approve, boss, *rows[first : first + 4]) for first in (0, 0, 4, 4)]
    refused = [each for each in at_once(clicks, deciding.NotDone) if each is not None]
    assert len(refused) == 3, "each share of four costs 4.80 with fees, so one fits"
    assert deciding.committed(STUDY, "USD") == Decimal("4.80")
    assert LedgerRow.objects.filter(state="approved").count() == 4


def test_an_approval_can_be_withdrawn_while_the_recruiter_is_asked(
    standin: StandIn,
    boss: User,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
):
    base, _bonus = finished("A1")
    approve(boss, base)
    asks = standin.do

    def withdraw() -> None:
        deciding.withdraw(study=STUDY, rows=keys(base), user=boss)
        connection.close()

    def withdraw_first(requested: str, order: dict[str, str]) -> dict[str, str]:
        if requested == "prepare":
            with ThreadPoolExecutor(1) as pool:  # the server's own thread runs its event loop
                pool.submit(withdraw).result()
        return asks(requested, order)

    monkeypatch.setattr(standin, "do", withdraw_first)
    paying.pay_due()
    assert states(base) == ["due"] and not standin.paid
