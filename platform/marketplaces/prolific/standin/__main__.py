"""Serve the stand-in for Prolific on 127.0.0.1, for rehearsing a study without people or money.

Usage: python -m marketplaces.prolific.standin
           [--port N] [--currency USD] [--balance UNITS] [--misbehave KIND[:PATTERN]] [--every N]
"""

from __future__ import annotations

import argparse

from llm_agents.standins.kit import add_fault_options, plan_faults, run
from marketplaces.prolific.standin.server import TOKEN, StandIn

PORT = 8950


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m marketplaces.prolific.standin", description="Serve a stand-in for Prolific on 127.0.0.1."
    )
    parser.add_argument("--port", type=int, default=PORT, help=f"where to serve, or the next free one ({PORT})")
    parser.add_argument("--currency", default="USD", help="the workspace's (USD)")
    parser.add_argument("--balance", type=int, default=10_000, help="units of it that can be spent (10000)")
    add_fault_options(parser)
    options = parser.parse_args()
    run(
        lambda port: plan_faults(StandIn(port=port, currency=options.currency, balance=options.balance * 100), options),
        options.port,
        lambda standin: (
            f"A stand-in for Prolific answers at {standin.address}.\n"
            f"In the admin, add an account (Marketplaces): Prolific, a rehearsal, this address; its token is {TOKEN}\n"
            f"Participants find published studies at {standin.address}/"
        ),
    )


if __name__ == "__main__":
    main()
