"""Serve the stand-in for Prolific on 127.0.0.1, for rehearsing a study without people or money."""

from __future__ import annotations

from llm_agents.standins.kit import serve
from marketplaces.prolific.standin.server import TOKEN, StandIn

if __name__ == "__main__":
    serve(
        __doc__,
        8950,
        lambda port, currency, balance: StandIn(port=port, currency=currency, balance=balance * 100),
        lambda standin: (
            f"A stand-in for Prolific answers at {standin.address}.\n"
            f"In the admin, add an account (Marketplaces): Prolific, a rehearsal, this address; its token is {TOKEN}\n"
            f"Participants find published studies at {standin.address}/"
        ),
        currency=(str, "USD", "the workspace's"),
        balance=(int, 10_000, "units of it that can be spent"),
    )
