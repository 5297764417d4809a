"""The documentation site: links, the reference generated from code, and (slow) the whole build."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management.base import BaseCommand

from deploy.docs import build, links
from deploy.docs.pages import relink
from deploy.docs.reference import commands, games, settings
from games import registry

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("games", "llm_agents", "platform", "templates", "static", "deploy", "docs", "tests")


@pytest.mark.slow
def test_site_builds_without_warnings_and_its_links_work(tmp_path: Path):
    venv = [ROOT / "deploy" / "setup" / "venv.sh", "--into", ".venv-docs", "requirements-docs.lock"]
    subprocess.run(venv, check=True, timeout=600)
    report = build.build(tmp_path)
    assert report.pages > 30 and report.links > 500
    assert (tmp_path / "html" / "index.html").exists()


@pytest.mark.slow
@pytest.mark.browser
def test_the_screenshots_can_be_taken_again(tmp_path: Path):
    """The script stops if a tutorial page has changed or a picture is too large."""
    taken = subprocess.run(
        [sys.executable, "-m", "deploy.screenshots", "--to", str(tmp_path)],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": "platform:."}, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert taken.returncode == 0, taken.stderr[-3000:]
    charts = {path.name for path in (ROOT / "docs" / "images").glob("analysis-*.png")}
    assert {path.name for path in tmp_path.iterdir()} | charts == {p.name for p in (ROOT / "docs" / "images").iterdir()}


def test_every_command_and_option_is_in_the_reference():
    page = commands.page()
    common = {action.dest for action in BaseCommand().create_parser("manage.py", "")._actions}
    for name, command in commands.own_commands():
        assert f"### {name}\n" in page
        own = [action for action in command.create_parser("manage.py", name)._actions if action.dest not in common]
        assert [option for action in own for option in action.option_strings if f"`{option}" not in page] == []
    assert {"demo", "test", "docs"} <= {name for name, _does in commands.targets()}


def test_every_setting_is_explained():
    explained = {name: meaning for name, meaning, _value in settings.entries()}
    read = settings.code_defaults()
    assert read and read.keys() <= explained.keys()
    assert [name for name, meaning in explained.items() if not meaning and name not in ("DEBUG", "LOG_LEVEL")] == []


@pytest.mark.parametrize("key", ["bargaining", "social_dilemma"])
def test_a_game_page_has_its_parameters_scripts_and_columns(key: str):
    game = registry.get(key)
    page = games.page(key, games.play.configure(game, {}))
    for name in (*game.Config.model_fields, *game.scripts):
        assert f"`{name}`" in page
    assert "### decisions.csv" in page and "## Instructions" in page


def test_links_follow_their_pages():
    text = "[a](docs/api.md#polling) [l](LICENSE) [w](https://example.org) [h](#here)\n```\n[c](docs/api.md)\n```\n"
    linked = "[a](api.md#polling) l (`LICENSE`) [w](https://example.org) [h](#here)\n```\n[c](docs/api.md)\n```\n"
    assert relink(text, "architecture.md", "ARCHITECTURE.md", ROOT) == linked
    assert relink("[a](../ARCHITECTURE.md)", "api.md", "docs/api.md", ROOT) == "[a](architecture.md)"


def test_a_wrong_link_and_a_load_from_the_network_are_reported(tmp_path: Path):
    (tmp_path / "a.html").write_text(
        '<p id="here"><a href="#here">a</a><a href="b.html#there">b</a><a href="c.html">c</a>'
        '<a href="https://example.org/">d</a><script src="https://example.org/x.js"></script>'
    )
    (tmp_path / "b.html").write_text("<p>")
    found = links.check(tmp_path)
    assert (found.pages, found.internal) == (2, 3)
    assert found.external == {"https://example.org/", "https://example.org/x.js"}
    assert [problem.split(" ", 1)[1] for problem in found.problems] == [
        "links to b.html#there, but that page has no such anchor.",
        "links to c.html, which does not exist.",
        "loads https://example.org/x.js from the network.",
    ]


def test_the_files_that_architecture_names_exist():
    """Paths start at the root or in platform/; bare file names are in the folder named before."""
    listed = [
        p.relative_to(ROOT).as_posix() for f in FOLDERS for p in (ROOT / f).rglob("*") if "__pycache__" not in p.parts
    ]
    known = {f"/{path}" for path in listed} | {f"/{path}/" for path in listed} | {f"/{folder}/" for folder in FOLDERS}
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w./-]+(?:/|\.(?:py|js|html|md|yaml|conf)))`", page))
    assert len(named) > 100
    missing = {name for name in named if not any(path.endswith(f"/{name}") for path in known)}
    assert missing == set()
