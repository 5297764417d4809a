"""The languages of a plan, and its own texts in several: `{en: …, de: …}` wherever its journey has a text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, TypeGuard, get_args

from games.catalogues import SOURCE
from games.interface import Json
from games.words import gettext as _
from plans.varying import Path

Language = Literal["en", "de", "es"]
CODES = get_args(Language)
NAMES = {"en": "English", "de": "Deutsch", "es": "Español"}
"""How each language calls itself."""
_IN_ENGLISH = {"en": _("English"), "de": _("German"), "es": _("Spanish")}


def languages_of(document: Mapping[str, Json]) -> tuple[str, ...]:
    """Return the languages of a plan: the study's, then those that participants may choose instead."""
    written = document.get("language", SOURCE)
    listed = written if isinstance(written, list) else [written]
    return tuple(dict.fromkeys(code for code in listed if code in CODES)) or (SOURCE,)


def is_text(node: Json) -> TypeGuard[Mapping[str, str]]:
    """Return whether a node is one text in several languages."""
    return (
        isinstance(node, Mapping)
        and bool(node)
        and set(node) <= set(CODES)
        and all(isinstance(text, str) for text in node.values())
    )


def in_language(document: Mapping[str, Json], language: str) -> Mapping[str, Json]:
    """Return the plan in this one language; a text that lacks it is in the first that it has."""
    journey, written = document.get("journey"), document.get("language")
    only = {"language": language} if isinstance(written, list) and set(written) <= set(CODES) else {}
    if any(_texts(journey, ())):
        return {**document, **only, "journey": _chosen(journey, language)}
    return {**document, **only} if only else document


def lacking(document: Mapping[str, Json]) -> Iterator[tuple[Path, str]]:
    """Yield the place of each text that lacks a language of the plan, and what is wrong with it."""
    for path, text in _texts(document.get("journey"), ("journey",)):
        for code in languages_of(document):
            if not text.get(code):
                yield path, _("This has no text in {language}.").format(language=_IN_ENGLISH[code])


def in_english(code: str) -> str:
    """Return a language's name for researchers."""
    return _IN_ENGLISH[code]


def _chosen(node: Json, language: str) -> Json:
    if is_text(node):
        return node.get(language) or next(iter(node.values()))
    if isinstance(node, Mapping):
        return {
            key: _branches(child, language) if key == "values" else _chosen(child, language)
            for key, child in node.items()
        }
    return [_chosen(child, language) for child in node] if isinstance(node, list) else node


def _branches(node: Json, language: str) -> Json:
    """Return what depends on a factor, whose levels may have the names of languages."""
    if isinstance(node, Mapping):
        return {key: _chosen(child, language) for key, child in node.items()}
    return _chosen(node, language)


def _texts(node: Json, path: Path) -> Iterator[tuple[Path, Mapping[str, str]]]:
    if is_text(node) and path[-1:] != ("values",):
        yield path, node
    elif isinstance(node, Mapping):
        for key, child in node.items():
            yield from _texts(child, (*path, key))
    elif isinstance(node, list):
        for index, child in enumerate(node):
            yield from _texts(child, (*path, index))
