"""Serve the stand-in for Mechanical Turk on 127.0.0.1, for rehearsing a study or developing without an account."""

from __future__ import annotations

from decimal import Decimal

from llm_agents.standins.kit import serve
from marketplaces.mturk.standin.server import KEY_ID, SECRET, StandIn

if __name__ == "__main__":
    serve(
        __doc__,
        8910,
        StandIn,
        lambda standin: (
            f"A stand-in for Mechanical Turk: {standin.address}\n"
            "In Parley's admin: Marketplaces, add an account, “a rehearsal with Parley's stand-in”, with\n"
            f"  address            {standin.address}\n  access key ID      {KEY_ID}\n  secret access key  {SECRET}\n"
            f"Workers find their tasks at {standin.address} too."
        ),
        balance=(Decimal, Decimal("10000.00"), "in US dollars"),
    )
