"""Every game has a picture of its own, and a picture can do nothing on a page but be seen."""

from __future__ import annotations

import pytest

from games import pictures
from games.tests.ours import OURS

PLAIN = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 320 180" aria-hidden="true">'
    '<circle r="9" fill="var(--seat-1, #cc7000)"/>{}</svg>'
)


def test_games_have_different_pictures() -> None:
    drawn = {pictures.picture(key) for key in (*OURS, "game_without_a_picture")}
    assert len(drawn) == len(OURS) + 1


def test_neutral_picture_can_stand_on_pages() -> None:
    assert not list(pictures.problems(pictures.picture("game_without_a_picture")))


def test_plain_shapes_can_stand_on_pages() -> None:
    assert not list(pictures.problems(PLAIN.format("")))


@pytest.mark.parametrize(
    "addition",
    [
        "<script>alert(1)</script>",
        "<text>Bargaining</text>",
        "Bargaining",
        "<image href='https://example.org/a.png'/>",
        "<circle r='9' onclick='alert(1)'/>",
        "<circle r='9' id='left'/>",
        "<circle r='9' style='fill: red'/>",
        "<circle r='9' fill='#ff0000'/>",
        "<circle r='9' mask='url(#left)'/>",
        "<circle r='9'>",
        f"<path d='{'M0 0' * 1024}'/>",
    ],
)
def test_anything_else_cannot(addition: str) -> None:
    assert list(pictures.problems(PLAIN.format(addition)))
