"""In every game, exactly the buttons that end the match say so."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest

from games import registry
from games.contract import cases
from games.errors import Refused
from games.interface import Role
from games.play import Play, configure, start, submit
from games.tests.ours import OURS
from matches import forms
from matches.screens import render_screen

ENDS = "this ends the game"
CONTINUES = re.compile(r"go on|you name a price|next round", re.IGNORECASE)


def buttons(html: str) -> dict[str, str]:
    """Return the labels of one-press answers by the value sent; "null" is none."""
    matches = re.findall(
        r'<button type="submit" name="(\w+|\w+!none)" value="([^"]*)"[^>]*>(.*?)</button>', html, re.DOTALL
    )
    return {
        "null" if name.endswith("!none") else value: " ".join(unescape(re.sub(r"<[^>]+>", " ", label_html)).split())
        for name, value, label_html in matches
    }


def closes_turn(play: Play, role: Role) -> bool:
    """Return whether this role's answer closes the turn; with sealed answers it is unknown which is the last."""
    return play.turn is not None and set(play.turn.forms) == {role}


def play_after(play: Play, role: Role, value: str) -> Play | None:
    """Return the play after this press; None if it is not a complete move."""
    for form in play.forms(role):
        fields = forms.fields_of(form.model)
        if len(fields) != 1 or (fields[0].choices and value not in map(str, fields[0].choices)):
            continue
        answer = value if fields[0].choices else json.loads(value)
        try:
            return submit(play, role, {fields[0].name: answer})[0]
        except Refused:
            return None
    return None


@pytest.mark.parametrize("key", OURS)
def test_buttons_that_end_the_game_say_so(key):
    checked = 0
    for case in cases(key):
        end_is_hidden = "cap" in {name for role in case.game.roles() for name in case.game.secrets(role)} and (
            getattr(case.game.config, "rounds", 0) is None
        )
        for moment in case.walk().selected_moments():
            play, role = moment.before, moment.role
            for value, label in buttons(render_screen(play, role)).items():
                next_play = play_after(play, role, value)
                if next_play is None or not closes_turn(play, role) or role not in case.game.people():
                    continue
                checked += 1
                if not end_is_hidden:
                    assert (ENDS in label) == next_play.over, (case, label)
                elif ENDS in label:
                    assert next_play.over, (case, label)
                if next_play.over or end_is_hidden:
                    assert not CONTINUES.search(label) or not next_play.over, (case, label)
    if key in ("bargaining", "negotiation", "persuasion", "english_auction", "item_auction"):
        assert checked > 20


@pytest.mark.parametrize("key", ["beauty_contest", "sealed_auction"])
def test_the_last_run_is_labelled_as_the_last(key):
    play, _events = start(configure(registry.get(key), {"players": 2, "runs": 2}), 1)
    name = forms.fields_of(play.forms("p1")[0].model)[0].name
    assert ENDS not in render_screen(play, "p1")
    for role in ("p1", "p2"):
        play, _events = submit(play, role, {name: 10})
    assert ENDS in render_screen(play, "p1")
