"""Serves a stand-in for OpenAI and Anthropic on 127.0.0.1 that plays every game: for developing without a key.

Usage: python -m llm_agents.standins [--port N] [--seed N] [--delay SECONDS] [--prose] [--misbehave KIND[:EVERY]]
"""

from __future__ import annotations

import argparse
import errno
import signal
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from llm_agents.standins.misbehaviours import Answer, Calls, Slow, kinds, tool_kinds
from llm_agents.standins.player import answer, fingerprint, tool_misbehaviours
from llm_agents.standins.server import BothStandIn

PORT = 8900
TRIED = 50
"""Ports that are tried from the wanted one on."""
SECONDS = 2.0
"""What slow misbehaviours take where no delay is given."""
MODELS = ("stand-in",)
KEY = "sk-stand-in-not-a-key"
NOTHING_CALLED = Calls((("submit", "{}"),))
TOOL_KINDS = tuple(tool_kinds(NOTHING_CALLED, NOTHING_CALLED, ""))
"""Misbehaviours of a model that is to call tools; elsewhere it behaves."""
KINDS = (*kinds("{}", SECONDS), *TOOL_KINDS)


@dataclass(frozen=True)
class Misbehaviour:
    """A kind of misbehaviour that befalls every `every`-th call."""

    kind: str
    every: int = 1


class StandInModel:
    """What is answered: a sensible move, or the misbehaviour whose turn it is; calls are counted from 1."""

    def __init__(self, *, seed: int, delay: float, prose: bool, misbehaves: Sequence[Misbehaviour]):
        self._seed, self._delay, self._prose, self._misbehaves = seed, delay, prose, misbehaves
        self.calls = 0
        self._times: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, request: dict[str, Any]) -> Answer:
        who = fingerprint(request)
        with self._lock:
            self.calls += 1
            self._times[who] += 1
            number, time = self.calls, self._times[who]
        said = answer(request, seed=self._seed, time=time, prose=self._prose)
        due = [one.kind for one in self._misbehaves if number % one.every == 0]
        if due and due[0] in TOOL_KINDS:
            wrong = tool_misbehaviours(request, seed=self._seed, time=time)
            said = wrong[due[0]] if wrong else said
        elif due:
            bare = answer(request, seed=self._seed, time=time)
            if isinstance(bare, Calls) or bare.startswith("{") or due[0] != "types":
                return kinds(bare, self._delay or SECONDS)[due[0]]
        return Slow(self._delay, said) if self._delay else said


def serve(answers: Callable[[dict[str, Any]], Answer], port: int) -> BothStandIn:
    """A stand-in server of both protocols on `port` or the next one that is free.

    Raises:
        OSError: none of them is.
    """
    for candidate in range(port, min(port + TRIED, 65536)):
        try:
            return BothStandIn(answers, models=MODELS, tokens=_tokens, keeps=False, port=candidate)
        except OSError as failure:
            if failure.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
    raise OSError(errno.EADDRINUSE, f"No port from {port} on is free.")


def _tokens(request: Any, text: str) -> tuple[int, int]:
    """About four characters a token, as a rule of thumb."""
    read = sum(len(str(message.get("content"))) for message in request["messages"]) + len(str(request.get("system")))
    return read // 4 + 1, len(text) // 4 + 1


def _port(words: str) -> int:
    number = int(words)
    if not 1 <= number <= 65535:
        raise argparse.ArgumentTypeError("a port is a number from 1 to 65535")
    return number


def _seconds(words: str) -> float:
    seconds = float(words)
    if not 0 <= seconds <= 3600:
        raise argparse.ArgumentTypeError("seconds are a number from 0 to 3600")
    return seconds


def _misbehaviour(words: str) -> Misbehaviour:
    kind, colon, every = words.partition(":")
    if kind not in KINDS:
        raise argparse.ArgumentTypeError(f"there is no kind “{kind}”; there are {', '.join(KINDS)}")
    if colon and not (every.isascii() and every.isdigit() and int(every) > 0):
        raise argparse.ArgumentTypeError(f"“{every}” must be a whole number from 1 on: every how many calls")
    return Misbehaviour(kind, int(every) if colon else 1)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m llm_agents.standins",
        description="Serves a stand-in for OpenAI and Anthropic on 127.0.0.1 that plays every game.",
    )
    parser.add_argument("--port", type=_port, default=PORT, help=f"where to serve, or the next free one ({PORT})")
    parser.add_argument("--seed", type=int, default=0, help="another one plays otherwise (0)")
    parser.add_argument("--delay", type=_seconds, default=0.0, metavar="SECONDS", help="before each answer (0)")
    parser.add_argument("--prose", action="store_true", help="answer in prose and a code fence where no schema holds")
    parser.add_argument(
        "--misbehave",
        type=_misbehaviour,
        action="append",
        default=[],
        metavar="KIND[:EVERY]",
        help=f"every so many calls, each where nothing is said; may be repeated; KIND: {', '.join(KINDS)}. "
        f"What is slow takes --delay, or {SECONDS:g} seconds",
    )
    options: argparse.Namespace = parser.parse_args()
    return options


def _how_to_use(standin: BothStandIn, wanted: int) -> str:
    moved = [] if standin.port == wanted else [f"Port {wanted} is taken."]
    settings = [
        f"  export {name}={KEY if name.endswith('KEY') else value}" for name, value in standin.environment.items()
    ]
    return "\n".join(
        [
            *moved,
            f"A stand-in for OpenAI and Anthropic answers at http://127.0.0.1:{standin.port}. Set in another terminal:",
            *settings,
            "and try:",
            "  .venv/bin/python manage.py simulate bargaining "
            "--seat alice=openai:stand-in --seat bob=anthropic:stand-in",
            "Ctrl-C ends it.",
        ]
    )


def main() -> None:
    options = _options()
    model = StandInModel(seed=options.seed, delay=options.delay, prose=options.prose, misbehaves=options.misbehave)
    over = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: over.set())
    with serve(model, options.port) as standin:
        print(_how_to_use(standin, options.port), flush=True)
        over.wait()
    print(f"Ended after {model.calls} calls.", flush=True)


if __name__ == "__main__":
    main()
