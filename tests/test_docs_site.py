"""The documentation site: its links, the reference generated from code, and (slow) the whole build."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management.base import BaseCommand

from deploy import moving_picture, screenshots
from deploy.docs import build, links
from deploy.docs.pages import relink
from deploy.docs.reference import commands, games, settings
from deploy.operate import environment
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
@pytest.mark.timeout(1000)
def test_screenshots_can_be_retaken(tmp_path: Path):
    """The script stops if a tutorial page has changed or a picture is too large."""
    for script, target in (("deploy.screenshots", tmp_path), ("deploy.moving_picture", tmp_path / "match.png")):
        process = subprocess.run(
            [sys.executable, "-m", script, "--to", str(target)],
            cwd=ROOT, env={**os.environ, "PYTHONPATH": "platform:."}, capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        assert process.returncode == 0, process.stderr[-3000:]
    charts = {path.name for path in (ROOT / "docs" / "images").glob("analysis-*.png")}
    assert {path.name for path in tmp_path.iterdir()} | charts == {p.name for p in (ROOT / "docs" / "images").iterdir()}


def test_every_command_and_option_is_in_the_reference():
    page = commands.page()
    common = {action.dest for action in BaseCommand().create_parser("manage.py", "")._actions}
    for name, command in commands.own_commands():
        assert f"### {name}\n" in page
        own_actions = [
            action for action in command.create_parser("manage.py", name)._actions if action.dest not in common
        ]
        assert [option for action in own_actions for option in action.option_strings if f"`{option}" not in page] == []
    assert {"demo", "test", "docs"} <= {name for name, _does in commands.targets()}


def test_every_setting_is_explained():
    explained = {name: meaning for name, meaning, _value in environment.entries(settings.TEMPLATE.read_text())}
    defaults = settings.code_defaults()
    assert defaults and defaults.keys() <= explained.keys()
    assert [name for name, meaning in explained.items() if not meaning and name not in ("DEBUG", "LOG_LEVEL")] == []


@pytest.mark.parametrize("key", ["bargaining", "social_dilemma"])
def test_game_page_lists_parameters_scripts_and_columns(key: str):
    game = registry.get(key)
    page = games.page(key, games.play.configure(game, {}))
    for name in (*game.Config.model_fields, *game.scripts):
        assert f"`{name}`" in page
    assert "### decisions.csv" in page and "## Instructions" in page


def test_links_are_adapted_to_the_site():
    text = "[a](docs/api.md#polling) [l](LICENSE) [w](https://example.org) [h](#here)\n```\n[c](docs/api.md)\n```\n"
    expected = "[a](api.md#polling) l (`LICENSE`) [w](https://example.org) [h](#here)\n```\n[c](docs/api.md)\n```\n"
    assert relink(text, "architecture.md", "ARCHITECTURE.md", ROOT) == expected
    assert relink("[a](../ARCHITECTURE.md)", "api.md", "docs/api.md", ROOT) == "[a](architecture.md)"


def test_broken_links_and_network_loads_are_reported(tmp_path: Path):
    (tmp_path / "a.html").write_text(
        '<p id="here"><a href="#here">a</a><a href="b.html#there">b</a><a href="c.html">c</a>'
        '<a href="https://example.org/">d</a><script src="https://example.org/x.js"></script>'
    )
    (tmp_path / "b.html").write_text("<p>")
    report = links.check(tmp_path)
    assert (report.pages, report.internal) == (2, 3)
    assert report.external == {"https://example.org/", "https://example.org/x.js"}
    for problem, words in zip(
        report.problems, ("b.html#there", "c.html", "loads https://example.org/x.js"), strict=True
    ):
        assert words in problem


def test_files_named_in_architecture_exist():
    """Paths start at the root or in platform/; a bare file name is in the folder named before it."""
    listed = [
        p.relative_to(ROOT).as_posix() for f in FOLDERS for p in (ROOT / f).rglob("*") if "__pycache__" not in p.parts
    ]
    existing = (
        {f"/{path}" for path in listed} | {f"/{path}/" for path in listed} | {f"/{folder}/" for folder in FOLDERS}
    )
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    paths = set(re.findall(r"`([\w./-]+(?:/|\.(?:py|js|html|md|yaml|conf)))`", page))
    assert len(paths) > 100
    missing = {name for name in paths if not any(path.endswith(f"/{name}") for path in existing)}
    assert missing == set()


def test_every_picture_is_shown_and_small():
    pages = "\n".join(path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
    pictures = [path for path in (ROOT / "docs" / "images").iterdir() if path != moving_picture.FILE]
    assert [path.name for path in pictures if f"images/{path.name}" not in pages] == []
    assert [path.name for path in pictures if path.stat().st_size > screenshots.MAX_BYTES] == []
