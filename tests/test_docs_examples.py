"""Run the commands and examples of README, ARCHITECTURE.md and the documentation as printed.

Quick runs check that options exist and labels match the pages, and run examples that need no database. Slow tests
run each page from top to bottom in a folder that represents the reader's.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from django.core.management import execute_from_command_line, get_commands, load_command_class

from deploy.docs.reference.commands import targets
from tests.examples import (
    EXECUTED_LANGUAGES,
    NOT_RUN,
    PAGES,
    ROOT,
    TESTED_ELSEWHERE,
    UNEXECUTED_LANGUAGES,
    blocks,
    executed_blocks,
)

MANAGE = re.compile(r"(?:\.venv/bin/python manage\.py|sudo -u parley parley) +(?P<command>[a-z_]+)(?P<rest>[^`\n|;)]*)")
MAKE = re.compile(r"(?:^|`)make ([a-z-]+)", re.MULTILINE)
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
LABEL = re.compile(r"(?<![*\w])\*(\w[^*\n]{2,60}?)\*(?![*\w])")
SERVER_TARGETS = ("demo", "stand-in-llm", "stand-in-mturk", "stand-in-panel", "stand-in-prolific")
"""Make targets that run until they are stopped; each prints a line when it is ready."""
DATABASE = "practice-data"
"""The dataset that docs/tutorials/reading-data.md creates; other pages use it too."""

PLACEHOLDERS: Mapping[str, Mapping[str, str]] = {
    "docs/analysis.md": {"DATASET": DATABASE, "--to DIR": "--to report --only general.outcomes --draws 50"},
    "docs/collections.md": {
        "FILE": "played.json",
        "FOLDER": "published-whole/glee",
        "NAME": "glee-bargaining",
        "DIR": "again",
    },
    "docs/published.md": {
        "SYSTEM DIR": "glee published-whole/glee",
        "SYSTEM=coopeval DATA=DIR": "SYSTEM=glee DATA=published-whole/glee",
    },
    "docs/studies.md": {"STUDY": "my-first-study", "DIR": "exported"},
    "docs/tutorials/first-study.md": {"verify_dataset my-first-study": f"verify_dataset {DATABASE}"},
    "docs/tutorials/own-model.md": {"openai:MODEL": "openai:stand-in", "http://127.0.0.1:11434/v1": "$STAND_IN"},
}
"""Placeholders that readers replace, and the values that the tests use."""
PREAMBLES = {"docs/recruiting.md": 'secret = "a secret of at least 16 characters"\n'}
"""Python code that runs before a page's own code and defines the names that it assumes."""
EXTERNAL_LABELS = ("Report a vulnerability", "active (running)")
"""Labels that other programs show."""
QUICK = ("simulate", "show")
"""Commands that need neither database nor broker."""


def test_every_code_block_is_run_or_has_a_reason():
    all_blocks = [block for page in PAGES for block in blocks(page)]
    assert [str(b) for b in all_blocks if b.language not in EXECUTED_LANGUAGES | UNEXECUTED_LANGUAGES] == [], (
        "name the block's language: sh, python, r, yaml or text"
    )
    first_lines = {(block.page, block.first_line) for block in all_blocks}
    assert NOT_RUN.keys() <= first_lines, "NOT_RUN lists blocks that no longer exist"
    assert TESTED_ELSEWHERE.keys() <= {block.page for block in all_blocks}


def _parsers_within(action: Any) -> list[Any]:
    """Return the parsers of a command's own commands (`study check`)."""
    return list(action.choices.values()) if isinstance(action.choices, dict) else []


def test_every_command_and_option_exists():
    commands = get_commands()
    make_targets = {name for name, _help in targets()}
    mistakes = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        mistakes += [f"{page.name}: make {name}" for name in MAKE.findall(text) if name not in make_targets]
        for match in MANAGE.finditer(text):
            if match["command"] not in commands:
                mistakes.append(f"{page.name}: {match[0]}")
                continue
            command = load_command_class(commands[match["command"]], match["command"])
            parser = command.create_parser("manage.py", match["command"])
            parsers = [parser, *(each for action in parser._actions for each in _parsers_within(action))]
            options = {option for each in parsers for action in each._actions for option in action.option_strings}
            mistakes += [
                f"{page.name}: {match[0]}" for option in OPTION.findall(match["rest"]) if option not in options
            ]
    assert mistakes == []


def test_examples_without_a_database_run(capsys, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "")
    ran = 0
    for page in PAGES:
        for block in blocks(page, "sh"):
            for line in block.code.replace("\\\n", " ").splitlines():
                if not line.startswith(".venv/bin/python manage.py"):
                    continue
                arguments = shlex.split(line, comments=True)
                if arguments[2] not in QUICK or "MODEL" in line or "public_goods" in line:
                    continue
                execute_from_command_line(arguments[1:])
                assert capsys.readouterr().out
                ran += 1
    assert ran >= 3


def test_documented_labels_exist_on_pages():
    """Every label in italics must appear on a page."""
    folders = [
        ROOT / name for name in ("platform", "templates", "games", "llm_agents", "static/parley", "deploy/otree")
    ]
    kinds = {".py", ".html", ".js"}
    files = (p for folder in folders for p in folder.rglob("*") if p.suffix in kinds and "migrations" not in p.parts)
    source_text = "\n".join(
        path.read_text(encoding="utf-8") for path in files if "tests" not in path.relative_to(ROOT).parts
    )
    visible_text = re.sub(r"\s+", " ", source_text).lower()
    missing = []
    for page in PAGES:
        text = re.sub(r"^ *```.*?^ *```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for label in LABEL.findall(text):
            parts = [part.strip(" …,.:;?") for part in re.split(r" › |: ", label)]
            missing += [
                f"{page.name}: {label}"
                for part in parts
                if part.lower() not in visible_text and label not in EXTERNAL_LABELS
            ]
    assert missing == [], "no page shows these any more:\n" + "\n".join(missing)


# ---- page by page ------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def reader_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of Parley's folder with its own database, a launched study and a dataset."""
    folder = tmp_path_factory.mktemp("workshop")
    for path in ROOT.iterdir():
        if path.name not in ("games", "manage.py", "var", ".git"):
            (folder / path.name).symlink_to(path)
    shutil.copytree(ROOT / "games", folder / "games", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "manage.py", folder)
    for subfolder in ("bin", "var"):
        (folder / subfolder).mkdir()
    make = folder / "bin" / "make"
    make.write_text(_MAKE.format(serving="|".join(SERVER_TARGETS), make=shutil.which("make")))
    make.chmod(0o755)
    study = {"title": "My first study", "slug": "my-first-study", "game": "bargaining", "roles": ["alice"]}
    study |= {"agents": "script:fair", "via": "open"}
    manage = ".venv/bin/python manage.py"
    launch = f"from tests.actions import launch_study; launch_study({study!r})"
    (practice,) = (b for b in executed_blocks(ROOT / "docs/tutorials/reading-data.md") if "collect practice" in b.code)
    run(
        folder,
        f"{manage} migrate --verbosity 0\n{manage} shell --no-imports -c {shlex.quote(launch)}\n{practice.code}\n"
        f"{manage} export_dataset practice --to published-whole --formats csv,jsonl,glee\n"
        f"{manage} simulate bargaining --json > simulated.json\n"
        f".venv/bin/python -c {shlex.quote(_WRITE_REPLAY_FILE)}",
    )
    return folder


_STAND_IN = """
.venv/bin/python -um llm_agents.standins > stand-in.log &
trap "kill $!" EXIT
until grep -q Ctrl stand-in.log; do sleep 0.2; done
STAND_IN=$(sed -n 's/.*OPENAI_BASE_URL=//p' stand-in.log)
"""
"""Starts the stand-in server, which serves as the reader's own model."""
_WRITE_REPLAY_FILE = """
import json
match = json.load(open("simulated.json"))
moves = [{"role": e["role"], "move": e["move"]} for e in match.pop("events") if e["kind"] == "move"]
json.dump({name: match[name] for name in ("game", "config", "seed")} | {"moves": moves}, open("played.json", "w"))
"""
_MAKE = """#!/bin/bash
# Parley's make without set-up; servers are stopped as soon as they are ready.
case $1 in
{serving})
    setsid {make} --no-print-directory -o setup "$@" > served.log 2>&1 &
    for _ in {{1..1200}}; do
        grep -q Ctrl served.log && break
        kill -0 $! || break
        sleep 0.2
    done
    pkill -TERM -P $!
    wait
    grep Ctrl served.log || {{ cat served.log >&2; exit 1; }}
    ;;
*)
    exec {make} --no-print-directory -o setup -o setup-test "$@"
    ;;
esac
"""


def run(folder: Path, script: str, **variables: str) -> str:
    """Run a shell script in this folder, which must succeed; return its output."""
    environment = {
        "PATH": f"{folder}/bin:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(folder), "LANG": "C.UTF-8", "PARLEY_DATA": str(folder / "var"), "PYTHONPATH": "platform:.",
        "SECRET_KEY": "examples", "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1", **variables,
    }  # fmt: skip
    process = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    assert process.returncode == 0, f"{script}\n{process.stdout[-2000:]}\n{process.stderr[-4000:]}"
    return process.stdout


def script_of(page: Path, folder: Path) -> str:
    """Return a page's commands in order as one shell script, which runs its Python and R code as one program each."""
    name = page.relative_to(ROOT).as_posix()
    commands: list[str] = []
    programs: dict[str, str] = {"python": PREAMBLES.get(name, ""), "r": ""}
    listed = executed_blocks(page)
    last_blocks = {block.language: block for block in listed}
    for block in listed:
        code = block.code
        for placeholder, value in PLACEHOLDERS.get(name, {}).items():
            code = code.replace(placeholder, value)
        if block.saved_as:
            (folder / block.saved_as).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.saved_as).write_text(code)
        elif block.language in programs:
            programs[block.language] += code
            if block is last_blocks[block.language]:
                (folder / f"example.{block.language}").write_text(programs[block.language])
                commands.append(
                    ".venv/bin/python example.python" if block.language == "python" else "Rscript example.r"
                )
        else:
            commands.append(code)
    return "\n".join(commands)


TESTED_PAGES = [p for p in PAGES if executed_blocks(p) and p.relative_to(ROOT).as_posix() not in TESTED_ELSEWHERE]


@pytest.mark.slow
@pytest.mark.parametrize("document", TESTED_PAGES, ids=lambda path: path.stem)
def test_page_works_from_top_to_bottom(document: Path, reader_folder: Path, tmp_path: Path):
    folder = tmp_path / "parley"
    shutil.copytree(reader_folder, folder, symlinks=True)
    script = script_of(document, folder)
    if "Rscript" in script and not shutil.which("Rscript"):
        pytest.skip("Rscript is not installed")
    if document.stem == "reading-data":
        shutil.rmtree(folder / DATABASE)
        script = script.replace("collect practice", "collect practice-again").replace(
            "export_dataset practice ", "export_dataset practice-again "
        )
    if document.stem == "own-model":
        script = f"{_STAND_IN}\n{script}"
    printed = run(folder, script)
    for expected in EXPECTED_OUTPUT.get(document.stem, ()):
        assert expected in printed


EXPECTED_OUTPUT = {
    "first-study": ("Ctrl", "everything agrees"),
    "reading-data": ("80 matches and 640 decisions checked: everything agrees", "config_rounds"),
    "first-game": ('"game": "public_goods"', "[system]"),
}
"""What readers of a page should see, by page."""
