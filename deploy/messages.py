"""Write the catalogues of translations again from what participants and models read: `python -m deploy.messages`.

New sentences get an empty translation (or the one that another catalogue has), those no longer in use go. Each game
has its own catalogue in `games/<game>/texts/`, everything else is in `locale/`.
"""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import django

from games.catalogues import LANGUAGES, SOURCE, Message, read

ROOT = Path(__file__).parent.parent
READ_BY_PARTICIPANTS = (
    "platform/checks/*.py",
    "platform/lobby/step.py",
    "platform/matches/*.py",
    "platform/matches/templatetags/*.py",
    "platform/pages/steps.py",
    "platform/participants/*.py",
    "platform/plans/questions.py",
    "platform/recruiters/arrivals.py",
    "platform/recruiters/errors.py",
    "platform/recruiters/leaving.py",
    "platform/recruiters/otree.py",
    "platform/studies/disclosure.py",
    "platform/studies/endings.py",
    "platform/studies/enrolling.py",
    "platform/studies/participations.py",
    "platform/studies/texts.py",
    "platform/studies/times.py",
    "platform/surveys/steps.py",
    "platform/surveys/posted.py",
    "platform/payouts/telling.py",
    "platform/panels/arriving.py",
    "platform/panels/leaving.py",
    "platform/marketplaces/*/visiting.py",
    "platform/gathering/door.py",
    "platform/gathering/views.py",
    "platform/helping/services.py",
    "llm_agents/*.py",
    "llm_agents/parsing/*.py",
    "llm_agents/strategies/*.py",
    "games/*.py",
    "games/*/*.py",
    "templates/base.html",
    "templates/notice.html",
    "templates/40*.html",
    "templates/50*.html",
    "templates/participants/*.html",
    "templates/play/*.html",
    "templates/studies/*.html",
    "templates/helping/*.html",
    "templates/gathering/entrance.html",
    "templates/gathering/left.html",
    "templates/gathering/seat.html",
    "templates/gathering/waiting.html",
    "games/*/templates/*/*.html",
)
FOR_RESEARCHERS = (
    *("admin.py", "models.py", "apps.py", "analyses.py", "told.py", "published.py", "watch.html"),
    *("bounded.py", "contract.py", "grids.py", "guard.py", "lineups.py", "registry.py", "selections.py"),
    *("agent.py", "conditions.py", "endpoints.py", "settings.py"),
)
"""Names of files among them whose sentences only researchers read."""
_IN_ARGUMENT = re.compile(r"""_\(["']([^"']+)["']\)""")
"""A sentence in the argument of a template's tag: `{% include "…" with title=_("…") %}`."""
_FUNCTIONS = {"gettext", "gettext_lazy", "gettext_noop", "ngettext", "ngettext_lazy"}
_PLURALS = {"de": "nplurals=2; plural=(n != 1);", "es": "nplurals=2; plural=(n != 1);"}

Found = dict[tuple[str, str], None]
"""(sentence, plural or "") in their order."""


@cache
def catalogues() -> dict[Path, Found]:
    """Return the sentences of each catalogue, by the folder that holds its files."""
    found: dict[Path, Found] = {ROOT / "locale": {}}
    for pattern in READ_BY_PARTICIPANTS:
        for path in sorted(ROOT.glob(pattern)):
            if path.name not in FOR_RESEARCHERS and "tests" not in path.parts and path != ROOT / "games" / "texts.py":
                sentences = _in_python(path) if path.suffix == ".py" else _in_template(path)
                found.setdefault(_folder_of(path.relative_to(ROOT)), {}).update(dict.fromkeys(sentences))
    for own in found.values():  # one entry serves a sentence with and without its plural
        for sentence, _plural in [each for each in own if each[1]]:
            own.pop((sentence, ""), None)
    shared = found[ROOT / "locale"]
    return {
        folder: own if own is shared else {sentence: None for sentence in own if sentence not in shared}
        for folder, own in found.items()
    }


def _folder_of(path: Path) -> Path:
    is_game = path.parts[0] == "games" and len(path.parts) > 2
    return ROOT / "games" / path.parts[1] / "texts" if is_game else ROOT / "locale"


def _in_python(path: Path) -> Iterator[tuple[str, str]]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in ("games.words", "django.utils.translation")
        for alias in node.names
        if alias.name in _FUNCTIONS
    }
    if path == ROOT / "games" / "words.py":
        names |= _FUNCTIONS
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            values = [each.value for each in node.args[:2] if isinstance(each, ast.Constant)]
            texts = [value for value in values if isinstance(value, str)]
            if texts:
                yield texts[0], texts[1] if len(texts) > 1 else ""


def _in_template(path: Path) -> Iterator[tuple[str, str]]:
    from django.template import Template
    from django.templatetags.i18n import BlockTranslateNode, TranslateNode

    source = path.read_text(encoding="utf-8")
    for sentence in _IN_ARGUMENT.findall(source):
        yield sentence, ""
    nodes: Any = Template(source).nodelist
    for node in nodes.get_nodes_by_type(TranslateNode):
        translate: Any = node
        literal = translate.filter_expression.var.literal
        if isinstance(literal, str):
            yield literal.replace("%", "%%"), ""
    for node in nodes.get_nodes_by_type(BlockTranslateNode):
        block: Any = node
        singular, _names = block.render_token_list(block.singular)
        yield singular, block.render_token_list(block.plural)[0] if block.plural else ""


def written(language: str, messages: Iterable[Message]) -> str:
    """Return a PO file."""
    header = f"Language: {language}\nContent-Type: text/plain; charset=UTF-8\nPlural-Forms: {_PLURALS[language]}\n"
    entries = [_entry(Message("", "", (header,)))]
    return "\n".join([*entries, *map(_entry, messages)])


def _entry(message: Message) -> str:
    lines = [f"msgid {_quoted(message.id)}"]
    if message.plural:
        lines.append(f"msgid_plural {_quoted(message.plural)}")
        lines += [f"msgstr[{form}] {_quoted(text)}" for form, text in enumerate(message.translations)]
    else:
        lines.append(f"msgstr {_quoted(message.translations[0])}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def main() -> None:
    """Write all catalogues and say what lacks a translation."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    found = catalogues()
    for language in LANGUAGES:
        if language == SOURCE:
            continue
        files = {folder / f"{language}.po": sentences for folder, sentences in found.items()}
        known: dict[tuple[str, str], tuple[str, ...]] = {}
        for path in files:
            if path.exists():
                known |= {(each.id, each.plural): each.translations for each in read(path) if all(each.translations)}
        for path, sentences in files.items():
            messages: list[Any] = [
                Message(id, plural, known.get((id, plural), ("", "") if plural else ("",))) for id, plural in sentences
            ]
            path.parent.mkdir(exist_ok=True)
            path.write_text(written(language, messages), encoding="utf-8")
            lacking = sum(not all(each.translations) for each in messages)
            print(f"{path.relative_to(ROOT)}: {len(messages)} sentences, {lacking} without translation")


if __name__ == "__main__":
    main()
