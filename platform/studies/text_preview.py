"""A preview of a study's texts: what a participant in each role reads and what a model in that role receives."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string
from django.utils.translation import gettext as _

import games.play
from games import registry
from games.errors import GameError
from games.interface import Event, Game, Role
from games.play import Play
from llm_agents.agent import first_request
from llm_agents.prompting import number
from matches.screens import render_screen
from opponents.agents import PERSON, Agent, Seats, candidates
from participants.markdown import to_html
from plans.questions import BadQuestions, questions_of
from studies import disclosure, texts
from studies.comparing import Line, difference
from studies.design import plan_cells
from studies.models import Study
from surveys.steps import PageQuestion

SEED = 1
PLACEHOLDER_MODEL = "openai:any"
"""A placeholder model, to show prompts in a study whose own opponent is a scripted player."""
MAX_MOVES = 50
"""Number of scripted moves after which a role without a turn is shown anyway."""


@dataclass(frozen=True)
class RolePreview:
    """One role of one configuration.

    Attributes:
        person: whether participants can take it; then `instructions` and `screen` are theirs, as HTML.
        screen: the game at this role's first turn.
        sent: what a model in this role receives at its first turn, as (speaker, text).
        moved: number of scripted moves made before that turn.
    """

    role: Role
    title: str
    person: bool
    instructions: str
    screen: str
    sent: tuple[tuple[str, str], ...]
    moved: int


@dataclass(frozen=True)
class Preview:
    """The current texts of a study.

    Attributes:
        problem: why the instructions cannot be shown; usually empty.
        config: the configuration shown, as (parameter, value).
        configuration: its number, from 1; `configurations` names every configuration by what varies.
        surveys: the survey pages, as (title, HTML).
        variables: what the instructions may refer to, as (name, value by role).
        changed: diff of the instructions against the game's own; empty if equal.
        others: what is shown about the other players beside the consent text; empty if the text contains it.
        consent_changed: diff of the consent text against the default.
    """

    game: str
    problem: str
    config: tuple[tuple[str, str], ...]
    configuration: int
    configurations: tuple[str, ...]
    surveys: tuple[tuple[str, str], ...]
    roles: tuple[RolePreview, ...]
    variables: tuple[tuple[str, tuple[str, ...]], ...]
    changed: tuple[Line, ...]
    consent: str
    others: str
    consent_changed: tuple[Line, ...]
    debriefing: str


def preview(study: Study, configuration: int = 1) -> Preview:
    """Return the study's texts filled in for configuration number `place`, or the first if there is no such number.

    Raises:
        GameError: no configuration can be played.
    """
    cells = plan_cells(study)
    configs = list({json.dumps(cell.config, sort_keys=True): cell.config for cell in cells}.values())
    configuration = configuration if 1 <= configuration <= len(configs) else 1
    config = configs[configuration - 1]
    game = games.play.configure(registry.get(study.game), config, amounts=study.amounts)
    lineups = [cell.seats for cell in cells if cell.config == config]
    agents = study.agents_by_label()
    problem, roles = "", []
    try:
        roles = [
            _role(study, game, role, person=any(seats[role] == PERSON for seats in lineups), agent=agent)
            for role, agent in _distinct_seats(game, lineups, agents)
        ]
    except (GameError, ValueError) as error:
        problem = str(error)
    default_text = texts.default_consent(study)
    consent = study.consent or default_text
    disclosure_text = disclosure.study_disclosure(study).get("words", "")
    return Preview(
        game=study.game,
        problem=problem,
        config=tuple((name.replace("_", " "), _readable(value)) for name, value in game.config.model_dump().items()),
        configuration=configuration,
        configurations=_configuration_titles(configs),
        surveys=_surveys(study),
        roles=tuple(roles),
        variables=_variables(game),
        changed=difference(game.instruction_template(), study.instructions) if study.instructions else (),
        consent=to_html(consent),
        others="" if disclosure_text in consent else disclosure_text,
        consent_changed=difference(default_text, consent),
        debriefing=to_html(getattr(study, "debriefing", "")),
    )


def _configuration_titles(configs: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return a title for each configuration that sets it apart from the others."""
    names = dict.fromkeys(name for config in configs for name in config)
    varied = [name for name in names if any(config.get(name) != configs[0].get(name) for config in configs)]
    return tuple(
        " · ".join(f"{name.replace('_', ' ')} {_readable(config.get(name))}" for name in varied) for config in configs
    )


def _surveys(study: Study) -> tuple[tuple[str, str], ...]:
    """Return the survey pages as participants see them, without invalid surveys."""
    pages = []
    for title, questions_data in (
        (_("before the game"), study.survey_before),
        (_("after the game"), study.survey_after),
    ):
        try:
            questions = questions_of(questions_data or [])
        except BadQuestions:
            continue
        if questions:
            page_questions = [PageQuestion(question) for question in questions]
            pages.append(
                (str(title), render_to_string("participants/survey_questions.html", {"asked": page_questions}))
            )
    return tuple(pages)


def _distinct_seats(
    game: Game[Any, Any], lineups: Sequence[Seats], agents: Mapping[str, Agent]
) -> list[tuple[Role, Agent]]:
    """Return one seat for each combination of kind and player, with the agent that may be asked there."""
    distinct_seats: dict[Any, tuple[Role, Agent]] = {}
    for role in game.roles():
        has_people = any(seats[role] == PERSON for seats in lineups)
        labels = [label for seats in lineups for label in candidates(seats[role]) if label != PERSON]
        models = [agents[label] for label in labels if not agents[label].scripted]
        askable = models or [agents[label] for label in labels] or list(agents.values())
        distinct_seats.setdefault(
            (game.kind(role), has_people, bool(labels)),
            (role, askable[0] if askable else Agent(spec=PLACEHOLDER_MODEL)),
        )
    return list(distinct_seats.values())


def _role(study: Study, game: Game[Any, Any], role: Role, *, person: bool, agent: Agent) -> RolePreview:
    template = study.instructions or None
    play, log, moved = _at_first_turn(game, role)
    return RolePreview(
        role=role,
        title=game.role_title(role),
        person=person,
        instructions=to_html(game.instructions(role, template)),
        screen=render_screen(play, role),
        sent=_sent(agent, play, role, log, template),
        moved=moved,
    )


def _sent(agent: Agent, play: Play, role: Role, log: Sequence[Event], template: str | None) -> tuple[Any, ...]:
    settings = agent.settings
    spec = settings.spec(PLACEHOLDER_MODEL if agent.scripted else agent.spec)
    request = first_request(spec, play, role, log, template=template, prompts=settings.prompts)
    return tuple((message["role"], message["content"]) for message in request.messages)


def _at_first_turn(game: Game[Any, Any], role: Role) -> tuple[Play, list[Event], int]:
    """Return the game at the first turn of `role`, with the sparring partner's moves for the others."""
    play, opening = games.play.start(game, SEED)
    log = list(opening)
    for moved in range(MAX_MOVES):
        waiting = play.waiting_for()
        if play.over or role in waiting:
            return play, log, moved
        play, new_events = games.play.submit(
            play, waiting[0], games.play.script_move(play, waiting[0], game.default_script)
        )
        log += new_events
    return play, log, MAX_MOVES


def _variables(game: Game[Any, Any]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    by_role: list[Mapping[str, Any]] = [game.text_variables(role) for role in game.roles()]
    names = dict.fromkeys(name for variables in by_role for name in variables)
    return tuple((name, tuple(_readable(variables.get(name)) for variables in by_role)) for name in names)


def _readable(value: Any) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, float | int):
        return number(value)
    return "–" if value is None else str(value)
