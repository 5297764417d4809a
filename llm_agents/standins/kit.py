"""What all stand-ins for services with plain answers share: faults, a record of calls, and their command line.

A stand-in serves over a real socket (`http.py`), and fails in the ways in which every such service fails.
"""

from __future__ import annotations

import argparse
import asyncio
import errno
import json
import re
import signal
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from enum import StrEnum
from html import escape
from typing import Any, Protocol, Self, TypeVar

from llm_agents.standins.http import HttpAnswer, HttpRequest, HttpServer

HTML, JSON = "text/html; charset=utf-8", "application/json"
PORTS_TRIED = 50
"""Ports to try, starting with the requested one."""


class Fault(StrEnum):
    """What happens to one call. "-late" and LOST: it takes effect; the caller cannot know."""

    SLOW = "slow"
    """It takes effect at once and is answered after `seconds`."""
    CUT = "cut"
    """The connection closes before it takes effect."""
    LOST = "lost"
    """It takes effect, and the connection closes instead of the answer."""
    REFUSED = "refused"
    """An internal error of the service, without effect."""
    REFUSED_LATE = "refused-late"
    RATE = "rate"
    """Refused as one call too many, without effect."""
    GARBAGE = "garbage"
    """A page instead of data, without effect, as from a server in between."""
    GARBAGE_LATE = "garbage-late"
    GARBLED = "garbled"
    """It takes effect, and the answer's data have the wrong structure."""
    SILENT = "silent"
    """Without effect, the connection stays open for `seconds` and then closes without an answer."""
    TWICE = "twice"
    """It arrives and takes effect twice; the second answer is sent."""


WITHOUT_EFFECT = frozenset({Fault.CUT, Fault.SILENT, Fault.REFUSED, Fault.RATE, Fault.GARBAGE})


@dataclass(frozen=True)
class Reply:
    """What is sent; header names are in lower case."""

    body: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": HTML})


def data(value: Any, status: int = 200, kind: str = JSON, **headers: str) -> Reply:
    """Return an answer in JSON; None: without a body."""
    body = "" if value is None else json.dumps(value)
    return Reply(body, status, {"content-type": kind, **_named(headers)})


def page(text: str, status: int = 200, **headers: str) -> Reply:
    return Reply(text, status, {"content-type": HTML, **_named(headers)})


def redirect(address: str, **headers: str) -> Reply:
    return page("", 303, location=address, **headers)


_STYLE = """
:root { color-scheme: light dark } * { box-sizing: border-box }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; display: flex; flex-direction: column; min-height: 100vh }
header { background: #22313f; color: #fff; padding: .6rem 1rem; display: flex; flex-wrap: wrap; gap: .5rem 1rem }
header { align-items: center } header a { color: #fff }
main { padding: 1rem; max-width: 60rem; width: 100%; margin: 0 auto }
main.frame { padding: 0; max-width: none; flex: 1; display: flex }
iframe { border: 0; width: 100%; flex: 1; min-height: 85vh }
button, input { font: inherit; padding: .4rem .9rem } form { display: inline } ul { list-style: none; padding: 0 }
li, article { border: 1px solid #8886; border-radius: .4rem; padding: 1rem; margin: 0 0 1rem }
.note { background: #8883; border-radius: .4rem; padding: .5rem .8rem } label { display: block; margin: 0 0 .8rem }
td, th { text-align: left; padding: .25rem 1rem .25rem 0; vertical-align: top; overflow-wrap: anywhere }
"""


def people_page(service: str, title: str, body: str, *, header: str = "", frame: bool = False) -> str:
    """Return a stand-in's page for people as HTML.

    Args:
        service: whose stand-in it is.
        body, header: in HTML; with `frame`, the body is an iframe that fills the page.
    """
    heading = "" if frame else f"<h1>{escape(title)}</h1>"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>"
        f"<header><strong>Rehearsal of {escape(service)}</strong> nobody is paid here {header}</header>"
        f"<main{' class=frame' if frame else ''}>{heading}{body}</main></body></html>"
    )


def button(address: str, label: str) -> str:
    """Return a form in HTML that is one button, which posts to the address."""
    return f'<form method="post" action="{address}"><button>{escape(label)}</button></form>'


def _named(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


@dataclass
class _Planned:
    """A fault of the next `times` calls whose name matches the pattern: of each, or of every n-th."""

    fault: Fault
    pattern: str
    times: float
    seconds: float
    every: int

    def due(self, call: str, number: int) -> bool:
        return self.times > 0 and number % self.every == 0 and re.search(self.pattern, call) is not None


class Service(ABC):
    """A stand-in on 127.0.0.1; serves while its `with` block runs.

    Attributes:
        lock: held while a request is answered.
        address: without a trailing slash.
    """

    garbled: Any = {"surprise": True}
    """The data of a garbled answer."""

    def __init__(self, *, port: int = 0):
        self.lock = threading.RLock()
        self._planned: list[_Planned] = []
        self._number = 0
        self._server = HttpServer(self._serve, port)
        self.port: int = self._server.port
        self.address = f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def close(self) -> None:
        self._server.close()

    def misbehave(
        self, fault: str, pattern: str = "", *, times: float = 1, seconds: float = 2.0, every: int = 1
    ) -> None:
        """Plan a fault; of several that apply to a call, the first planned one counts."""
        self._planned.append(_Planned(Fault(fault), pattern, times, seconds, every))

    def behave(self) -> None:
        """Forget all planned faults."""
        self._planned.clear()

    def call_of(self, request: HttpRequest) -> str:
        """Return the name of the API's call that this is; "" for people's pages, which have no faults."""
        return ""

    @abstractmethod
    def answer(self, request: HttpRequest) -> Reply:
        """Answer a request, without waiting for anything."""

    def failure(self, fault: Fault) -> Reply:
        """Return the service's own answer to a call that it refuses without reason (REFUSED, RATE)."""
        return page("<html>Internal Server Error</html>", 429 if fault is Fault.RATE else 500)

    async def _serve(self, request: HttpRequest, answer: HttpAnswer) -> None:
        planned = self._next_fault(self.call_of(request))
        fault = planned.fault if planned else None
        reply = Reply()
        with self.lock:
            for _time in range(0 if fault in WITHOUT_EFFECT else 2 if fault is Fault.TWICE else 1):
                reply = self.answer(request)
        if planned and fault in (Fault.SLOW, Fault.SILENT):
            await asyncio.sleep(planned.seconds)
        if fault in (Fault.CUT, Fault.LOST, Fault.SILENT):
            answer.drop()
            return
        if fault in (Fault.REFUSED, Fault.RATE, Fault.REFUSED_LATE):
            reply = self.failure(fault)
        if fault in (Fault.GARBAGE, Fault.GARBAGE_LATE):
            reply = page("<html>Welcome</html>")
        if fault is Fault.GARBLED:
            reply = Reply(json.dumps(self.garbled), headers=reply.headers)
        await answer.send(reply.status, reply.headers, reply.body.encode())

    def _next_fault(self, call: str) -> _Planned | None:
        if not call:
            return None
        with self.lock:
            self._number += 1
            planned = next((entry for entry in self._planned if entry.due(call, self._number)), None)
            if planned is not None:
                planned.times -= 1
            return planned


# ---- the command line ------------------------------------------------------------------------------


class Serving(Protocol):
    """A server with a port, as a context manager."""

    @property
    def port(self) -> int: ...

    def __enter__(self) -> Any: ...

    def __exit__(self, *_exception: Any) -> None: ...


Served = TypeVar("Served", bound=Serving)


def on_free_port(make: Callable[[int], Served], port: int) -> Served:
    """Return what `make` serves on this port, or on the next free one.

    Raises:
        OSError: none is free.
    """
    for candidate in range(port, min(port + PORTS_TRIED, 65536)):
        try:
            return make(candidate)
        except OSError as failure:
            if failure.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
    raise OSError(errno.EADDRINUSE, f"No free port from {port} on.")


def run(make: Callable[[int], Served], port: int, usage: Callable[[Served], str]) -> None:
    """Serve until the process is told to stop, and print how to use what is served."""
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    standin = on_free_port(make, port)
    with ExitStack() as serving:
        serving.enter_context(standin)
        note = "" if port in (0, standin.port) else f"Port {port} is in use.\n"
        print(f"{note}{usage(standin)}\nNothing is kept when it ends. Press Ctrl+C to stop.", flush=True)
        stopped.wait()
    print("Stopped.", flush=True)


def serve(
    description: str,
    port: int,
    make: Callable[..., Any],
    usage: Callable[[Any], str],
    **own: tuple[type, Any, str],
) -> None:
    """Read a stand-in's command line, and serve until the process is told to stop.

    Args:
        make: makes the stand-in from a port and the values of its own options.
        own: its own options by name: type, default and help.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--port", type=int, default=port, help=f"where to serve, or the next free one ({port})")
    for name, (kind, default, text) in own.items():
        parser.add_argument(f"--{name}", type=kind, default=default, help=f"{text} ({default})")
    add_fault_options(parser)
    options = parser.parse_args()
    values = {name: getattr(options, name) for name in own}
    run(lambda number: plan_faults(make(port=number, **values), options), options.port, usage)


def add_fault_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--misbehave",
        action="append",
        default=[],
        type=_fault,
        metavar="KIND[:PATTERN]",
        help=f"fail in calls whose name matches; may be repeated; KIND: {', '.join(Fault)}",
    )
    parser.add_argument("--every", type=int, default=1, metavar="N", help="misbehave only in every n-th call (1)")


def plan_faults(service: Service, options: argparse.Namespace) -> Service:
    """Plan the faults of the command line, for as long as the stand-in runs."""
    for fault, pattern in options.misbehave:
        service.misbehave(fault, pattern, times=float("inf"), every=max(1, options.every))
    return service


def _fault(text: str) -> tuple[Fault, str]:
    kind, _colon, pattern = text.partition(":")
    if kind not in list(Fault):
        raise argparse.ArgumentTypeError(f"unknown kind “{kind}”; use one of {', '.join(Fault)}")
    return Fault(kind), pattern
