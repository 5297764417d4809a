"""`make otree-demo`: an oTree experiment beside the Parley that it sends its participants to."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

from config.supervisor import ROOT, Stack, StackError
from deploy.otree_demo.server import Otree

DATA = Path(os.environ.get("PARLEY_DATA") or ROOT / "var") / "otree-demo"


def main() -> int:
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: stop.set())
    print("Starting Parley and oTree …", flush=True)
    try:
        with ExitStack() as cleanup:
            stack = cleanup.enter_context(Stack(DATA, web_port=8000, say=print))
            # Parley has its port by now, so oTree cannot be given the same one.
            experiment = Otree(DATA / "otree", ROOT / ".venv-otree" / "bin" / "otree", wanted_port=stack.port + 1)
            cleanup.callback(experiment.stop)
            study_link = stack.call("deploy.otree_demo.study.make_study", experiment.url, experiment.rest_key)
            password = stack.call("showcase.demo.admin_password")
            stack.close_calls()
            experiment.prepare(parley=stack.url, **study_link)
            experiment.start()
            print(f"oTree: {experiment.url}/demo (choose the session, then open the participants' links)")
            print(f"  its pages for researchers: user admin, password {experiment.password}")
            print(f"Parley, where they play: {stack.url}")
            print(f"  its pages for researchers: {stack.url}/admin/, user admin, password {password}")
            print(f"Data and logs: {DATA}\nStop with Ctrl+C.", flush=True)
            stop.wait()
    except StackError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
