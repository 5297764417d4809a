"""A study in another language: what its plan needs, what participants and models read, and what the data hold."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest
from django.test import Client
from django.utils.translation import gettext, override, trans_real

from games import registry, texts
from games.catalogues import LANGUAGES
from games.examples import cases, play_random
from matches import agents, services
from matches.models import Match
from matches.screens import frame
from participants.models import Enrolment
from plans.asking import AgentSettings
from plans.checking import check
from recruiters.errors import EntryRefused
from studies.tests import kit
from studies.times import told
from tests.visitors import Visitor, arrived_participant, text_of

OWN_TEXTS = {
    "stage": "page",
    "name": "hello",
    "title": {"en": "Hello", "de": "Hallo"},
    "text": {"en": "Hi", "de": "Du"},
}


def with_page(language, **parts):
    document = kit.document(language=language, **parts)
    consent, *rest = document["journey"]
    return {**document, "journey": [consent, OWN_TEXTS, *rest]}


def faults(document) -> dict[str, str]:
    return {fault.at: fault.what for fault in check(document).faults}


def test_a_plan_with_all_texts_is_accepted():
    assert not faults(with_page("de"))
    assert not faults(with_page(["en", "de"]))


def test_own_texts_that_lack_a_language_are_named():
    found = faults(with_page(["de", "es"]))
    assert found.keys() == {"journey.1.title", "journey.1.text"}
    assert all("no text in Spanish" in fault for fault in found.values())


def test_games_without_texts_in_a_language_are_named(monkeypatch):
    monkeypatch.setattr(texts, "exists", lambda game, name: name != "es.po")
    found = faults(kit.document(language=["en", "es"]))
    assert found.keys() == {"journey.1.game"} and "“es.po” is missing" in found["journey.1.game"]


def test_published_prompts_are_english_only():
    agents = {"ai": {"endpoint": "openai", "model": "m", "information": "published"}}
    assert "agents.ai.information" in faults(kit.document(language="de", agents=agents))
    assert "agents.ai.information" not in faults(kit.document(agents=agents))


def test_unknown_languages_are_refused():
    assert "language" in faults(kit.document(language="xx"))


def test_sentences_are_looked_up_once_in_every_language():
    for language in LANGUAGES:
        with override(language):
            before = trans_real.catalog().gettext.cache_info()
            assert gettext("Send") == gettext("Send")
            assert trans_real.catalog().gettext.cache_info().hits > before.hits


@pytest.mark.django_db
def test_every_page_and_frame_is_in_the_study_s_language():
    """Also a frame that is made in the process of another player, whose own language does not matter."""
    study = kit.launched("splitting", language="de", agents="script:fair")
    visitor = Visitor(arrived_participant(study))
    assert "Ich habe dies gelesen" in text_of(visitor.see())
    page = text_of(visitor.walk_to("match").see())
    assert "Schlagen Sie eine Aufteilung vor" in page
    assert "10.000\xa0Punkte" in page.replace(" Punkte", "\xa0Punkte")
    assert "Schlagen Sie eine Aufteilung vor" in frame(visitor.match(), "alice")["html"]
    visitor.move(alice_gain="5.000,50", bob_gain="4.999,50")
    assert visitor.match().log()[1].data["move"]["alice_gain"] == 5000.5


@pytest.mark.django_db
def test_participants_choose_among_the_languages_that_a_study_offers():
    study = kit.new_study("splitting", plan=with_page(["en", "de"], agents="script:fair", via="open"))
    kit.launch_again(study)
    client = Client(headers={"accept-language": "fr,de;q=0.8"})
    welcome = client.get("/join/splitting")
    assert "Die nächste Seite erklärt" in text_of(welcome)
    assert "English Deutsch" in text_of(welcome)
    client.post("/join/splitting", {"language": "de", "form": welcome.context["form"]})
    enrolment = Enrolment.objects.get()
    assert enrolment.language == "de"
    assert [step["title"] for step in enrolment.steps if step["kind"] == "page"] == ["Hallo"]
    client.post("/join/splitting", {"language": "es", "form": welcome.context["form"] + "x"})
    assert not Enrolment.objects.filter(language="es").exists()


def test_every_refusal_is_titled_in_the_visitor_s_language():
    kinds = [EntryRefused]
    for kind in kinds:
        kinds += kind.__subclasses__()
    with override("es"):
        titles = {kind.__name__: str(kind.title) for kind in kinds}
    assert titles["NotOpen"] == "Este estudio no está abierto"
    assert not [name for kind in kinds if titles[name := kind.__name__] == str(kind.title)]


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "Thursday 24 December 2026, 09:00 (UTC)"), ("de", "Donnerstag, 24. Dezember 2026, 09:00 (UTC)"),
        ("es", "jueves 24 de diciembre de 2026, 09:00 (UTC)"),
    ],
)  # fmt: skip
def test_a_time_is_written_as_the_language_does(language, words):
    with override(language):
        assert told(datetime(2026, 12, 24, 9, tzinfo=UTC), "UTC") == words


@pytest.mark.django_db
def test_only_those_who_read_the_same_language_form_groups():
    study = kit.contest(language=["en", "de"])
    pools = []
    for language in ("en", "de", "en"):
        arrival = kit.Arrival(recruiter="open", proof="", worker="")
        steps = kit.enrol(study, arrival, language=language).steps
        pools.append(next(step["pool"] for step in steps if step["kind"] == "lobby"))
    assert pools[0] == pools[2] != pools[1]


@pytest.mark.django_db(transaction=True)
def test_models_are_asked_in_the_match_s_language(monkeypatch, as_worker):
    with kit.answering(monkeypatch, ['{"decision": "accept"}']) as standin:
        players = {
            "alice": services.Player(agent="script:fair", delay=1000),
            "bob": services.Player(agent="openai:stand-in", settings=AgentSettings(limit_seconds=30)),
        }
        match = services.open_match(
            game="bargaining", config={}, players=players, seed=1, texts={"language": "de", "amounts": "points"}
        )
        services.submit_move(match_id=match.pk, role="alice", move={"alice_gain": 6000, "bob_gain": 4000}, answering=1)
        host = agents.Host(agents._writers, agents.current_prices)
        match = Match.objects.get(pk=match.pk)
        question = agents.question_for(match, match.play(), "bob", match.agents()["bob"], host)
        decision = asyncio.run(question.decide())
    prompt = " ".join(message["content"] for message in standin.requests[0]["messages"])
    assert "Antworten Sie mit genau einem" in prompt
    assert "Angebot von Alice in Runde 1" in prompt
    assert decision.move == {"decision": "accept"}


@pytest.mark.parametrize("key", registry.keys())
def test_results_are_the_same_in_every_language(key):
    """Only what scripts write to others is in the language of the match."""
    for case in cases(key)[:2]:
        results = []
        for language in ("en", "de", "es"):
            with override(language):
                end = play_random(case.game, case.seed, sorted(case.game.scripts)).end
            results.append((end.last, case.game.payoffs(end.state), case.game.metrics(end.state)))
        assert results[0] == results[1] == results[2]
