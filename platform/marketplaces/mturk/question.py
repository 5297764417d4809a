"""The question that a task on Mechanical Turk consists of: our page, shown inside theirs."""

from __future__ import annotations

from urllib.parse import quote, urlsplit, urlunsplit
from xml.sax.saxutils import escape

SCHEMA = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd"
WINDOW_HIGH = 0
"""The frame height with which mTurk makes the frame as high as the worker's window."""


def external_question(address: str, *, frame_height: int = WINDOW_HIGH) -> str:
    """The XML of an ExternalQuestion (mTurk's data structure reference): ASCII, whatever the address contains.

    Args:
        address: of our page; mTurk adds assignmentId, hitId, workerId and turkSubmitTo to it.
        frame_height: pixels; WINDOW_HIGH: the window's.
    """
    return (
        f'<ExternalQuestion xmlns="{SCHEMA}"><ExternalURL>{escape(_ascii(address))}</ExternalURL>'
        f"<FrameHeight>{frame_height:d}</FrameHeight></ExternalQuestion>"
    )


def _ascii(address: str) -> str:
    parts = urlsplit(address)
    host = parts.netloc.encode("idna").decode() if not parts.netloc.isascii() else parts.netloc
    kept = "/%:@!$&'()*+,;=~-._"
    return urlunsplit((parts.scheme, host, quote(parts.path, safe=kept), quote(parts.query, safe=kept + "?"), ""))
