"""A pseudo-language in German's place: whatever participants read is translated."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation
from django.utils.translation import override, trans_real

from deploy.messages import catalogues
from games import registry, texts
from games.catalogues import LANGUAGES, SOURCE, Message, files, read
from games.examples import Case, cases
from games.play import Play, turn_in
from games.words import translate_with
from gathering.models import Session
from matches.screens import render_screen
from recruiters.arrivals import Arrival
from studies.enrolling import enrol
from studies.tests import kit
from tests.pseudo import Pseudo, untranslated
from tests.visitors import Visitor, arrived_participant

_PLACEHOLDERS = re.compile(r"{[a-z_]*}|%\([a-z]+\)s|%%|\b[A-Z]{3,}\b|<[^>]+>|\n")


def _catalogues(language: str) -> dict[tuple[str, str], Message]:
    return {(str(path.parent), each.id): each for path in files(language) for each in read(path) if each.id}


@pytest.mark.parametrize("language", [code for code in LANGUAGES if code != SOURCE])
def test_no_sentence_stands_twice_in_a_file(language):
    """Translators' programs refuse such a file."""
    for path in files(language):
        assert not [sentence for sentence, count in Counter(each.id for each in read(path)).items() if count > 1]


def test_one_entry_serves_a_sentence_with_and_without_its_plural():
    with override("de"):
        one, some = "One more player is needed.", "%(missing)s more players are needed."
        assert translation.gettext(one) == translation.ngettext(one, some, 1) == "Ein Spieler fehlt noch."
        assert translation.ngettext(one, some, 2) == "%(missing)s Spieler fehlen noch."


@pytest.mark.parametrize("language", [code for code in LANGUAGES if code != SOURCE])
def test_every_sentence_is_translated_with_its_placeholders(language):
    """`python -m deploy.messages` writes new sentences into the catalogues."""
    written = _catalogues(language)
    read_in_code = {
        (str(folder), sentence): plural for folder, found in catalogues().items() for sentence, plural in found
    }
    assert written.keys() == read_in_code.keys()
    for message in written.values():
        forms = (message.id, message.plural) if message.plural else (message.id,)
        assert len(message.translations) == len(forms)
        for source, translated in zip(forms, message.translations, strict=True):
            assert translated, source
            found = Counter(_PLACEHOLDERS.findall(translated))
            assert found == Counter(_PLACEHOLDERS.findall(source)), (source, translated)
    # All catalogues of a language are read as one, so a sentence of two games can have one translation only.
    assert len({(each.id, each.plural, each.translations) for each in written.values()}) == len(
        {(each.id, each.plural) for each in written.values()}
    )


PSEUDO = "en-xa"


@pytest.fixture
def pseudo() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        for code in (PSEUDO, "de"):
            patched.setitem(trans_real._translations, code, Pseudo(code))
        translate_with(translation)
        yield
    translate_with(translation)  # which forgets the pseudo-language


def _screens(case: Case) -> Iterator[tuple[Play, str]]:
    for play in case.walk().plays()[::4]:
        worded = replace(play, turn=turn_in(play.game, play.state))
        for role in play.game.roles()[:2]:
            yield worded, render_screen(worded, role)


@pytest.mark.parametrize("key", registry.keys())
def test_pages_of_games_are_translated(pseudo, key):
    with override(PSEUDO):
        for case in cases(key)[:3]:
            for play, html in _screens(case):
                data = json.dumps([case.config, play.game.config.model_dump(mode="json"), str(play.state)])
                left = [text for text in untranslated(html) if not _is_data(text, data)]
                assert not left, left[:5]


def _is_data(text: str, data: str) -> bool:
    """Return whether all words of a text are in the configuration or the state, such as names and messages."""
    return all(word.lower() in data.lower() for word in re.findall(r"[^\W\d_]+", text))


def test_pages_of_chats_and_of_questions_are_translated(pseudo, db, monkeypatch):
    """A chat before play and one without a game, with everything that they say about limits, turns and readiness."""
    monkeypatch.setattr(texts, "lacks", lambda game, code: "")
    monkeypatch.setattr(texts, "read", lambda game, name: "⟦rules⟧")
    talker = kit.agent("openai:stand-in", cap_study=5.0)
    plan = kit.document("bargaining", language="de", agents="script:fair", quiz=False, code_word=None)
    plan["agents"]["talker"] = talker
    chat = {"when": "both", "early": True, "to": "both", "messages": 2, "mediator": {"agent": "talker", "title": "M"}}
    game = next(stage for stage in plan["journey"] if stage["stage"] == "game")
    game["chat"] = chat
    talk = {"stage": "chat", "name": "talk", "topic": "⟦topic⟧", "seats": {"p2": "talker", "*": "person"}}
    plan["journey"].insert(plan["journey"].index(game), {**talk, "chat": {"mode": "turns", "messages": 2}})
    visitor = Visitor(arrived_participant(kit.launched("talking", plan=plan)))
    visitor.see()
    visitor.send(agree="yes")
    visitor.send(name="Robin")
    address = reverse("participants:page", args=[visitor.enrolment.token])
    pages = [visitor.see(), visitor.client.get(f"{address}questions/")]

    def write(text: str) -> None:
        pages.append(visitor.client.post(f"{address}chat", {"text": text}, headers={"accept": "text/html"}))
        pages.append(visitor.see())

    write("⟦hello⟧")
    write("⟦x⟧" * 200)
    visitor.client.post(f"{address}questions/", {"text": "⟦why⟧"})
    pages.append(visitor.client.get(f"{address}questions/"))
    visitor.move("p1", answer="go_on")
    pages.append(visitor.see())
    visitor.send()
    visitor.see()
    visitor.send()
    pages.append(visitor.see())
    for number in range(3):
        write(f"⟦{number}⟧")
    visitor.client.post(f"{address}chat", {"ready": "1"})
    pages.append(visitor.see())
    left = [text for page in pages for text in untranslated(page.content.decode())]
    own = {"Parley", "· Parley", ":  · Parley"}
    assert not [text for text in left if text not in own and not re.fullmatch(r"\d\d:\d\d UTC", text)]


def test_pages_of_a_study_are_translated(pseudo, db, monkeypatch):
    """From the consent to the last page, also where answers are refused; own words: the site's name, and codes."""
    monkeypatch.setattr(texts, "lacks", lambda game, code: "")
    monkeypatch.setattr(texts, "read", lambda game, name: "⟦rules⟧")
    study = kit.launched(language="de", agents="script:fair", quiz=True, code_word={"tries": 2})
    visitor = Visitor(arrived_participant(study))
    token = visitor.enrolment.token
    pages = [visitor.refused()]
    visitor.send(agree="yes")
    pages.append(visitor.refused(name="x"))
    visitor.send(name="Robin")
    pages.append(visitor.refused(code_word="x"))
    pages += [visitor.client.get(reverse(f"participants:{page}", args=[token])) for page in ("leave", "problem")]
    visitor.send(code_word=visitor.enrolment.code_word)
    visitor.see()
    visitor.move(alice_gain="99999", bob_gain="1")
    pages.append(visitor.see())
    visitor.agree()
    pages.append(visitor.see())
    visitor.send()
    pages.append(visitor.refused())
    visitor.client.post(reverse("participants:leave", args=[token]))
    pages.append(visitor.see())
    left = [text for page in pages for text in untranslated(page.content.decode())]
    own = {"Parley", "· Parley", ":  · Parley", visitor.now().completion_code}
    assert not set(left) - own
    assert all('lang="de"' in page.content.decode() for page in pages)


QUESTIONS = [
    {"kind": kind, "name": kind, "text": "⟦?⟧", **more}
    for kind, more in {
        "single": {"options": ["⟦a⟧", "⟦b⟧"], "required": False},
        "multiple": {"options": ["⟦a⟧", "⟦b⟧"], "required": False},
        "ranking": {"options": ["⟦a⟧", "⟦b⟧"], "required": False},
        "scale": {"low": "⟦low⟧", "high": "⟦high⟧", "required": False},
        "matrix": {"rows": [{"name": "one", "text": "⟦1⟧"}], "options": ["⟦a⟧", "⟦b⟧"], "required": False},
        "slider": {"min": 0, "max": 10, "required": False},
        "date": {"required": False},
        "long": {"required": False},
        "number": {"min": 18, "unit": "⟦€⟧"},
    }.items()
]


def test_waiting_surveys_and_questions_to_the_researchers_are_translated(pseudo, db, monkeypatch):
    """Own words: the study's title and questions, seats, and the site's name."""
    monkeypatch.setattr(texts, "lacks", lambda game, code: "")
    monkeypatch.setattr(texts, "read", lambda game, name: "⟦rules⟧")
    study = kit.contest(language="de", before=QUESTIONS, asking=True)
    session = Session.objects.create(study=study, places=1, labels=["⟦PC⟧", "⟦PC 2⟧"])
    first, second = (Client(headers={"accept-language": "de"}) for _person in range(2))
    link = f"{study.get_absolute_url()}?session={session.code}&seat="
    pages = [first.get("/s/"), first.get("/s/?code=XXXXXX", follow=True), first.get(f"/s/{session.code}/")]
    pages += [first.get(f"{link}⟦PC⟧"), second.get(f"{link}⟦PC 2⟧"), first.get(f"/s/{session.code}/?taken=⟦PC⟧")]
    token = session.attendances.get(label="⟦PC 2⟧").token
    pages.append(second.post(f"/s/wait/{token}/"))
    session.delete()
    visitor = Visitor(enrol(study, Arrival("open", worker="", proof=""), language="de"))
    visitor.send(agree="yes")
    visitor.send(name="Robin")
    pages += [
        visitor.see(),
        visitor.refused(),
        visitor.refused(question_number="x"),
        visitor.refused(question_number="1"),
    ]
    visitor.send(question_number="20")
    while visitor.now().step["kind"] != "lobby":
        visitor.send()
    pages.append(visitor.see())
    asked = f"{visitor.url}questions/"
    pages += [
        visitor.client.get(asked),
        visitor.client.post(asked, {"text": ""}),
        visitor.client.post(asked, {"text": "⟦?⟧"}),
    ]
    left = [text for page in pages for text in untranslated(page.content.decode())]
    assert not {text for text in left if not re.fullmatch(r"[ ·:]*Parley|\d\d:\d\d UTC", text)}
