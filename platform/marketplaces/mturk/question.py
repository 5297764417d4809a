"""The external question of a task on Mechanical Turk: our page, framed in theirs."""

from __future__ import annotations

from urllib.parse import quote, urlsplit, urlunsplit
from xml.sax.saxutils import escape

SCHEMA = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd"
FIT_WINDOW = 0
"""Frame height that makes mTurk fit the frame to the worker's window."""


def external_question(address: str, *, frame_height: int = FIT_WINDOW) -> str:
    """Return the XML of an ExternalQuestion (mTurk's data structure reference), in ASCII whatever the address contains.

    Args:
        address: the address of our page; mTurk appends assignmentId, hitId, workerId and turkSubmitTo.
        frame_height: in pixels; FIT_WINDOW fits the frame to the window.
    """
    return (
        f'<ExternalQuestion xmlns="{SCHEMA}"><ExternalURL>{escape(_ascii(address))}</ExternalURL>'
        f"<FrameHeight>{frame_height:d}</FrameHeight></ExternalQuestion>"
    )


def _ascii(address: str) -> str:
    parts = urlsplit(address)
    host = parts.netloc.encode("idna").decode() if not parts.netloc.isascii() else parts.netloc
    safe_characters = "/%:@!$&'()*+,;=~-._"
    return urlunsplit(
        (
            parts.scheme,
            host,
            quote(parts.path, safe=safe_characters),
            quote(parts.query, safe=safe_characters + "?"),
            "",
        )
    )
