"""Serve a stand-in for OpenAI and Anthropic on 127.0.0.1 that plays every game: for developing without a key.

Usage: python -m llm_agents.standins [--port N] [--seed N] [--delay SLOW_SECONDS] [--prose] [--misbehave KIND[:EVERY]]
"""

from __future__ import annotations

import argparse
import signal
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from llm_agents.standins.kit import on_free_port
from llm_agents.standins.misbehaviours import Answer, Calls, Slow, misbehaviours_by_name, tool_kinds
from llm_agents.standins.player import answer, fingerprint, tool_misbehaviours
from llm_agents.standins.server import BothStandIn

PORT = 8900
SLOW_SECONDS = 2.0
"""Delay of slow misbehaviours if none is given."""
MODELS = ("stand-in",)
KEY = "sk-0000-0000-0000"
"""Contains no word, because a key's parts are removed from every text that is shown."""
NOTHING_CALLED = Calls((("submit", "{}"),))
TOOL_KINDS = tuple(tool_kinds(NOTHING_CALLED, NOTHING_CALLED, ""))
"""Misbehaviours of a model that should call tools; on other requests it behaves."""
KINDS = (*misbehaviours_by_name("{}", SLOW_SECONDS), *TOOL_KINDS)


@dataclass(frozen=True)
class Misbehaviour:
    """A kind of misbehaviour that affects every `every`-th call."""

    kind: str
    every: int = 1


class StandInModel:
    """Answers with a sensible move, or with the misbehaviour that is due; calls are counted from 1."""

    def __init__(self, *, seed: int, delay: float, prose: bool, misbehaves: Sequence[Misbehaviour]):
        self._seed, self._delay, self._prose, self._misbehaves = seed, delay, prose, misbehaves
        self.calls = 0
        self._times: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, request: dict[str, Any]) -> Answer:
        request_hash = fingerprint(request)
        with self._lock:
            self.calls += 1
            self._times[request_hash] += 1
            number, occurrence = self.calls, self._times[request_hash]
        reply = answer(request, seed=self._seed, occurrence=occurrence, prose=self._prose)
        due_kinds = [misbehaviour.kind for misbehaviour in self._misbehaves if number % misbehaviour.every == 0]
        if due_kinds and due_kinds[0] in TOOL_KINDS:
            misbehaviours = tool_misbehaviours(request, seed=self._seed, occurrence=occurrence)
            reply = misbehaviours[due_kinds[0]] if misbehaviours else reply
        elif due_kinds:
            plain_reply = answer(request, seed=self._seed, occurrence=occurrence)
            if isinstance(plain_reply, Calls) or plain_reply.startswith("{") or due_kinds[0] != "types":
                return misbehaviours_by_name(plain_reply, self._delay or SLOW_SECONDS)[due_kinds[0]]
        return Slow(self._delay, reply) if self._delay else reply


def serve(answers: Callable[[dict[str, Any]], Answer], port: int) -> BothStandIn:
    """Serve both protocols on `port` or the next free one.

    Raises:
        OSError: none is free.
    """
    return on_free_port(
        lambda free: BothStandIn(answers, models=MODELS, tokens=_tokens, keeps_requests=False, port=free), port
    )


def _tokens(request: Any, text: str) -> tuple[int, int]:
    """Estimate the tokens read and written, at about four characters each."""
    contents = [request.get("system"), *(message.get("content") for message in request["messages"])]
    return sum(len(str(content)) for content in contents) // 4 + 1, len(text) // 4 + 1


def _port(text: str) -> int:
    number = int(text)
    if not 1 <= number <= 65535:
        raise argparse.ArgumentTypeError("a port is a number from 1 to 65535")
    return number


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 <= seconds <= 3600:
        raise argparse.ArgumentTypeError("seconds are a number from 0 to 3600")
    return seconds


def _misbehaviour(text: str) -> Misbehaviour:
    kind, colon, every = text.partition(":")
    if kind not in KINDS:
        raise argparse.ArgumentTypeError(f"unknown kind “{kind}”; use one of {', '.join(KINDS)}")
    if colon and not (every.isascii() and every.isdigit() and int(every) > 0):
        raise argparse.ArgumentTypeError(f"“{every}” must be a positive whole number: misbehave on every n-th call")
    return Misbehaviour(kind, int(every) if colon else 1)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m llm_agents.standins",
        description="Serve a stand-in for OpenAI and Anthropic on 127.0.0.1 that plays every game.",
    )
    parser.add_argument("--port", type=_port, default=PORT, help=f"port to serve on, or the next free one ({PORT})")
    parser.add_argument("--seed", type=int, default=0, help="random seed of the moves (0)")
    parser.add_argument("--delay", type=_seconds, default=0.0, metavar="SECONDS", help="before each answer (0)")
    parser.add_argument("--prose", action="store_true", help="add prose and a code fence unless a schema applies")
    parser.add_argument(
        "--misbehave",
        type=_misbehaviour,
        action="append",
        default=[],
        metavar="KIND[:EVERY]",
        help=f"misbehave on every n-th call, or on each; may be repeated; KIND: {', '.join(KINDS)}. "
        f"Slow kinds take --delay, or {SLOW_SECONDS:g} seconds",
    )
    options: argparse.Namespace = parser.parse_args()
    return options


def _usage_text(standin: BothStandIn, requested_port: int) -> str:
    notes = [] if standin.port == requested_port else [f"Port {requested_port} is in use."]
    settings = [
        f"  export {name}={KEY if name.endswith('KEY') else value}" for name, value in standin.environment.items()
    ]
    return "\n".join(
        [
            *notes,
            f"A stand-in for OpenAI and Anthropic answers at http://127.0.0.1:{standin.port}. Set in another terminal:",
            *settings,
            "and try:",
            "  .venv/bin/python manage.py simulate bargaining "
            "--seat alice=openai:stand-in --seat bob=anthropic:stand-in",
            "Press Ctrl+C to stop.",
        ]
    )


def main() -> None:
    options = _options()
    model = StandInModel(seed=options.seed, delay=options.delay, prose=options.prose, misbehaves=options.misbehave)
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    with serve(model, options.port) as standin:
        print(_usage_text(standin, options.port), flush=True)
        stopped.wait()
    print(f"Stopped after {model.calls} calls.", flush=True)


if __name__ == "__main__":
    main()
