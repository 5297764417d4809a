"""The prompt preview equals what the model's endpoint receives, including a study's own texts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from games import registry
from games.examples import cases
from games.play import script_move
from llm_agents.standins.server import BothStandIn
from matches import agents, services
from matches.models import Match
from opponents.agents import Agent, parse_agents
from opponents.models import Call
from participants.models import Enrolment
from participants.services import expiry_after
from plans.asking import AgentSettings
from plans.reading import BadPlan
from studies.journeys import steps_of
from studies.launching import launch
from studies.models import Study
from studies.previewing import PreviewSource, Selection, Situation, default_selection, preview, preview_source
from studies.tests import kit
from studies.tests.kit import use_standin

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("as_worker")]

OWN_TEXTS = {
    "persona": "You are a retired judge called {{ role }}.",
    "prompt_system": "Play {{ game }}.\n{% if persona %}\n({{ persona }})\n{% endif %}\n{{ rules }}",
    "prompt_question": "Round {{ round }}.\r\n{{ news }}\n{{ question }}\n{{ format_help }}",
    "prompt_correction": "No: {{ reason }}",
}
STRATEGIES = ["plain", "chain_of_thought", "conversation", "fresh"]
SEED = 7


def new_study(agent: str = "openai:m", instructions: str = "default", **agent_settings) -> Study:
    agents = {agent: kit.agent(agent, **agent_settings)}
    return kit.new_study("prompts", title="Prompts", roles=["bob"], instructions=instructions, agents=agents)


def start_match(study: Study) -> Match:
    """Start a participant's match in the launched study."""
    version = launch(study)
    (step,) = [step for step in steps_of(version, version.cells.get(), "bob") if step["kind"] == "match"]
    person = Enrolment.objects.create(steps=[step], expires_at=expiry_after(60), seed=SEED)
    seated = services.Player.agents(parse_agents(step["agents"]), step["seats"], seed=SEED)
    return services.open_match(
        game=step["game"],
        config=step["config"],
        players={**seated, step["role"]: services.Player(enrolment=person, step=0)},
        seed=SEED,
        texts=step["texts"],
        timers=step["timers"],
    )


def play_as_scripts(match: Match, monkeypatch, moves: int) -> list[dict[str, Any]]:
    """Make this many moves as the game's default script would, and return the bodies of the model's calls."""
    answers: list[str] = []
    with BothStandIn(lambda request: answers[-1]) as standin:
        use_standin(monkeypatch, standin)
        for _move in range(moves):
            match.refresh_from_db()
            play = match.play()
            ((role, turn),) = match.open_turns().items()
            move = script_move(play, role, play.game.default_script)
            if turn.by_agent:
                answers.append(json.dumps(move, ensure_ascii=False))
                agents.answer_turn(match_uid=match.uid, role=role, answering=turn.answering)
            else:
                services.submit_move(match_id=match.pk, role=role, answering=turn.answering, move=move)
        return standin.requests


def as_json(body: dict[str, Any]) -> dict[str, bytes]:
    """Return every part of a call's body as JSON; their order does not matter."""
    return {name: json.dumps(value).encode() for name, value in body.items()}


@pytest.mark.parametrize("agent_settings", [{}, OWN_TEXTS], ids=["usual", "own"])
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("agent", ["openai:m", "anthropic:m"])
def test_preview_equals_the_sent_request(monkeypatch, agent, strategy, agent_settings):
    study = new_study(agent, strategy=strategy, temperature=0.5, **agent_settings)
    bodies = play_as_scripts(start_match(study), monkeypatch, moves=5)
    assert len(bodies) == 3, "the model made offers and answered one"
    for number, body in enumerate(bodies, start=1):
        previewed = preview(preview_source(study.draft), Selection(agent, 1, "alice", number, SEED)).sent
        assert as_json(previewed.body) == as_json(body)
        assert [text for _role, text in previewed.messages][-1] == body["messages"][-1]["content"]
        assert bool(previewed.difference) == bool(agent_settings)
    assert {call.record["prompt_sha256"] for call in Call.objects.all()} == {previewed.sha256}


def test_typed_answers_are_streamed(monkeypatch):
    study = new_study(appears="typed", instructions="You are {{ you }}. Split {{ money|money }}.", structured=False)
    (body,) = play_as_scripts(start_match(study), monkeypatch, moves=1)
    previewed = preview(preview_source(study.draft), default_selection(preview_source(study.draft)))
    assert as_json(previewed.sent.body) == as_json(body)
    assert body["stream"] is True and "response_format" not in body
    assert "You are Alice. Split 10,000\xa0points." in previewed.sent.messages[0][1]
    assert "You are Alice. Split 10,000\xa0points." in previewed.instructions


def test_own_texts_are_frozen_hashed_and_sent(monkeypatch):
    study = new_study(**OWN_TEXTS)
    version = launch(study)
    stored = version.document["agents"]["openai:m"]
    assert stored["prompt_system"] == OWN_TEXTS["prompt_system"]
    assert stored["prompt_question"] == OWN_TEXTS["prompt_question"].replace("\r\n", "\n")
    study.draft["agents"]["openai:m"]["prompt_correction"] = "Once more: {{ reason }}"
    study.save()
    assert launch(study).sha256 != version.sha256
    with BothStandIn(["I would rather talk.", '{"alice_gain": 5000, "bob_gain": 5000}']) as standin:
        use_standin(monkeypatch, standin)
        match = start_match(study)
        turn = match.open_turns()["alice"]
        agents.answer_turn(match_uid=match.uid, role="alice", answering=turn.answering)
    first, second = standin.requests
    assert first["messages"][0]["content"].startswith("Play Bargaining.\n(You are a retired judge called Alice.)\n")
    previewed = preview(preview_source(study.draft), default_selection(preview_source(study.draft))).sent
    assert second["messages"][-1]["content"] == previewed.correction
    assert previewed.correction.startswith("Once more: There is no")


@pytest.mark.parametrize(
    ("agent_settings", "message"),
    [
        ({"persona": "{{ rules }}"}, "Persona: Line 1: "),
        ({"prompt_system": "{{ secret }}"}, "System text: Line 1: "),
        ({"prompt_question": "{% if role == 'Bob' %}{{ game + 1 }}{% endif %}"}, "Turn text"),
        ({"prompt_correction": "{{ news|upper }}"}, "can only be printed unchanged"),
    ],
)
def test_invalid_template_is_never_launched(agent_settings, message):
    study = new_study(**agent_settings)
    with pytest.raises((BadPlan, ValidationError)) as refused:
        launch(study)
    assert message in str(refused.value)
    assert not study.versions.exists()


def test_preview_shows_the_participants_view_too():
    study = new_study()
    previewed = preview(preview_source(study.draft), Selection("openai:m", 1, "alice", 2, SEED))
    assert "has made you an offer" in previewed.screen
    assert previewed.questions >= 2
    beyond = preview(preview_source(study.draft), Selection("openai:m", 1, "alice", 999, SEED))
    assert beyond.chosen.question == beyond.questions


@pytest.mark.parametrize("key", registry.keys())
def test_every_role_of_every_game_can_be_previewed(key):
    agent = Agent(spec="openai:m", settings=AgentSettings(**OWN_TEXTS))
    for case in cases(key):
        for role in case.game.roles():
            situation = Situation(key, case.config, {"openai:m": agent}, (role,))
            subject = PreviewSource(1, lambda _number, situation=situation: situation)
            first = preview(subject, default_selection(subject))
            last = preview(subject, Selection("openai:m", 1, role, first.questions, SEED))
            assert first.sent.messages != last.sent.messages or first.questions == 1
            assert first.role_title in first.sent.messages[0][1] and first.screen


def test_scripted_player_receives_no_prompt():
    study = new_study("script:fair")
    assert preview(preview_source(study.draft), default_selection(preview_source(study.draft))).sent is None


def test_blank_texts_count_as_empty():
    assert AgentSettings(prompt_system=" \r\n", persona=" ").prompts == {}
    assert AgentSettings(prompt_system=" \r\n") == AgentSettings()


def test_each_cell_and_game_has_its_own_prompts():
    document = kit.document(
        roles=["bob"],
        agents={"m": kit.agent("openai:m")},
        factors={"wording": {"levels": ["give", "take"]}},
        instructions="You {{ wording }}. {{ you }}.",
    )
    offer = kit.document("negotiation", roles=["alice"], agents={"m": kit.agent("openai:m")})["journey"][1]
    document["journey"].append({**offer, "name": "second"})
    source = preview_source(document)
    titles = [source.situation(number).title for number in range(1, source.count + 1)]
    assert titles == ["wording give · game", "wording give · second", "wording take · game", "wording take · second"]
    taken = preview(source, Selection("m", 3, "alice", 1, SEED))
    assert "You take. Alice." in taken.sent.messages[0][1] and "You take." in taken.instructions
    assert preview(source, Selection("m", 2, "bob", 1, SEED)).situation.game == "negotiation"
