"""The web server: processes that share one listening socket, each restarted when it ends.

`python -m config.serving --port 8000 --processes 2`. The socket stays open while a process is replaced, so that
visitors wait instead of being refused. Each process takes its share of the connections (`config.accepting`). No process
is killed for being slow.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import socket
import sys
import threading
from pathlib import Path
from typing import Any

import uvicorn

from config.accepting import COUNT_BYTES, NOT_ACCEPTING, SharingServer, shared_counts
from config.children import PROBE_SECONDS, ROOT, Service
from monitoring import restarts

MAX_PROCESSES = 4
"""Processes that are started by default, even with more cores."""
MAX_MESSAGE_BYTES = 64 * 1024
"""Maximum bytes of one message of a socket."""
BACKLOG = 2048
log = logging.getLogger("parley.web")


def default_processes() -> int:
    """Return WEB_CONCURRENCY, or the number of usable processor cores, at most MAX_PROCESSES."""
    return int(os.environ.get("WEB_CONCURRENCY") or min(MAX_PROCESSES, len(os.sched_getaffinity(0))))


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m config.serving", description=__doc__)
    parser.add_argument("--application", default="config.asgi:application")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--processes", type=int, default=default_processes())
    parser.add_argument("--forwarded-allow-ips", default="127.0.0.1", help="proxies whose headers name the visitor")
    parser.add_argument("--timeout-graceful-shutdown", type=int, default=3, help="seconds for open requests at the end")
    parser.add_argument("--child", nargs=3, type=int, metavar=("SOCKET", "COUNTS", "NUMBER"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child is not None:
        _answer(options)
        return 0
    _log_to_stderr()
    try:
        family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
        listener = socket.create_server((options.host, options.port), family=family, backlog=BACKLOG)
    except OSError as error:
        log.error("cannot listen on %s, port %s: %s", options.host, options.port, error.strerror)
        return 1
    with listener:
        return _supervise(listener, arguments, options.processes)


def _supervise(listener: socket.socket, arguments: list[str], number: int) -> int:
    """Run the processes until a signal arrives; return the exit code."""
    stopping = threading.Event()
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signal_number, lambda *_: stopping.set())
    file = os.memfd_create("connections of each process")
    os.ftruncate(file, COUNT_BYTES * number)
    counts = shared_counts(file)
    shared = [listener.fileno(), file]
    command = [sys.executable, "-m", "config.serving", *arguments, "--child", *map(str, shared)]
    options: dict[str, Any] = {"stdout": None, "stderr": None, "pass_fds": shared, "cwd": None}
    processes = [Service(f"web {i + 1}", [*command, str(i)], **options) for i in range(number)]
    folder = Path(os.environ.get("PARLEY_DATA") or ROOT / "var")
    code, restarted = 0, False
    for i, process in enumerate(processes):
        counts[i] = NOT_ACCEPTING
        process.start()
    while not code and not stopping.wait(PROBE_SECONDS):
        for i, process in enumerate(processes):
            if not (ending := process.tend()):
                continue
            counts[i] = NOT_ACCEPTING
            if not restarted and process.process is not None and process.process.returncode > 0:
                code = process.process.returncode
                log.error("%s %s; the server cannot start", process.name, ending)
                break
            restarted = True
            log.warning("%s %s; starting another", process.name, ending)
            restarts.note(folder, process.name, ending)
    for process in processes:
        if process.runs and process.process is not None:
            process.process.terminate()
    for process in processes:
        process.stop()
    return code


def _answer(options: argparse.Namespace) -> None:
    listener, counts, number = options.child
    config = uvicorn.Config(
        options.application,
        workers=1,
        ws="websockets-sansio",
        ws_max_size=MAX_MESSAGE_BYTES,
        ws_per_message_deflate=False,
        access_log=False,
        log_level="warning",
        forwarded_allow_ips=options.forwarded_allow_ips,
        timeout_graceful_shutdown=options.timeout_graceful_shutdown,
    )
    SharingServer(config, socket.socket(fileno=listener), shared_counts(counts), number).run()


def _log_to_stderr() -> None:
    """Log as Django's settings do in the other processes."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    if os.environ.get("LOG_FORMAT") == "json":
        from pythonjsonlogger.json import JsonFormatter

        logging.root.handlers[0].setFormatter(JsonFormatter("%(asctime)s %(levelname)s %(name)s %(message)s"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
