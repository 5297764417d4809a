"""`python -m deploy.docs`: build the site into var/docs/html. The exit code is 1 if a page or a link is wrong."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from deploy.docs.build import ROOT, BuildFailed, build


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the documentation's site.")
    parser.add_argument("--to", type=Path, default=ROOT / "var" / "docs", help="folder for the site (var/docs)")
    folder = parser.parse_args().to
    try:
        report = build(folder)
    except BuildFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    print(f"{report.pages} pages, {report.links} links. External addresses: {report.listing}")
    print(f"Open {folder / 'html' / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
