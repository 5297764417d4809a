"""Serve the stand-in for Mechanical Turk on 127.0.0.1, for rehearsing a study or developing without an account.

Usage: python -m marketplaces.mturk.standin [--port N] [--balance DOLLARS] [--misbehave KIND[:PATTERN]] [--every N]
"""

from __future__ import annotations

import argparse
from decimal import Decimal

from llm_agents.standins.kit import add_fault_options, plan_faults, run
from marketplaces.mturk.standin.server import KEY_ID, SECRET, StandIn

PORT = 8910


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m marketplaces.mturk.standin", description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=PORT)
    parser.add_argument("--balance", type=Decimal, default=Decimal("10000.00"), help="in US dollars (10000)")
    add_fault_options(parser)
    options = parser.parse_args()
    run(
        lambda port: plan_faults(StandIn(port=port, balance=options.balance), options),
        options.port,
        lambda standin: (
            f"A stand-in for Mechanical Turk: {standin.address}\n"
            "In Parley's admin: Marketplaces, add an account, “a rehearsal with Parley's stand-in”, with\n"
            f"  address            {standin.address}\n  access key ID      {KEY_ID}\n  secret access key  {SECRET}\n"
            f"Workers find their tasks at {standin.address} too."
        ),
    )


if __name__ == "__main__":
    main()
