"""What people should not read: words that name a research question, raw names, and unrounded numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from games.words import gettext as _

RESEARCH_WORDS: Mapping[str, str] = {
    "en": r"collu(?:de|sion|sive)\w*|cooperat\w+|altruis\w+|bias(?:ed|es)?|prisoner'?s dilemma|free[- ]rid\w+|dictator "
    r"game|ultimatum game|trust game|social dilemma|public goods? game|experiment\w*|hypothes[ie]s|treatment group|"
    r"selfish\w*|reciproc\w+|compete against|deceiv\w+|decepti\w+",
    "de": r"kooper\w+|kollu\w+|altruis\w+|Gefangenendilemma|Trittbrettfahr\w+|Diktatorspiel|Ultimatumspiel|"
    r"Vertrauensspiel|Experiment\w*|Hypothese\w*|egoistisch\w*|Täuschung\w*",
    "es": r"cooper\w+|colu(?:dir|sión|sivo)\w*|altruis\w+|sesg\w+|dilema del prisionero|juego del dictador|"
    r"juego de confianza|experiment\w+|hipótesis|egoís\w+|engañ\w+",
}
"""By language: words that tell a participant what is studied."""
_RAW_NAME = re.compile(r"\b[A-Za-z]+_[A-Za-z0-9_]+\b")
_UNROUNDED = re.compile(r"(?<![\d.,])\d{1,9}\.\d{3,}(?![\d,e])")
_TEMPLATE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|`[^`]*`|\]\([^)]*\)|https?://\S+", re.DOTALL)


def warnings(text: str, *, language: str = "en") -> Iterator[str]:
    """Yield what is doubtful about a text that participants read, without template expressions, code and addresses.

    Args:
        language: of the text; an unknown one is checked for names and numbers only.
    """
    shown = _TEMPLATE.sub(" ", text)
    if words := RESEARCH_WORDS.get(language):
        for found in _unique(re.findall(rf"\b(?:{words})", shown, re.IGNORECASE)):
            yield _("“{words}” tells participants what is studied.").format(words=found)
    for found in _unique(_RAW_NAME.findall(shown)):
        yield _("“{name}” is a name of the program.").format(name=found)
    for found in _unique(_UNROUNDED.findall(shown)):
        yield _("“{number}” has more than two decimals.").format(number=found)


def _unique(found: list[str]) -> list[str]:
    return list(dict.fromkeys(found))
