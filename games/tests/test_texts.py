"""Researchers' texts: what they may contain, and how texts that would keep a page busy are stopped."""

from __future__ import annotations

import re
from time import monotonic, sleep

import pytest

from games import registry, texts
from games.errors import BadText
from games.examples import cases
from games.play import configure
from games.words import in_language

RUNS_ON = re.compile(r"[^\n]\n(?![-*] |\d+\. |#)[^\n]")
"""A line below another one that begins neither a list's item nor a heading: Markdown joins the two."""
SAMPLE = {"rules": "word " * 2_000, "price": 20.0, "players": ["Ann", "Bo"]}


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{% for name in players %}{{ loop.index }}. {{ name|upper }} {% endfor %}", "1. ANN 2. BO"),
        ("{{ players|join(' and ') }} pay {{ (price * 1.1 ** 2)|money }}", "Ann and Bo pay $24.20"),
        ("{{ 'a' ~ price|number ~ 'b' }}{% if price in [10, 20] %}!{% endif %}", "a20b!"),
        ("{% set n = 3 %}{% for i in range(n) %}{% for j in range(2) %}{{ i + j }}{% endfor %}{% endfor %}", "011223"),
        ("{{ 'cheap' if price < 10 else 'expensive' }} {{ rules|length }}", "expensive 10000"),
    ],
)
def test_texts_can_print_branch_and_count(template: str, text: str) -> None:
    texts.check(template, SAMPLE)
    assert texts.render(template, SAMPLE) == text + "\n"


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("a\n{% for i in range(10**9) %}x{% endfor %}", "range"),
        ("{% for i in range(900) %}{% for j in range(900) %}{% endfor %}{% endfor %}", "steps in total"),
        (
            "{% for a in rules %}{% for b in rules %}{% endfor %}{% endfor %}",
            "steps in total",
        ),
        ("{% for i in 'ab' %}{% for j in 'ab' %}{% for k in 'ab' %}{% endfor %}{% endfor %}{% endfor %}", "two deep"),
        ("{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}", "may not be recursive"),
        ("{{ 'x' * 10**9 }}", "Numbers|works only with numbers"),
        ("{{ 9 ** 9 ** 9 }}", "Numbers|Exponents"),
        ("{{ 1e15 * 10 }}", "Numbers in a text"),
        ("{{ '%999999999d' % 1 }}", "works only with numbers"),
        ("{{ '{:>999999999}'.format(1) }}", "Only range"),
        ("{{ 'x'.ljust(10**9) }}", "Only range"),
        ("{{ 'x'|center(999999999) }}", "No filter named 'center'"),
        ("{{ rules|replace('w', rules) }}", "No filter named 'replace'"),
        ("{{ lipsum(100000) }}", "no variable “lipsum”|Only range"),
        ("{% macro f() %}{{ f() }}{{ f() }}{% endmacro %}{{ f() }}", "cannot use “macro”"),
        ("{% set ns = namespace(x='ab') %}{{ ns.x }}", "no variable|Only range"),
        ("{% set x = rules %}" + "{% set x = x ~ x %}" * 60 + "{{ x }}", "100,000 characters"),
        ("{% set x = rules %}" + "{% set x = x + x %}" * 60 + "{{ x }}", "100,000 characters"),
        ("{% set x = rules %}" + "{% set x = [x, x] %}" * 60 + "{{ x }}", "hold only plain values"),
        ("{{ rules }}" * 11, "100,000 characters"),
        ("{{ " + "(" * 2_000 + "1" + ")" * 2_000 + " }}", "nested too deeply"),
        ("{% if 1 %}" * 300 + "{% endif %}" * 300, "nested too deeply"),
        ("{% include 'x' %}", "cannot use “include”"),
    ],
)
def test_endless_texts_are_refused_at_once(template: str, reason: str) -> None:
    for function in (texts.check, texts.render):
        started_at = monotonic()
        with pytest.raises(BadText, match=reason):
            function(template, SAMPLE)
        assert monotonic() - started_at < 3


def test_waiting_for_a_busy_machine_is_no_effort(monkeypatch: pytest.MonkeyPatch) -> None:
    class Waits(str):
        def __str__(self) -> str:
            sleep(0.1)
            return "text"

    monkeypatch.setattr("games.bounded.MAX_SECONDS", 0.05)
    assert texts.render("{{ rules }} {{ rules }}", {"rules": Waits()}) == "text text\n"


@pytest.mark.parametrize(
    ("game", "config", "role", "called"),
    [
        ("beauty_contest", {"players": 4}, "p2", "a player"), ("item_auction", {}, "p2", "a bidder"),
        ("duopoly", {}, "firm_2", "a firm"), ("bargaining", {}, "bob", "Bob"),
    ],
)  # fmt: skip
def test_instructions_name_no_seat_that_may_still_change(game, config, role, called):
    configured = configure(registry.get(game), config)
    text, role_title = configured.instructions(role, seated=False), configured.role_title(role)
    assert f"**{called}**" in text
    assert (role_title in text) == (called == role_title)
    assert f"**{role_title}**" in configured.instructions(role)


@pytest.mark.parametrize("shown", ["number", "exact", "money", "percent"])
def test_unknown_variable_is_named_whatever_formats_it(shown: str) -> None:
    with pytest.raises(BadText, match="Line 1: there is no variable “prise”; there are rules, price, players"):
        texts.render(f"{{{{ prise|{shown} }}}}", SAMPLE)


@pytest.mark.parametrize("key", registry.keys())
def test_no_paragraph_of_the_rules_runs_into_the_next(key: str) -> None:
    for case in cases(key):
        for role in case.game.roles():
            assert not RUNS_ON.search(case.game.instructions(role)), (case, role)


def test_a_text_is_kept_for_its_variables_and_the_language():
    assert [texts.render("{{ n }}", {"n": n}) for n in (1, True, 1.0, "1")] == ["1\n", "True\n", "1.0\n", "1\n"]
    shown = []
    for code in ("en", "de", "en"):
        with in_language(code):
            shown.append(texts.render("{{ n|number }}", {"n": 1.5}))
    assert shown == ["1.5\n", "1,5\n", "1.5\n"]
