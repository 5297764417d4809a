"""`parley-play`: play with a Python file that has a function `decide(seat)`."""

from __future__ import annotations

import argparse
import logging
import runpy
from pathlib import Path

from parley_client.playing import play


def main() -> None:
    parser = argparse.ArgumentParser(description="Play every turn that waits for a program.")
    parser.add_argument("address", help="of the Parley server, such as https://parley.example.org")
    parser.add_argument("file", help="a Python file with a function decide(seat), which returns a move")
    parser.add_argument("--secret-file", required=True, help="a file with the program's secret")
    parser.add_argument("--version", default="", help="recorded with the moves")
    parser.add_argument("--threads", type=int, default=4, help="turns that are decided at the same time")
    parser.add_argument("--socket", action="store_true", help="be told of turns instead of asking every second")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    secret = Path(options.secret_file).read_text(encoding="utf-8").strip()
    own = runpy.run_path(options.file)
    play(
        options.address,
        secret,
        own["decide"],
        talk=own.get("talk"),
        version=options.version,
        threads=options.threads,
        socket=options.socket,
    )
