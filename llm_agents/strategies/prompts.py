"""The texts around a game's rules and questions: sandboxed templates with typed variables, editable by researchers.

Players' words never pass through a template: a placeholder does, and the fenced text
replaces it afterwards. No template can remove or cut the marks, or change what is between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from games import texts
from games.errors import BadText
from llm_agents.prompting import correction
from llm_agents.settings import PROMPT, Settings


class PersonaVariables(BaseModel):
    """Variables of a persona."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    game: str = Field(description="The game's title.")
    role: str = Field(description="What this role is called.")


class SystemVariables(PersonaVariables):
    """Variables of the system text."""

    persona: str = Field(description="Who the model should be; empty without a persona.")
    rules: str = Field(description="The instructions as this role reads them.")


class QuestionVariables(SystemVariables):
    """Variables of a question."""

    round: str = Field(description="Where the game stands, such as “2 of 12”; empty where the game has no rounds.")
    news: str = Field(description="What happened since the last question; everything, if nothing is remembered.")
    known: str = Field(description="Everything that this role may know now.")
    question: str = Field(description="What may be done now, with the keys of the answer.")
    format_help: str = Field(description="How to answer.")


class CorrectionVariables(QuestionVariables):
    """Variables of a correction."""

    reason: str = Field(description="What was wrong with the answer.")


VARIABLES: Mapping[str, type[SystemVariables]] = {
    "system": SystemVariables,
    "question": QuestionVariables,
    "correction": CorrectionVariables,
}
VARIABLES_WITH_PLAYERS_WORDS = ("news", "known")

SYSTEM = """{% if persona %}
# Who you are

{{ persona }}

{% endif %}
{{ rules }}"""
QUESTION = """{% if news %}
{{ news }}

{% endif %}
{{ question }}

{{ format_help }}"""
DEFAULTS = {"system": SYSTEM, "question": QUESTION, "correction": correction("{{ reason }}")}


def template_in_force(name: str, settings: Settings, *, reasons: bool) -> str:
    """Return the template of the prompt `name`: the study's own, or the default with or without reasoning first."""
    if name == "correction" and name not in settings.prompts:
        return correction("{{ reason }}", reasoning=reasons)
    return settings.prompts.get(name, DEFAULTS[name])


_PLACEHOLDER = re.compile("\ue000([a-z]+)\ue001")
_MARKS = re.compile("[\ue000\ue001]")


def fill_in(name: str, template: str, variables: PersonaVariables) -> str:
    """Return the prompt `name` with its variables filled in, stripped of surrounding white space.

    Raises:
        BadText: the template does not parse, uses an unknown variable, or changes players' words.
    """
    values = variables.model_dump()
    quotes = {key: values[key] for key in VARIABLES_WITH_PLAYERS_WORDS if values.get(key)}
    placeholders = {key: f"\ue000{key}\ue001" for key in quotes}
    text = texts.render(_MARKS.sub("", template), {**_without_marks(values), **placeholders}).strip()
    if _MARKS.search(_PLACEHOLDER.sub(lambda match: "" if match[1] in quotes else match[0], text)):
        raise BadText(f"The {name} text must not change {' or '.join(VARIABLES_WITH_PLAYERS_WORDS)}.")
    return _PLACEHOLDER.sub(lambda match: quotes[match[1]], text)


def _without_marks(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _MARKS.sub("", value) for key, value in values.items()}


def check_prompt(name: str, template: str, *, roles: Iterable[str] = ()) -> None:
    """Refuse a study's own text that could not be filled in at some turn.

    Args:
        roles: the game's role names, so that texts for one role alone are checked too.

    Raises:
        BadText: names the text, the line, and the unknown variable.
    """
    _check(name, template, VARIABLES[name], roles, str(Settings.model_fields[PROMPT + name].title))


def check_persona(persona: str, *, roles: Iterable[str] = ()) -> None:
    """Refuse a persona that could not be filled in; arguments and errors as for `check_prompt`."""
    _check("persona", persona, PersonaVariables, roles, "Persona")


def persona_of(persona: str, *, game: str, role: str) -> str:
    """Return who the model should be in this role, stripped of surrounding white space.

    Raises:
        BadText
    """
    return fill_in("persona", persona, PersonaVariables(game=game, role=role)) if persona.strip() else ""


def _check(name: str, template: str, variables: type[PersonaVariables], roles: Iterable[str], title: str) -> None:
    by_name = {key: key for key in variables.model_fields}
    samples = [by_name, dict.fromkeys(variables.model_fields, ""), *({**by_name, "role": role} for role in roles)]
    for sample in samples:
        try:
            texts.check(template, sample, verbatim=VARIABLES_WITH_PLAYERS_WORDS)
            fill_in(name, template, variables(**sample))
        except BadText as error:
            raise BadText(f"{title}: {error}") from None
