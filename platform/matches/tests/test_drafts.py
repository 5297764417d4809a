"""What is shown of an answer while the model writes it."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import games.play
from conftest import examples
from games import registry
from games.interface import MESSAGE_LIMIT
from matches import channels, drafts
from matches.drafts import AnswerParser, Draft
from matches.forms import text_fields

MESSAGES = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
PROSE = st.text(st.characters(exclude_characters="{", exclude_categories=["Cs"]), max_size=40)
KEYS = st.text(max_size=12).filter(lambda key: key != "message")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8) | st.just("message"), inner, max_size=3)
    ),
    max_leaves=6,
)
OTHER_FIELDS = st.dictionaries(KEYS, VALUES, max_size=4)


@st.composite
def pieces(draw: st.DrawFn, text: str) -> list[str]:
    """Generate pieces of `text`, cut anywhere."""
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=20)))
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def texts_shown(chunks: list[str]) -> list[str | None]:
    """Return what is shown after each piece."""
    parser = AnswerParser(["message"])
    texts = []
    for chunk in chunks:
        parser.feed(chunk)
        texts.append(parser.text)
    return texts


@settings(deadline=None, max_examples=examples(300))
@given(st.data(), MESSAGES, OTHER_FIELDS, OTHER_FIELDS, PROSE, PROSE, st.booleans(), st.sampled_from([None, 1]))
def test_any_message_grows_from_start_to_end(
    data, message, fields_before, fields_after, prose_before, prose_after, ensure_ascii, indent
):
    fields_after = {key: value for key, value in fields_after.items() if key not in fields_before}
    fields = {**fields_before, "message": message, **fields_after}
    answer = json.dumps(fields, ensure_ascii=ensure_ascii, indent=indent)
    texts = texts_shown(data.draw(pieces(prose_before + answer + prose_after)))
    assert texts[-1] == message
    lengths = [len(text) for text in texts if text is not None]
    assert lengths == sorted(lengths)
    assert all(message.startswith(text) for text in texts if text is not None)


@settings(deadline=None)
@given(MESSAGES, OTHER_FIELDS)
def test_nothing_is_shown_before_the_message_begins(message, fields_before):
    answer = "I think … " + json.dumps({**fields_before, "message": message})
    message_index = len(answer) - len(json.dumps(message)) - 1
    texts = texts_shown(list(answer))
    assert all(text is None for text in texts[:message_index])
    assert texts[message_index] == ""


@settings(deadline=None)
@given(
    st.text('abc ,.!"\\{}:é😀', max_size=40),
    st.integers(min_value=0),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(0, 2),
)
def test_no_digit_of_a_number_is_ever_shown(message, integer, fraction, position):
    fields = [("alice_gain", integer), ("bob_gain", fraction)]
    fields.insert(position, ("message", message))
    for text in texts_shown(list(json.dumps(dict(fields)))):
        assert not any(letter.isdigit() for letter in text or "")


@settings(deadline=None, max_examples=examples(200))
@given(st.text('{}[]":,\\u0dm essage1\n', min_size=1, max_size=60))
@example('{"a": {"message": "x"}, "message": 3}')
def test_the_result_does_not_depend_on_the_pieces(junk):
    assert texts_shown(list(junk))[-1] == texts_shown([junk])[-1]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        pytest.param('{"reasoning": "I would say {\\"message\\": \\"lie\\"}"', None, id="reasoning"),
        pytest.param('{"reasoning": {"message": "inner"}, "price": 5', None, id="inner object"),
        pytest.param('{"message": 12', None, id="a number as message"),
        pytest.param('{"message": null, "price": 3}', None, id="no message"),
        pytest.param('{"message": ["a"]}', None, id="a list as message"),
        pytest.param('{"Message": "other key"}', None, id="another key"),
        pytest.param('"message": "outside"', None, id="no object"),
        pytest.param('{set} {"message": "hi"}', "hi", id="braces in prose"),
        pytest.param('```json\n{"message": "hi"}\n```', "hi", id="code fence"),
        pytest.param('{"mess\\u0061ge": "hi"', "hi", id="escaped key"),
        pytest.param('{"message": "one"} or {"message": "two', "two", id="the last object"),
        pytest.param('{"message": "one"} or {"price": 3', None, id="the last object has none"),
        pytest.param('{"message": "one"} or {so', "one", id="the last whole object"),
        pytest.param('{"message": "one", "message": "two', "two", id="twice"),
        pytest.param('{"message": "a\\u00', "a", id="half an escape"),
        pytest.param('{"message": "a\\ud83d', "a", id="half a character"),
        pytest.param('{"message": "a\\ud83d\\ude00', "a😀", id="both halves"),
        pytest.param('{"message": "a\\ud83db', "a\ufffdb", id="half a character"),
        pytest.param('{"message": "a\\ude00', "a\ufffd", id="the other half"),
        pytest.param('{"message": "one\ntwo', None, id="a line break that JSON forbids"),
        pytest.param('{"message": "a\\x', None, id="an escape that JSON does not know"),
        pytest.param('{"message": "<b>bold</b>"', "<b>bold</b>", id="markup"),
    ],
)
def test_examples(answer, text):
    assert texts_shown(list(answer))[-1] == text
    assert texts_shown([answer])[-1] == text


def test_long_message_is_cut_and_parsed_in_linear_time():
    started_at = time.perf_counter()
    assert texts_shown(['{"message": "', *(["x" * 50] * 4000)])[-1] == "x" * MESSAGE_LIMIT
    texts_shown(['{"":' * 50_000 + "no"])
    assert time.perf_counter() - started_at < 5


@pytest.mark.parametrize(
    ("game", "config", "field_names"),
    [
        ("bargaining", {}, ("message",)),
        ("bargaining", {"messages_allowed": False}, ()),
        ("negotiation", {}, ("message",)),
        ("persuasion", {"message_type": "text"}, ("message",)),
        ("persuasion", {"message_type": "binary"}, ()),
    ],
)
def test_the_fields_of_free_text(game, config, field_names):
    play, _events = games.play.start(games.play.configure(registry.get(game), config), 1)
    assert text_fields(play.forms(play.waiting_for()[0])) == field_names


class SentMessages(list[dict[str, Any]]):
    """Collects the messages with their times."""

    def until_quiet(self) -> list[str | None]:
        """Return the texts once no more follow."""
        count = -1
        while count != len(self):
            count = len(self)
            time.sleep(4 * drafts.INTERVAL)
        return [message["text"] for message in self]


@pytest.fixture
def sent_messages(monkeypatch: pytest.MonkeyPatch) -> SentMessages:
    messages = SentMessages()

    class Layer:
        async def group_send(self, group: str, message: dict[str, Any]) -> None:
            messages.append({**message, "group": group, "at": time.monotonic()})

    monkeypatch.setattr(channels, "get_channel_layer", Layer)
    return messages


def test_a_draft_is_sent_to_the_matchs_group(sent_messages):
    draft = Draft(7, "bob", 4, people=["alice", "bob"])
    draft.add('{"message": "Good')
    draft.close()
    assert sent_messages.until_quiet() == ["Good"]
    (message,) = sent_messages
    del message["at"], message["number"]
    assert message == {
        "type": "match.draft", "group": "match.7", "role": "bob", "answering": 4, "people": ["alice"], "text": "Good",
    }  # fmt: skip


def test_pieces_from_many_threads_are_sent_together_and_numbered(sent_messages):
    draft = Draft(7, "bob", 4, people=["alice"])
    draft.add('{"message": "')

    def write() -> None:
        for _piece in range(50):
            draft.add("x")
            time.sleep(0.002)

    threads = [threading.Thread(target=write) for _writer in range(4)]
    started_at = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - started_at
    draft.close()
    assert sent_messages.until_quiet()[-1] == "x" * 200
    assert len(sent_messages) <= seconds / drafts.INTERVAL + 2
    assert all(later["at"] - earlier["at"] >= 0.9 * drafts.INTERVAL for earlier, later in pairwise(sent_messages))
    numbers = [message["number"] for message in sent_messages]
    assert numbers == sorted(set(numbers))


async def test_adding_to_a_draft_does_not_block_the_event_loop(sent_messages):
    started_at = time.monotonic()
    with Draft(7, "bob", 4, people=["alice"]) as draft:
        for letter in '{"message": "hello"}':
            draft.add(letter)
    assert time.monotonic() - started_at < 1
    assert (await asyncio.to_thread(sent_messages.until_quiet))[-1] == "hello"


def test_retracted_draft_disappears_once(sent_messages):
    draft = Draft(7, "bob", 4, people=["alice"])
    draft.retract()
    draft.add('{"message": "no')
    sent_messages.until_quiet()
    draft.retract()
    draft.retract()
    assert sent_messages.until_quiet() == ["no", None]
    draft.add('{"message": "yes"')
    draft.close()
    draft.add(" late")
    draft.retract()
    assert sent_messages.until_quiet() == ["no", None, "yes"]


def test_a_draft_without_an_answer_disappears(sent_messages):
    with pytest.raises(ZeroDivisionError), Draft(7, "bob", 4, people=["alice"]) as draft:
        draft.add('{"message": "no')
        sent_messages.until_quiet()
        raise ZeroDivisionError
    assert sent_messages.until_quiet() == ["no", None]


@pytest.mark.parametrize("options", [{"people": []}, {"people": ["bob"]}, {"people": ["alice"], "shows": []}])
def test_nothing_is_sent_without_recipients_or_text(sent_messages, options):
    with Draft(7, "bob", 4, **options) as draft:
        draft.add('{"message": "hello"}')
    assert sent_messages.until_quiet() == []


def test_a_failing_channel_layer_does_not_affect_the_writer(monkeypatch):
    class Broken:
        async def group_send(self, group: str, message: dict[str, Any]) -> None:
            raise ConnectionError

    monkeypatch.setattr(channels, "get_channel_layer", Broken)
    with Draft(7, "bob", 4, people=["alice"]) as draft:
        draft.add('{"message": "hello"}')
        time.sleep(3 * drafts.INTERVAL)
        draft.add("more")
