"""Simulated participants: scripts that take part in studies made for them, as samples and for tests.

They have identities, places and ledger rows like anyone else, so that everything that reads a study reads theirs, too.
Only studies with the purpose "simulated" admit them, and these admit nobody else (`studies.enrolling`).
"""

from __future__ import annotations

from recruiters.arrivals import Arrival

KIND = "simulated"


def arrival(number: int, *, payment: str = "paid") -> Arrival:
    """Return the arrival of a study's simulated participant.

    Args:
        number: from 1; the same number resumes the same enrolment.
        payment: what becomes of their payments (`payouts.simulated.PAYMENTS`).
    """
    name = f"simulated-{number}"
    return Arrival(KIND, worker=name, proof=name, details={"payment": payment}, checked=True)
