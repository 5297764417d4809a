"""The texts around a game's rules and questions: sandboxed templates with typed variables, editable by researchers.

Players' words never pass through a template: a placeholder does, and the fenced text
replaces it afterwards. No template can remove or cut the marks, or change what is between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from games import texts
from games.errors import BadText
from llm_agents.prompting import correction


class Prompts(BaseModel):
    """A study's own texts; None: the strategy's. The explanation of players' marks always follows the system text."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    system: str | None = Field(default=None, max_length=50_000, title="System text")
    question: str | None = Field(default=None, max_length=50_000, title="Turn text")
    correction: str | None = Field(
        default=None, max_length=50_000, title="Correction after an answer that was not a legal move"
    )


Texts = Prompts | Mapping[str, Any]
"""A study's own texts, or the plain data in which they are stored."""


def prompts_of(texts: Texts | None) -> Prompts:
    """Return the study's own texts, with the defaults where it has none.

    Raises:
        BadText: there is no prompt of that name, or it is not text.
    """
    try:
        return texts if isinstance(texts, Prompts) else Prompts.model_validate(texts or {})
    except ValidationError as error:
        first_error = error.errors()[0]
        names = ", ".join(Prompts.model_fields)
        raise BadText(f"Prompt “{first_error['loc'][0]}”: {first_error['msg']}; the prompts are {names}.") from None


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
CORRECTION = correction("{{ reason }}")
CORRECTION_OF_REASONING = """Your answer was not accepted. {{ reason }}

You may reason again first. End with exactly one JSON object."""

PLAIN = Prompts(system=SYSTEM, question=QUESTION, correction=CORRECTION)
REASONED = Prompts(system=SYSTEM, question=QUESTION, correction=CORRECTION_OF_REASONING)


def template_in_force(name: str, prompts: Prompts, *, reasons: bool) -> str:
    """Return the template of the prompt `name`: the study's own, or the default with or without reasoning first."""
    own_template: str | None = getattr(prompts, name)
    default: str = getattr(REASONED if reasons else PLAIN, name)
    return default if own_template is None else own_template


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


def check_prompts(prompts: Texts, *, roles: Iterable[str] = ()) -> None:
    """Refuse texts that could not be filled in at some turn.

    Args:
        roles: the game's role names, so that texts for one role alone are checked too.

    Raises:
        BadText: names the text, the line, and the unknown variable.
    """
    own_prompts = prompts_of(prompts)
    for name, variables in VARIABLES.items():
        template = getattr(own_prompts, name)
        if template is not None:
            _check(name, template, variables, roles, str(Prompts.model_fields[name].title))


def check_persona(persona: str, *, roles: Iterable[str] = ()) -> None:
    """Refuse a persona that could not be filled in; arguments and errors as for `check_prompts`."""
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
