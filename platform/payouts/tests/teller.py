"""Processes that pay, and can be killed at any step: `python -m payouts.tests.teller ADDRESS yes|no`.

Each input line is a number N: a forked child pays what is due and kills itself (SIGKILL) at step N. Every database
write counts as a step, as do the start and end of every call to the recruiter; 0 means that it is not killed. The
output line is the child's exit status.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import django


class Clock:
    """Counts steps and kills the process at one of them."""

    def __init__(self, steps: int) -> None:
        self.steps_left = steps

    def tick(self) -> None:
        self.steps_left -= 1
        if self.steps_left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any) -> Any:
            self.tick()
            answer = function(*arguments)
            self.tick()
            return answer

        return counted

    def before_statement(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if not sql.lstrip().upper().startswith("SELECT"):
            self.tick()
        return execute(sql, params, many, context)


def pay(address: str, may_repeat: bool, last: int) -> None:
    from django.db import connection

    from payouts import payers, paying
    from payouts.tests.conftest import KIND
    from payouts.tests.standin import StandInPayer

    clock, payer = Clock(last), StandInPayer(address, may_repeat=may_repeat)
    for name in ("assignment_status", "prepare", "pay", "look_up"):
        setattr(payer, name, clock.around(getattr(payer, name)))
    payers.register(KIND, payers.PaymentMethod("Stand-in", lambda study: payer))
    with connection.execute_wrapper(clock.before_statement):
        paying.pay_due()
    connection.close()


def main() -> None:
    address, may_repeat = sys.argv[1], sys.argv[2] == "yes"
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            pay(address, may_repeat, int(line))
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    django.setup()
    main()
