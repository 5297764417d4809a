"""Every published configuration of auctions and contests, simulated, replayed and shown from the command line."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from games import grids, registry
from games.play import configure, start
from plans.collection import CollectionReader
from plans.library import Folder, ReadyMade, ready_made
from plans.reading import Reader

GAMES = ("beauty_contest", "sealed_auction", "english_auction", "item_auction")


def published() -> list[Any]:
    """Return (game, configuration) of every table, preset and ready study once; in quick runs one per collection."""
    params: dict[str, Any] = {}

    def add(key: str, config: Mapping[str, Any], *, by_day: bool) -> None:
        name = f"{key} {json.dumps(config, sort_keys=True)}"
        marks = [] if by_day else [pytest.mark.slow]
        params.setdefault(name, pytest.param(key, dict(config), id=f"{key}-{len(params)}", marks=marks))

    for key in GAMES:
        for preset in _of(key, "collections"):
            reader = CollectionReader(preset.document)
            for cell in reader.cells:
                add(key, reader.collection(cell.factors).game.config, by_day=cell.number == 1)
        for name in grids.published(key).TABLES:
            for config in grids.table(key, name):
                add(key, config, by_day=key == "english_auction")
        for preset in _of(key, "studies"):
            study = Reader(preset.document)
            for cell in study.cells:
                add(key, study.plan(cell.factors).games()[0].config, by_day=False)
    return list(params.values())


def _of(key: str, folder: Folder) -> list[ReadyMade]:
    return [preset for preset in ready_made(folder).values() if preset.game == key]


def output_of(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


@pytest.mark.parametrize(("key", "config"), published())
def test_published_configurations_simulate_replay_and_show(tmp_path: Path, key: str, config: dict[str, Any]):
    config_text = json.dumps(config)
    match = json.loads(output_of("simulate", key, "--config", config_text, "--seed", "3", "--json"))
    moves = [{"role": event["role"], "move": event["move"]} for event in match["events"] if event["kind"] == "move"]
    file = tmp_path / "match.json"
    file.write_text(json.dumps({"game": key, "config": config, "seed": 3, "moves": moves}))
    replayed = json.loads(output_of("replay", os.fspath(file), "--json"))
    assert (replayed["payoffs"], replayed["metrics"]) == (match["payoffs"], match["metrics"])
    game = configure(registry.get(key), config)
    first_role = start(game, 3)[0].waiting_for()[0]
    for form in ("html", "prompt"):
        opening = output_of("show", key, "--role", first_role, "--config", config_text, "--seed", "3", "--as", form)
        assert opening.strip() and opening != output_of(
            "show", key, "--role", first_role, "--moves", os.fspath(file), "--as", form
        )
