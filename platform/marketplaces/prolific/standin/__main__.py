"""Serve the stand-in for Prolific on 127.0.0.1, for rehearsing a study without people or money.

Usage: python -m marketplaces.prolific.standin
           [--port N] [--currency USD] [--balance UNITS] [--misbehave KIND[:PATTERN]]
"""

from __future__ import annotations

import argparse
import errno
import signal
import threading

from marketplaces.prolific.standin.server import KINDS, TOKEN, StandIn

PORT = 8950
PORTS_TRIED = 50
ALWAYS = 10**9


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m marketplaces.prolific.standin", description="Serve a stand-in for Prolific on 127.0.0.1."
    )
    parser.add_argument("--port", type=int, default=PORT, help=f"where to serve, or the next free one ({PORT})")
    parser.add_argument("--currency", default="USD", help="the workspace's (USD)")
    parser.add_argument("--balance", type=int, default=10_000, help="units of it that can be spent (10000)")
    parser.add_argument(
        "--misbehave",
        action="append",
        default=[],
        metavar="KIND[:PATTERN]",
        help=f"always, with calls whose “METHOD /path” matches; KIND: {', '.join(KINDS)}",
    )
    options = parser.parse_args()
    if unknown := {text.partition(":")[0] for text in options.misbehave} - set(KINDS):
        parser.error(f"unknown kind {', '.join(sorted(unknown))}; use one of {', '.join(KINDS)}")
    return options


def serve(options: argparse.Namespace) -> StandIn:
    """Return a stand-in server on the requested port or the next free one; raise OSError if none is free."""
    for port in range(options.port, options.port + PORTS_TRIED):
        try:
            return StandIn(port=port, currency=options.currency, balance=options.balance * 100)
        except OSError as failure:
            if failure.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
    raise OSError(errno.EADDRINUSE, f"No free port from {options.port} on.")


def main() -> None:
    options = _options()
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    with serve(options) as standin:
        for text in options.misbehave:
            kind, _colon, pattern = text.partition(":")
            standin.misbehave(kind, pattern, times=ALWAYS)
        if standin.port != options.port:
            print(f"Port {options.port} is in use.")
        print(
            f"A stand-in for Prolific answers at {standin.address}.\n"
            f"In the admin, add an account (Marketplaces): Prolific, a rehearsal, this address; its token is {TOKEN}\n"
            f"Participants find published studies at {standin.address}/\nPress Ctrl+C to stop.",
            flush=True,
        )
        stopped.wait()
    print(f"Stopped after {len(standin.calls)} calls; {len(standin.market.paid)} payments.", flush=True)


if __name__ == "__main__":
    main()
