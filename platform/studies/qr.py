"""QR codes of addresses that people open with their phones."""

from __future__ import annotations

import segno
from django.utils.safestring import SafeString, mark_safe


def qr_code(address: str) -> SafeString:
    """Return a QR code as SVG. It is black on white in dark mode too: not every phone reads the inverse."""
    code = segno.make(address, error="m")
    return mark_safe(code.svg_inline(scale=6, border=3, light="#fff", svgclass="qr", lineclass=None, omitsize=True))
