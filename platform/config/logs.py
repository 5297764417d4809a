"""What the logs must not say."""

from __future__ import annotations

import logging
import re

_SECRET_PARTS = re.compile(r"(/p/|/ws/play/|/api/v1/results/)[^/\s?]+|(\?)\S+|(parley_[a-z0-9]{12}_)[\w-]+")


class HideTokens(logging.Filter):
    """Cuts participants' link tokens, tokens of the API and query strings (worker ids) out of what is logged."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = _SECRET_PARTS.sub(lambda found: f"{found[1] or found[2] or found[3]}…", record.getMessage())
        record.args = ()
        return True
