"""Serve a stand-in for a panel on 127.0.0.1, to rehearse a study that recruits from a panel.

Usage: python -m panels.standin STUDY_ADDRESS [--preset sona] [--secret …] [--port N]
"""

from __future__ import annotations

import argparse
import os

import django

PORT = 8970


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from llm_agents.standins.kit import run
    from panels import presets
    from panels.standin.server import StandIn

    parser = argparse.ArgumentParser(prog="python -m panels.standin", description="Serve a stand-in for a panel.")
    parser.add_argument("study", help="the study's address, such as http://127.0.0.1:8000/join/mine/")
    parser.add_argument("--preset", default="any_site", choices=[preset.key for preset in presets.every()])
    parser.add_argument(
        "--secret", default="", help="the secret that signs its links, if the panel is set up to check them this way"
    )
    parser.add_argument("--port", type=int, default=PORT, help=f"where to serve ({PORT}; 0: any that is free)")
    options = parser.parse_args()
    preset = presets.get(options.preset)
    run(
        lambda port: StandIn(preset, study=options.study, secret=options.secret, port=port),
        options.port,
        lambda standin: (
            f"A stand-in for a panel answers at {standin.address}/\n"
            f"In the panel's form, enter {standin.address} as its site, and addresses below it for the endings,\n"
            f"such as {standin.address}/completed?id={{person}}."
        ),
    )


if __name__ == "__main__":
    main()
