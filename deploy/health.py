"""Exit with 0 if the web server on this machine answers /health/ to a request like its proxy's."""

from __future__ import annotations

import http.client
import os
import sys
from urllib.parse import urlsplit


def main() -> int:
    site = urlsplit(os.environ.get("SITE_URL") or "http://127.0.0.1:8000")
    headers = {"Host": site.netloc, "X-Forwarded-Proto": site.scheme}
    web = http.client.HTTPConnection("127.0.0.1", int(os.environ.get("WEB_PORT", "8000")), timeout=5)
    try:
        web.request("GET", "/health/", headers=headers)
        status = web.getresponse().status
    except OSError as error:
        print(f"the web server does not answer: {error}", file=sys.stderr)
        return 1
    if status != 200:
        print(f"/health/ answers {status}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
