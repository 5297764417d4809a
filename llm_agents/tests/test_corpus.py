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
NO_OBJECT = "no complete JSON object"
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
        "thinking", OFFER, '<think>\nMaybe {"alice_gain": 9000}?\n</think>\n\n{"alice_gain": 5000, "bob_gain": 5000}',
        HALVES,
    ),
    (
        "thinking without a beginning", ANSWER, 'He offers 4000.\n</think>\n{"decision": "accept"}',
        {"decision": "accept"},
    ),
    ("thoughts about sets", ANSWER, 'S = {accept, reject}; I take {"decision": "reject"}', {"decision": "reject"}),
    ("LaTeX box", ANSWER, r'\boxed{{"decision": "accept"}}', {"decision": "accept"}),
    ("tool tags", ANSWER, '<tool_call>\n{"decision": "accept"}\n</tool_call>', {"decision": "accept"}),
    ("XML answer", ANSWER, '<answer>{"decision":"accept"}</answer><|im_end|>', {"decision": "accept"}),
    ("list of one object", ANSWER, '[{"decision": "accept"}]', {"decision": "accept"}),
    ("schema echoed first", ANSWER, '{"type": "object"}\n{"decision": "accept"}', {"decision": "accept"}),
    (
        "reasoning in the object", ANSWER, '{"reasoning": "40% is enough.", "decision": "accept"}',
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
        "message that looks like the end of thinking", OFFER,
        '{"alice_gain": 6000, "bob_gain": 4000, "message": "</think> 7,000"}', {**SPLIT, "message": "</think> 7,000"},
    ),
    (
        "message in Japanese", OFFER, '{"alice_gain":6000,"bob_gain":4000,"message":"公平です"}',
        {**SPLIT, "message": "公平です"},
    ),
    ("short", SHORT, '{"your_gain": 6000}', SPLIT),
    ("short as text", SHORT, 'I keep 60%. {"your_gain": "$6,000", "message": "6,000"}', {**SPLIT, "message": "6,000"}),
]  # fmt: skip

REFUSED_REPLIES = [
    ("nothing", OFFER, "", NO_OBJECT),
    ("prose alone", ANSWER, "I accept your offer.", NO_OBJECT),
    ("refusal", OFFER, "I'm sorry, but I can't help with that.", NO_OBJECT),
    ("a bare word", ANSWER, '"accept"', NO_OBJECT),
    ("bare list", OFFER, "[6000, 4000]", NO_OBJECT),
    ("lines", OFFER, "alice_gain: 6000\nbob_gain: 4000", NO_OBJECT),
    ("cut off in a number", OFFER, '{"alice_gain": 60', "cut off before its closing }"),
    ("cut off in a message", OFFER, '{"alice_gain": 6000, "bob_gain": 4000, "message": "I th', "it is cut off"),
    ("cut off in a key", OFFER, '```json\n{"alice_gain": 6000, "bob_', "it is cut off"),
    ("cut off around another", OFFER, '{"move": {"alice_gain": 6000, "bob_gain": 4000}, "why', "it is cut off"),
    ("not closed in its fence", OFFER, '```json\n{"alice_gain": 6000\n```', "closing } is missing"),
    ("trailing comma", OFFER, '{"alice_gain": 6000, "bob_gain": 4000,}', "comma before the closing }"),
    (
        "broken last object after a valid one",
        OFFER,
        'Not {"alice_gain": 9000, "bob_gain": 1000} but {"alice_gain": 5000, "bob_gain": 5000,}',
        "comma before the closing }",
    ),
    ("single quotes", ANSWER, "{'decision': 'accept'}", 'straight double quotes (")'),
    ("curly quotes", ANSWER, "{“decision”: “accept”}", "straight double quotes"),
    ("curly quotes inside", ANSWER, '{"decision": “accept”}', "straight double quotes"),
    ("no quotes around the key", ANSWER, '{decision: "accept"}', "missing at “decision"),
    ("no quotes around the word", ANSWER, '{"decision": accept}', "“accept}” is not a number"),
    ("equals sign", PRICE, '{"price" = 12000}', "colon is missing before “= 12000}”"),
    ("bare thousands", PRICE, '{"price": 12,000}', "write 12000 and not"),
    ("bare millions", PRICE, '{"price": 1,200,000.00}', "write 1200000"),
    ("bare dollars", PRICE, '{"price": $12000}', "remove $"),
    ("bare percent", PRICE, '{"price": 60%}', "no percent sign"),
    ("a sum", OFFER, '{"alice_gain": 6000, "bob_gain": 10000 - 6000}', "comma or a closing brace"),
    ("comment", PRICE, '{"price": 12000 // my value\n}', "no comments"),
    ("Python's None", PRICE, '{"price": 12000, "message": None}', "null and not None"),
    ("NaN", PRICE, '{"price": NaN}', "NaN is not a JSON"),
    ("missing comma", OFFER, '{"alice_gain": 6000 "bob_gain": 4000}', "comma or a closing brace"),
    ("bare line break", PRICE, '{"price": 1, "message": "Dear Bob,\nhello"}', "line break or tab inside"),
    ("bad escape", PRICE, '{"price": 1, "message": "only \\$1"}', "backslash inside text"),
    ("a key twice", PRICE, '{"price": 1, "price": 2}', 'key "price" appears twice'),
    ("only in thinking", ANSWER, '<think>Maybe {"decision": "accept"}.</think>\nI accept.', "the only one is part"),
    ("thinking cut off", ANSWER, '<think>If {"decision": "accept"} then I would', "part of your thinking"),
    ("word as number", PRICE, '{"price": "twelve thousand"}', '"price" must be a number, such'),
    ("unit", PRICE, '{"price": "12000 dollars"}', '"price" must be a number, such'),
    ("percent as text", OFFER, '{"alice_gain": "60%", "bob_gain": "40%"}', "give the number itself"),
    ("German thousands", PRICE, '{"price": "12.000,00"}', '"price" must be a number'),
    ("calculation as text", PRICE, '{"price": "10000 * 1.2"}', '"price" must be a number'),
    ("a range", PRICE, '{"price": [10000, 12000]}', "(price) must be a number"),
    ("true for a number", PRICE, '{"price": true}', "(price) must be a number"),
    ("null for a number", PRICE, '{"price": null}', "(price) must be a number"),
    ("too large", PRICE, '{"price": 99999999999999999999}', '"price" is too large'),
    ("negative", PRICE, '{"price": "-5"}', "(price) must be at least 0"),
    ("label for key", OFFER, '{"Alice gets": 6000, "Bob gets": 4000}', '“Alice gets”; the key is "alice_gain"'),
    ("capital key", ANSWER, '{"Decision": "accept"}', '“Decision”; the key is "decision"'),
    ("camel case", OFFER, '{"aliceGain": 6000, "bobGain": 4000}', '“aliceGain”; the key is "alice_gain"'),
    ("Russian keys", OFFER, '{"Алиса": 6000, "Боб": 4000}', f"There is no key “Алиса”; {OFFERED_KEYS}"),
    (
        "tool wrapper",
        OFFER,
        '{"name": "offer", "arguments": {"alice_gain": 6000, "bob_gain": 4000}}',
        f"no key “name”; {OFFERED_KEYS}",
    ),
    ("wrapped", OFFER, '{"offer": {"alice_gain": 6000, "bob_gain": 4000}}', f"There is no key “offer”; {OFFERED_KEYS}"),
    ("OpenAI wrapper", ANSWER, '{"role": "assistant", "content": "{\\"decision\\": \\"accept\\"}"}', "no key “role”"),
    ("schema echoed", PRICE, '{"type": "object", "properties": {"price": {"type": "number"}}}', "no key “type”"),
    ("empty object", PRICE, "{}", "(price) is required"),
    ("one key missing", OFFER, '{"alice_gain": 6000}', "(bob_gain) is required"),
    ("one key too many", ANSWER, '{"decision": "accept", "mood": "happy"}', "“mood” is unknown"),
    ("another word", ANSWER, '{"decision": "yes"}', "'accept' or 'reject'"),
    ("a capital word", ANSWER, '{"decision": "Accept"}', "'accept' or 'reject'"),
    ("wrong sum", OFFER, '{"alice_gain": 6000, "bob_gain": 5000}', "$11,000"),
    ("message not allowed", SILENT, '{"alice_gain": 6000, "bob_gain": 4000, "message": "hi"}', "without messages"),
    ("message not text", OFFER, '{"alice_gain": 6000, "bob_gain": 4000, "message": 5}', "(message) must be text"),
    (
        "long message", OFFER, '{"alice_gain": 6000, "bob_gain": 4000, "message": "' + "x" * 2001 + '"}',
        "at most 2000 characters",
    ),
    ("half an emoji", PRICE, '{"price": 1, "message": "\\ud83d"}', '"message" holds half'),
    ("full form instead of the short one", SHORT, '{"alice_gain": 6000, "bob_gain": 4000}', '"your_gain", "message".'),
    ("more than the whole", SHORT, '{"your_gain": 12000}', "at most 10,000"),
    ("deep", PRICE, '{"price":' * 30_000, "nested too deeply"),
]  # fmt: skip


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
