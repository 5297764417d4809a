"""Serve the stand-in for Mechanical Turk on 127.0.0.1, for rehearsing a study or developing without an account.

Usage: python -m marketplaces.mturk.standin [--port N] [--balance DOLLARS] [--misbehave KIND[:EVERY]]
"""

from __future__ import annotations

import argparse
import errno
import signal
import threading
from decimal import Decimal

from marketplaces.mturk.standin.misbehaviours import Misbehaviour
from marketplaces.mturk.standin.server import KEY_ID, SECRET, StandIn

PORT = 8910
PORTS_TRIED = 50
"""Number of ports to try, starting with the requested one."""


def serve(port: int, balance: Decimal) -> StandIn:
    """Return a stand-in on `port`, or on the next free port.

    Raises:
        OSError: none of the ports is free.
    """
    for candidate in range(port, min(port + PORTS_TRIED, 65536)):
        try:
            return StandIn(port=candidate, balance=balance)
        except OSError as failure:
            if failure.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
    raise OSError(errno.EADDRINUSE, f"No free port from {port} on.")


def misbehaviour(text: str) -> tuple[Misbehaviour, int]:
    """Parse a misbehaviour: "fails:3" makes every third call fail."""
    kind, _colon, every = text.partition(":")
    return Misbehaviour(kind), max(1, int(every or 1))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m marketplaces.mturk.standin", description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=PORT)
    parser.add_argument(
        "--balance", type=Decimal, default=Decimal("10000.00"), help="the requester's balance in US dollars"
    )
    parser.add_argument(
        "--misbehave", type=misbehaviour, metavar="KIND[:EVERY]", help=", ".join(kind.value for kind in Misbehaviour)
    )
    options = parser.parse_args()
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    with serve(options.port, options.balance) as standin:
        standin.every = options.misbehave
        print(f"A stand-in for Mechanical Turk: {standin.url}", flush=True)
        print("In Parley's admin: Marketplaces, add an account, “a rehearsal with Parley's stand-in”, with", flush=True)
        print(
            f"  address            {standin.url}\n  access key ID      {KEY_ID}\n  secret access key  {SECRET}",
            flush=True,
        )
        print(f"Workers find their tasks at {standin.url} too. Nothing is kept when it ends (Ctrl+C).", flush=True)
        stopped.wait()


if __name__ == "__main__":
    main()
