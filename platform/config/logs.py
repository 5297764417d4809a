"""What the logs must not say."""

from __future__ import annotations

import logging
import re

_SECRET_PARTS = re.compile(r"(/p/|/ws/play/)[^/\s?]+|(\?)\S+")


class HideTokens(logging.Filter):
    """Cuts participants' link tokens and query strings (worker ids) out of logged addresses."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = _SECRET_PARTS.sub(lambda found: f"{found[1] or found[2]}…", record.getMessage())
        record.args = ()
        return True
