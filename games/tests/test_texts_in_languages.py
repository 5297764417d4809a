"""Instructions in other languages: the same template, in other words."""

from __future__ import annotations

import re

import pytest

from games import texts
from games.catalogues import LANGUAGES, SOURCE
from games.examples import cases
from games.tests.ours import OURS

_CODE = re.compile(r"{%.*?%}|{{.*?}}")
TRANSLATED = [code for code in LANGUAGES if code != SOURCE]


@pytest.mark.parametrize("language", TRANSLATED)
@pytest.mark.parametrize("key", OURS)
def test_instructions_use_the_same_variables(key, language):
    assert not texts.lacks(key, language)
    source = texts.read(key, "instructions.md")
    translated = texts.read(key, f"instructions.{language}.md")
    assert texts.used_variables(translated) <= texts.used_variables(source)
    assert {code for code in _CODE.findall(source) if code.startswith("{{")} >= {
        code for code in _CODE.findall(translated) if code.startswith("{{")
    }


@pytest.mark.parametrize("language", TRANSLATED)
@pytest.mark.parametrize("key", OURS)
def test_instructions_have_the_same_paragraphs_in_every_configuration(key, language):
    translated = texts.read(key, f"instructions.{language}.md")
    for case in cases(key)[:20]:
        for role in case.game.roles():
            source, other = (case.game.instructions(role, text) for text in (None, translated))
            assert _shape(other) == _shape(source), str(case)


def _shape(text: str) -> list[str]:
    """Return how each paragraph or entry of a list begins, and its bold parts' number."""
    lines = [line for line in text.split("\n") if line.strip()]
    return [re.match(r"#* *|\d+\.|-", line)[0] + str(line.count("**") // 2 > 0) for line in lines]
