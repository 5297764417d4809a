"""Warnings about what participants read."""

from __future__ import annotations

import pytest

from games import guard
from plans import guard as plan_guard
from plans.library import ready_made
from plans.starting import plan_for


@pytest.mark.parametrize(
    ("text", "language", "words"),
    [
        ("Do they compete or collude?", "en", "collude"), ("Wer kooperiert?", "de", "kooperiert"),
        ("¿Quién coopera?", "es", "coopera"), ("You buy Offer_1.", "en", "Offer_1"),
        ("You get 22.2222.", "en", "22.2222"),
    ],
)  # fmt: skip
def test_doubtful_words_are_named(text, language, words):
    (warning,) = guard.warnings(text, language=language)
    assert words in warning


@pytest.mark.parametrize("text", ["You get 22.22 of 1,000.000 points.", "{{ talk.agreement_rate }}", "Cost: $5.50"])
def test_other_words_are_not(text):
    assert list(guard.warnings(text)) == []


def warned(**changes) -> list[str]:
    document = plan_for("bargaining")
    game = next(stage for stage in document["journey"] if stage["stage"] == "game")
    game |= {key: changes.pop(key) for key in ("instructions", "partners", "repeats") if key in changes}
    return [f"{fault.at}: {fault.what}" for fault in plan_guard.warnings({**document, **changes})]


def test_a_plan_is_warned_about_its_texts():
    assert warned() == []
    assert warned(shown_title="Will you cooperate?")[0].startswith("shown_title: “cooperate”")
    assert "“9.99” is promised" in warned(instructions="You get $9.99 on average.")[0]
    assert "partners are “same”" in warned(instructions="You always play with different people.", partners="same")[0]


def test_texts_without_a_translation_and_translations_are_warned_about():
    pages = [
        {"stage": "page", "name": "one", "title": {"en": "Hello", "es": "Hola"}, "text": "Please read this."},
        {"stage": "page", "name": "two", "title": "2", "text": {"en": "Go on.", "es": "¿Quién coopera?"}},
    ]
    document = plan_for("bargaining")
    document |= {"language": ["en", "es"], "journey": [*document["journey"], *pages]}
    last = len(document["journey"])
    found = {fault.at: fault.what for fault in plan_guard.warnings(document)}
    assert found.keys() == {f"journey.{last - 2}.text", f"journey.{last - 1}.text"}
    assert "the same in every language" in found[f"journey.{last - 2}.text"]
    assert "coopera" in found[f"journey.{last - 1}.text"]


def test_models_that_are_told_less_than_people_are_named():
    def warned_of_agent(information):
        document = plan_for("bargaining")
        document["agents"]["haggler"] = {"endpoint": "openai", "model": "gpt-4o-mini", "information": information}
        return [(fault.at, fault.what) for fault in plan_guard.warnings(document)]

    ((at, what),) = warned_of_agent("published")
    assert at == "agents.haggler.information"
    assert "“haggler” plays with people" in what
    assert warned_of_agent("explained") == []


def test_ready_made_studies_give_no_warning():
    found = {name: plan_guard.warnings(ready.document) for name, ready in ready_made("studies").items()}
    assert {name: list(map(str, faults)) for name, faults in found.items() if faults} == {}
