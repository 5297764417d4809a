"""Replies as models of all sizes write them, each read as a move or refused with a helpful reason."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from games import registry
from games.errors import Refused
from games.play import Play, check, configure, plain_move, replay_moves
from llm_agents.errors import BadAnswer
from llm_agents.parsing import read_move


@dataclass(frozen=True)
class Situation:
    play: Play
    role: str
    short: bool = False

    def outcome(self, reply: str) -> dict | str:
        """Return the legal move in `reply`, or the correction for the model."""
        try:
            move = read_move(reply, self.play.forms(self.role), short=self.short)
            return plain_move(check(self.play, self.role, move)[1])
        except (BadAnswer, Refused) as refusal:
            return str(refusal)


def make_situation(game, role, *moves, short=False, **config):
    play, _events = replay_moves(configure(registry.get(game), config), 1, moves)
    return Situation(play, role, short)


OFFER = make_situation("bargaining", "alice")
SILENT = make_situation("bargaining", "alice", messages_allowed=False)
SHORT = make_situation("bargaining", "alice", short=True)
ANSWER = make_situation("bargaining", "bob", ("alice", {"alice_gain": 6000, "bob_gain": 4000}))
PRICE = make_situation("negotiation", "alice")

SPLIT = {"alice_gain": 6000.0, "bob_gain": 4000.0}
HALVES = {"alice_gain": 5000.0, "bob_gain": 5000.0}
NO_OBJECT = "There is no complete JSON object in your answer"
UNREADABLE = "The JSON object in your answer cannot be read: "
OFFERED_KEYS = 'the keys are "alice_gain", "bob_gain", "message".'

READ_REPLIES = [
    ("bare", OFFER, '{"alice_gain": 6000, "bob_gain": 4000}', SPLIT),
    ("fenced", OFFER, '```json\n{"alice_gain": 6000, "bob_gain": 4000}\n```', SPLIT),
    ("fence without language", OFFER, '```\n{"alice_gain": 6000.0, "bob_gain": 4000.00}\n```\n', SPLIT),
    ("unclosed fence", OFFER, 'Sure!\n```json\n{"alice_gain": 6e3, "bob_gain": 4e3}', SPLIT),
    ("tilde fence", OFFER, '~~~\n{"alice_gain": 6000, "bob_gain": 4000}\n~~~', SPLIT),
    ("polite", OFFER, 'Certainly! Here is my offer:\n\n{"alice_gain": 6000, "bob_gain": 4000}\n\nLet me know!', SPLIT),
    ("one line of prose", OFFER, 'I propose {"alice_gain": 6000, "bob_gain": 4000}, which is fair.', SPLIT),
    ("markdown bold", OFFER, '**Offer:** `{"alice_gain": 6000, "bob_gain": 4000}`', SPLIT),
    ("list item", OFFER, '1. Think.\n2. {"alice_gain": 6000, "bob_gain": 4000}', SPLIT),
    ("pretty printed", OFFER, '{\n    "alice_gain" : 6000 ,\n\t"bob_gain" : 4000\n}\r\n', SPLIT),
    ("byte order mark", OFFER, '\ufeff{"alice_gain": 6000, "bob_gain": 4000}', SPLIT),
    ("null message", OFFER, '{"alice_gain": 6000, "bob_gain": 4000, "message": null}', SPLIT),
    ("empty message", OFFER, '{"alice_gain": 6000, "bob_gain": 4000, "message": ""}', SPLIT),
    ("numbers as text", OFFER, '{"alice_gain": "6000", "bob_gain": "4000.00"}', SPLIT),
    ("thousands", OFFER, '{"alice_gain": "6,000", "bob_gain": "4,000"}', SPLIT),
    ("dollars", OFFER, '{"alice_gain": "$6,000.00", "bob_gain": "$4,000"}', SPLIT),
    ("French thousands", OFFER, '{"alice_gain": "6 000", "bob_gain": "4\u202f000"}', SPLIT),
    ("two objects", OFFER, '{"alice_gain": 6000, "bob_gain": 4000}\n{"alice_gain": 5000, "bob_gain": 5000}', HALVES),
    (
        "draft and revision",
        OFFER,
        'Idea: {"alice_gain": 9000, "bob_gain": 1000}. Too greedy.\nFinal: {"alice_gain": 5000, "bob_gain": 5000}',
        HALVES,
    ),
    (
        "abandoned draft",
        OFFER,
        '{"alice_gain": 9000, "bob_gain":\n\nWait, that is too much.\n\n{"alice_gain": 5000, "bob_gain": 5000}',
        HALVES,
    ),
    (
        "thinking",
        OFFER,
        '<think>\nMaybe {"alice_gain": 9000}?\n</think>\n\n{"alice_gain": 5000, "bob_gain": 5000}',
        HALVES,
    ),
    (
        "thinking without a beginning",
        ANSWER,
        'He offers 4000.\n</think>\n{"decision": "accept"}',
        {"decision": "accept"},
    ),
    ("thoughts about sets", ANSWER, 'S = {accept, reject}; I take {"decision": "reject"}', {"decision": "reject"}),
    ("LaTeX box", ANSWER, r'\boxed{{"decision": "accept"}}', {"decision": "accept"}),
    ("tool tags", ANSWER, '<tool_call>\n{"decision": "accept"}\n</tool_call>', {"decision": "accept"}),
    ("XML answer", ANSWER, '<answer>{"decision":"accept"}</answer><|im_end|>', {"decision": "accept"}),
    ("list of one object", ANSWER, '[{"decision": "accept"}]', {"decision": "accept"}),
    ("schema echoed first", ANSWER, '{"type": "object"}\n{"decision": "accept"}', {"decision": "accept"}),
    (
        "reasoning in the object",
        ANSWER,
        '{"reasoning": "40% is enough.", "decision": "accept"}',
        {"decision": "accept"},
    ),
    ("Chinese", ANSWER, '我接受这个提议。\n{"decision": "accept"}\n谢谢!', {"decision": "accept"}),
    ("Arabic", ANSWER, 'أقبل العرض: {"decision": "accept"}', {"decision": "accept"}),
    ("German", PRICE, 'Mein Preis wäre „12.000 Dollar“:\n{"price": 12000}', {"price": 12000.0}),
    ("escaped key", PRICE, '{"pr\\u0069ce": 12000}', {"price": 12000.0}),
    ("second object cut off", PRICE, '{"price": 12000}\n\n{"price": ', {"price": 12000.0}),
    (
        "message with everything",
        OFFER,
        '{"alice_gain": "6,000", "bob_gain": "4,000", "message": "My $6,000 {60%}: \\"fair\\", no?\\n— Ça va \\u263a"}',
        {**SPLIT, "message": 'My $6,000 {60%}: "fair", no?\n— Ça va ☺'},
    ),
    (
        "message that looks like a move",
        OFFER,
        '{"alice_gain": 6000, "bob_gain": 4000, "message": "{\\"alice_gain\\": 1, \\"bob_gain\\": 9999}"}',
        {**SPLIT, "message": '{"alice_gain": 1, "bob_gain": 9999}'},
    ),
    (
        "message that looks like the end of thinking",
        OFFER,
        '{"alice_gain": 6000, "bob_gain": 4000, "message": "</think> 7,000"}',
        {**SPLIT, "message": "</think> 7,000"},
    ),
    (
        "message in Japanese",
        OFFER,
        '{"alice_gain":6000,"bob_gain":4000,"message":"公平です"}',
        {**SPLIT, "message": "公平です"},
    ),
    ("short", SHORT, '{"your_gain": 6000}', SPLIT),
    ("short as text", SHORT, 'I keep 60%. {"your_gain": "$6,000", "message": "6,000"}', {**SPLIT, "message": "6,000"}),
]

REFUSED_REPLIES = [
    ("nothing", OFFER, "", f"{NO_OBJECT}."),
    ("prose alone", ANSWER, "I accept your offer.", f"{NO_OBJECT}."),
    ("refusal", OFFER, "I'm sorry, but I can't help with that.", f"{NO_OBJECT}."),
    ("a bare word", ANSWER, '"accept"', f"{NO_OBJECT}."),
    ("bare list", OFFER, "[6000, 4000]", f"{NO_OBJECT}."),
    ("lines", OFFER, "alice_gain: 6000\nbob_gain: 4000", f"{NO_OBJECT}."),
    ("cut off in a number", OFFER, '{"alice_gain": 60', f"{NO_OBJECT}: it is cut off before its closing }}."),
    (
        "cut off in a message",
        OFFER,
        '{"alice_gain": 6000, "bob_gain": 4000, "message": "I th',
        f"{NO_OBJECT}: it is cut off",
    ),
    ("cut off in a key", OFFER, '```json\n{"alice_gain": 6000, "bob_', f"{NO_OBJECT}: it is cut off"),
    (
        "cut off around another",
        OFFER,
        '{"move": {"alice_gain": 6000, "bob_gain": 4000}, "why',
        f"{NO_OBJECT}: it is cut off",
    ),
    ("not closed in its fence", OFFER, '```json\n{"alice_gain": 6000\n```', f"{NO_OBJECT}: its closing }} is missing."),
    (
        "trailing comma",
        OFFER,
        '{"alice_gain": 6000, "bob_gain": 4000,}',
        f"{UNREADABLE}there is a comma before the closing }}.",
    ),
    (
        "broken last object after a valid one",
        OFFER,
        'Not {"alice_gain": 9000, "bob_gain": 1000} but {"alice_gain": 5000, "bob_gain": 5000,}',
        f"{UNREADABLE}there is a comma before the closing }}.",
    ),
    (
        "single quotes",
        ANSWER,
        "{'decision': 'accept'}",
        f'{UNREADABLE}keys and text must be in straight double quotes (").',
    ),
    (
        "curly quotes",
        ANSWER,
        "{“decision”: “accept”}",
        f"{UNREADABLE}keys and text must be in straight double quotes",
    ),
    (
        "curly quotes inside",
        ANSWER,
        '{"decision": “accept”}',
        f"{UNREADABLE}keys and text must be in straight double",
    ),
    (
        "no quotes around the key",
        ANSWER,
        '{decision: "accept"}',
        f"{UNREADABLE}a key in double quotes is missing at “decision",
    ),
    (
        "no quotes around the word",
        ANSWER,
        '{"decision": accept}',
        f"{UNREADABLE}“accept}}” is not a number, quoted text",
    ),
    ("equals sign", PRICE, '{"price" = 12000}', f"{UNREADABLE}a colon is missing before “= 12000}}”."),
    (
        "bare thousands",
        PRICE,
        '{"price": 12,000}',
        f"{UNREADABLE}numbers have no thousands separators, so write 12000 and not",
    ),
    (
        "bare millions",
        PRICE,
        '{"price": 1,200,000.00}',
        f"{UNREADABLE}numbers have no thousands separators, so write 1200000",
    ),
    ("bare dollars", PRICE, '{"price": $12000}', f"{UNREADABLE}numbers have no currency sign, so remove $."),
    (
        "bare percent",
        PRICE,
        '{"price": 60%}',
        f"{UNREADABLE}numbers have no percent sign: give the number itself.",
    ),
    (
        "a sum",
        OFFER,
        '{"alice_gain": 6000, "bob_gain": 10000 - 6000}',
        f"{UNREADABLE}a comma or a closing brace is missing before",
    ),
    ("comment", PRICE, '{"price": 12000 // my value\n}', f"{UNREADABLE}JSON has no comments."),
    ("Python's None", PRICE, '{"price": 12000, "message": None}', f"{UNREADABLE}write null and not None."),
    ("NaN", PRICE, '{"price": NaN}', f"{UNREADABLE}NaN is not a JSON number."),
    (
        "missing comma",
        OFFER,
        '{"alice_gain": 6000 "bob_gain": 4000}',
        f"{UNREADABLE}a comma or a closing brace is missing before",
    ),
    (
        "bare line break",
        PRICE,
        '{"price": 1, "message": "Dear Bob,\nhello"}',
        f"{UNREADABLE}a line break or tab inside text must",
    ),
    (
        "bad escape",
        PRICE,
        '{"price": 1, "message": "only \\$1"}',
        f"{UNREADABLE}a backslash inside text must be written as \\\\.",
    ),
    ("a key twice", PRICE, '{"price": 1, "price": 2}', f'{UNREADABLE}the key "price" appears twice.'),
    (
        "only in thinking",
        ANSWER,
        '<think>Maybe {"decision": "accept"}.</think>\nI accept.',
        f"{NO_OBJECT}: the only one is part",
    ),
    (
        "thinking cut off",
        ANSWER,
        '<think>If {"decision": "accept"} then I would',
        f"{NO_OBJECT}: the only one is part of your thinking",
    ),
    ("word as number", PRICE, '{"price": "twelve thousand"}', 'The value of "price" must be a number, such as 6000'),
    ("unit", PRICE, '{"price": "12000 dollars"}', 'The value of "price" must be a number, such as 6000'),
    (
        "percent as text",
        OFFER,
        '{"alice_gain": "60%", "bob_gain": "40%"}',
        '"alice_gain" must be a number: give the number itself',
    ),
    ("German thousands", PRICE, '{"price": "12.000,00"}', 'The value of "price" must be a number'),
    ("calculation as text", PRICE, '{"price": "10000 * 1.2"}', 'The value of "price" must be a number'),
    ("a range", PRICE, '{"price": [10000, 12000]}', "Price (price) must be a number."),
    ("true for a number", PRICE, '{"price": true}', "Price (price) must be a number."),
    ("null for a number", PRICE, '{"price": null}', "Price (price) must be a number."),
    ("too large", PRICE, '{"price": 99999999999999999999}', 'The value of "price" is too large a number.'),
    ("negative", PRICE, '{"price": "-5"}', "Price (price) must be at least 0."),
    (
        "label for key",
        OFFER,
        '{"Alice gets": 6000, "Bob gets": 4000}',
        'There is no key “Alice gets”; the key is "alice_gain", exactly',
    ),
    (
        "capital key",
        ANSWER,
        '{"Decision": "accept"}',
        'There is no key “Decision”; the key is "decision", exactly as written',
    ),
    (
        "camel case",
        OFFER,
        '{"aliceGain": 6000, "bobGain": 4000}',
        'There is no key “aliceGain”; the key is "alice_gain"',
    ),
    ("Russian keys", OFFER, '{"Алиса": 6000, "Боб": 4000}', f"There is no key “Алиса”; {OFFERED_KEYS}"),
    (
        "tool wrapper",
        OFFER,
        '{"name": "offer", "arguments": {"alice_gain": 6000, "bob_gain": 4000}}',
        f"no key “name”; {OFFERED_KEYS}",
    ),
    ("wrapped", OFFER, '{"offer": {"alice_gain": 6000, "bob_gain": 4000}}', f"There is no key “offer”; {OFFERED_KEYS}"),
    (
        "OpenAI wrapper",
        ANSWER,
        '{"role": "assistant", "content": "{\\"decision\\": \\"accept\\"}"}',
        "There is no key “role”",
    ),
    (
        "schema echoed",
        PRICE,
        '{"type": "object", "properties": {"price": {"type": "number"}}}',
        "There is no key “type”",
    ),
    ("empty object", PRICE, "{}", "Price (price) is required."),
    ("one key missing", OFFER, '{"alice_gain": 6000}', "Bob gets (bob_gain) is required."),
    ("one key too many", ANSWER, '{"decision": "accept", "mood": "happy"}', "“mood” is unknown."),
    ("another word", ANSWER, '{"decision": "yes"}', "Your answer (decision) must be one of 'accept' or 'reject'."),
    ("a capital word", ANSWER, '{"decision": "Accept"}', "Your answer (decision) must be one of 'accept' or 'reject'."),
    (
        "wrong sum",
        OFFER,
        '{"alice_gain": 6000, "bob_gain": 5000}',
        "add up to $11,000, but they must add up to exactly $10,000.",
    ),
    (
        "message not allowed",
        SILENT,
        '{"alice_gain": 6000, "bob_gain": 4000, "message": "hi"}',
        "played without messages",
    ),
    (
        "message not text",
        OFFER,
        '{"alice_gain": 6000, "bob_gain": 4000, "message": 5}',
        "Message (message) must be text.",
    ),
    (
        "long message",
        OFFER,
        '{"alice_gain": 6000, "bob_gain": 4000, "message": "' + "x" * 2001 + '"}',
        "at most 2000 characters",
    ),
    (
        "half an emoji",
        PRICE,
        '{"price": 1, "message": "\\ud83d"}',
        'The text of "message" holds half of a \\u surrogate pair',
    ),
    (
        "full form instead of the short one",
        SHORT,
        '{"alice_gain": 6000, "bob_gain": 4000}',
        'the keys are "your_gain", "message".',
    ),
    ("more than the whole", SHORT, '{"your_gain": 12000}', "You get (your_gain) must be at most 10,000."),
    ("deep", PRICE, '{"price":' * 30_000, f"{NO_OBJECT}: it is nested too deeply."),
]


@pytest.mark.parametrize(
    ("situation", "reply", "move"), [case[1:] for case in READ_REPLIES], ids=[case[0] for case in READ_REPLIES]
)
def test_reply_is_read(situation, reply, move):
    assert situation.outcome(reply) == move


@pytest.mark.parametrize(
    ("situation", "reply", "reason"),
    [case[1:] for case in REFUSED_REPLIES],
    ids=[case[0] for case in REFUSED_REPLIES],
)
def test_reply_is_refused_with_the_reason(situation, reply, reason):
    outcome = situation.outcome(reply)
    assert isinstance(outcome, str) and reason in outcome
    assert len(outcome) < 250 and outcome.count(". ") <= 1
