"""Exit with 0 if the web server on this machine answers /health/ to a request like its proxy's."""

from __future__ import annotations

import http.client
import os
import sys
from collections.abc import Mapping
from urllib.parse import urlsplit


def ask(path: str, settings: Mapping[str, str]) -> tuple[int, bytes]:
    """Request a page from the web server on this machine; return status and content.

    Raises:
        OSError
    """
    site = urlsplit(settings.get("SITE_URL") or "http://127.0.0.1:8000")
    headers = {"Host": site.netloc, "X-Forwarded-Proto": site.scheme}
    web = http.client.HTTPConnection("127.0.0.1", int(settings.get("WEB_PORT") or "8000"), timeout=5)
    try:
        web.request("GET", path, headers=headers)
        response = web.getresponse()
        return response.status, response.read()
    except http.client.HTTPException as error:
        raise OSError(str(error)) from error
    finally:
        web.close()


def main() -> int:
    try:
        status, _content = ask("/health/", os.environ)
    except OSError as error:
        print(f"the web server does not answer: {error}", file=sys.stderr)
        return 1
    if status != 200:
        print(f"/health/ answers {status}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
