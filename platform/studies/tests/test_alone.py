"""Single-player games mention no other players, from the consent text to the final questions."""

from __future__ import annotations

import re

import pytest

from games import registry
from games.play import configure
from tests.visitors import Visitor, arrived_participant, launched_study, text_of

pytestmark = pytest.mark.django_db
MENTIONS_OTHERS = re.compile(
    r"(other|another) (player|firm)|opponent|partner|rival|play with you|against", re.IGNORECASE
)
SINGLE_PLAYER_GAMES = {
    **{
        key: game.starting_config
        for key in registry.keys()
        for game in [registry.get(key)]
        if len(configure(game, game.starting_config).roles()) == 1
    },
    "duopoly": {"periods": 5, "rival": False},
}


@pytest.mark.parametrize("key", SINGLE_PLAYER_GAMES)
def test_single_player_texts_mention_no_other_players(key: str):
    game = configure(registry.get(key), SINGLE_PLAYER_GAMES[key])
    study = launched_study(
        slug="alone", title="Alone", game=key, roles=list(game.roles()), agents={}, config=SINGLE_PLAYER_GAMES[key]
    )
    person = Visitor(arrived_participant(study))
    texts = [text_of(person.see())]
    for answer in ({"agree": "yes"}, {"name": "Robin"}, {"code_word": person.enrolment.code_word}):
        person.send(**answer)
        texts.append(text_of(person.see()))
    assert person.now().step["kind"] == "match"
    texts += [
        " ".join((question.prompt, *question.options, question.explanation))
        for question in game.comprehension(game.roles()[0])
    ]
    mentions = [
        (number, MENTIONS_OTHERS.search(text)) for number, text in enumerate(texts) if MENTIONS_OTHERS.search(text)
    ]
    assert not mentions, mentions
