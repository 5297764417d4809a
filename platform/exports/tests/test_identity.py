"""No byte of a dataset identifies a person."""

from __future__ import annotations

import itertools
import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from conftest import examples
from exports.dataset import export
from exports.formats import DEFAULT_FORMATS
from exports.models import Publication
from exports.parquet import rows_in
from exports.tests import building
from exports.tests.test_dataset import rows, transcripts
from exports.tests.test_verify import reseal
from exports.verify import verify
from plans.canonical import version_hash
from studies.tests import kit

pytestmark = pytest.mark.django_db

_numbers = itertools.count()
NAMES = st.from_regex(r"\A[A-ZÄÉŁ][a-zäéł]{2,9}( [A-ZÄÉŁ][a-zäéł]{2,9})?\Z").filter(
    lambda name: name.casefold() not in {"name", "identifier", "alice", "bob", "parley", "player", "bargaining"}
)
STRANGERS = ("someone.else@example.org", "203.0.113.77", "2001:db8::77aa", "sk-abcDEF1234567890abcd", "A9OTHERWORKER7")
"""Data about people and services that no one here knows."""
WORKERS = st.from_regex(r"\AA[A-Z0-9]{8,13}\Z")


def everything_in(exported: Path) -> Iterator[tuple[str, bytes]]:
    """Yield every file's bytes in lower case, and the contents of packed files."""
    for path in exported.rglob("*"):
        if path.is_file():
            yield path.name, path.read_bytes().lower()
        if path.suffix == ".parquet":
            for row in rows_in(path):
                yield f"{path.name}, unpacked", repr(row).lower().encode()


# No shrinking: each example takes a second, and the first failing one is informative enough.
@settings(
    max_examples=examples(12),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
@given(name=NAMES, worker=WORKERS, assignment=WORKERS)
def test_no_byte_contains_names_worker_ids_or_codes(db, name, worker, assignment):
    study = building.new_study(slug=f"study-{next(_numbers)}")
    person = building.arrive(
        study,
        worker=worker,
        proof=f"{assignment}/{worker}",
        details={"assignmentId": assignment, "hitId": "H1T2H3I4T5"},
    )
    building.consent(person, name=name)
    building.read_instructions(person)
    person.refresh_from_db()
    secrets = [worker, assignment, person.token, person.completion_code, "H1T2H3I4T5", *STRANGERS]
    call_messages = [
        f"I'm {name}! {name.upper()}, {name.lower()}'s offer",
        f"id:{worker} {worker.lower()} http://x/p/{person.token}/ {person.completion_code}",
        f"the word was {person.code_word.upper()}",
        f"ask {', '.join(STRANGERS)}",
    ]
    match = building.play(person, messages=call_messages)
    building.save_call(
        match,
        messages=[{"role": "user", "content": "\n".join(call_messages)}],
        answer=json.dumps({"message": f"Dear\n{name}", "all": "\n".join([*call_messages, *STRANGERS])}),
        problem=f"{name} is not a number",
    )
    building.answer_quiz(person)

    with tempfile.TemporaryDirectory() as folder:
        exported = Path(folder) / "d"
        export(study, exported)
        assert verify(exported) == []
        for name, content in everything_in(exported):
            for secret in secrets:
                assert secret.casefold().encode() not in content, name
        free_text = [row["text"] for row in rows(exported, "messages")]
        free_text += [str(event.get("move")) for line in transcripts(exported) for event in line["events"]]
        free_text += [" ".join(row.values()) for row in rows(exported, "llm_calls")]
        for text in free_text:
            assert not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text.replace("\\n", " "), re.IGNORECASE)
            assert not re.search(rf"\b{person.code_word}\b", text, re.IGNORECASE)


def test_the_code_word_is_kept_where_no_one_wrote_it(tmp_path):
    study = building.new_study()
    person = building.complete(study, worker="A1WORKER")
    match = building.match_of(person)
    building.save_call(match, messages=[{"role": "system", "content": f"What is on the {person.code_word}?"}])
    export(study, tmp_path / "d")
    (call,) = rows(tmp_path / "d", "llm_calls")
    assert person.code_word in call["messages"]


def test_a_name_that_is_a_game_word_does_not_break_the_replay(tmp_path):
    study = building.new_study()
    person = building.complete(study, worker="A1WORKER", messages=["please accept", "Accept " * 285])
    # Entry now refuses such names, but another game's players may have them.
    type(person).objects.filter(pk=person.pk).update(display_name="Accept")
    export(study, tmp_path / "d")
    assert verify(tmp_path / "d") == []
    moves = [event["move"] for event in transcripts(tmp_path / "d")[0]["events"] if event["kind"] == "move"]
    assert moves[-1] == {"decision": "accept"}
    assert moves[0]["message"] == "please [name]"


def test_researchers_texts_are_scrubbed_and_their_hash_can_be_checked(tmp_path):
    strangers = " or ".join(STRANGERS)
    study = building.new_study(
        title=f"Prices, by {STRANGERS[0]}",
        consent=f"Questions? Write to {strangers}.",
        debriefing=f"Ask {strangers}.",
        agents={"script:fair": kit.agent("script:fair", persona=f"You are {STRANGERS[0]}.")},
        before=[
            {"name": "how", "kind": "single", "text": f"Write to {STRANGERS[0]}?", "options": list(STRANGERS[:2])},
            {"name": "scale", "kind": "scale", "text": "So?", "low": STRANGERS[0], "high": STRANGERS[1]},
        ],
    )
    Publication.objects.create(study=study, authors=STRANGERS[0], citation=f"Mail {strangers}")
    person = building.consent(building.arrive(study, worker="A1WORKER"))
    building.answer(person, question_how=STRANGERS[0], question_scale="3")
    building.read_instructions(person)
    match = building.play(person)
    building.save_call(match, endpoint=f"of {STRANGERS[0]}", parameters={"user": STRANGERS[0]})
    building.answer_quiz(person)

    export(study, tmp_path / "d", [*DEFAULT_FORMATS, "glee", "otree"])
    assert verify(tmp_path / "d") == []
    for name, content in everything_in(tmp_path / "d"):
        for secret in STRANGERS:
            assert secret.casefold().encode() not in content, name
    assert rows(tmp_path / "d", "participants")[0]["survey_before_how"] == "[e-mail]"
    frozen = study.versions.get()
    (version,) = json.loads((tmp_path / "d" / "versions.json").read_text())
    assert version["sha256"] == frozen.sha256 == version_hash(frozen.document)
    assert version["content_sha256"] == version_hash(version["content"])
    assert {"journey.0.text", "agents.script:fair.persona"} <= set(version["replaced"])
    assert version["content"]["journey"][0]["text"].startswith("Questions? Write to [e-mail] or")


def test_a_changed_version_is_detected(tmp_path):
    for name, consent in (("with", f"Write to {STRANGERS[0]}."), ("without", "Come along.")):
        export(building.new_study(slug=name, consent=consent), tmp_path / name)
        path = tmp_path / name / "versions.json"
        assert ("replaced" in json.loads(path.read_text())[0]) == (name == "with")
        path.write_text(path.read_text().replace(consent.split()[0], "Never"))
        reseal(tmp_path / name)
        assert any("version 1 does not match" in difference for difference in verify(tmp_path / name))
