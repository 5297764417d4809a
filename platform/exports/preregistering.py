"""A study's preregistration: what its plan says, as answers to AsPredicted's questions and for OSF's sections.

The methods are those of the confirmatory analysis of a dataset's report.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from exports import documents
from exports.gate import REASONS
from games import registry
from games.interface import Json
from matches.disclosing import listed
from plans.analysis import Analysis, Contrast, Hypothesis
from plans.comparing import said
from plans.hypotheses import Kind, Outcome, outcomes
from plans.pay import in_currency
from plans.plan import Plan
from plans.reading import names_used
from plans.stages import kinds
from recruiters import arrivals
from studies.journeys import draw_point
from studies.launching import version_of
from studies.models import Cell, Study, Version
from studies.planned import counted, ended_in, frozen_analysis
from studies.texts import possible_endings

FILE = "preregistration.md"
MOST_CELLS = 60
MOST_WORDS = 300
"""Characters of a text or setting that are quoted."""
_MODELS: Mapping[Kind, str] = {
    "number": "a linear regression (of the logarithm if the outcome is a time)",
    "yes_no": "a linear probability model, with the average marginal effect of a logit beside it",
}
_CHOSEN = {
    "linear": "a linear regression",
    "logit": "a logit, reported as the average marginal effect, with the linear regression beside it",
    "ordered": "an ordered logit, with the linear regression beside it",
    "log": "a linear regression of the logarithm, reported as a ratio",
}
_RULES = {
    "blocks": "in permuted blocks, so that cells fill evenly in a random order",
    "random": "independently at random, with the chances of the cells' weights",
    "emptiest": "to the cell with the fewest participants for its quota, at random among equals",
}
_TOLD = {
    "none": "Participants do not learn during a game whether other players are people or programs; they are told "
    "afterwards that programs may have played.",
    "counts": "Participants are told how many of the other players are people and how many are programs.",
    "seats": "Participants are told which of the other players are people and which are programs.",
}
_ESTIMANDS = {
    "both": "It is estimated twice: first of everybody as assigned, with the data that were excluded for something "
    "that happened after the assignment, then of complete data only.",
    "assigned": "It is estimated of everybody as assigned, with the data that were excluded for something that "
    "happened after the assignment.",
    "completed": "It is estimated of complete data only.",
}
_LEAVES = {
    "share": "twice the announced average times success, from 0 to 1",
    "linear": "a rate times the payoff",
    "fixed": "the same for everyone",
}


def preregistration(study: Study) -> str:
    """Return the document (Markdown): of the version that participants get, or of the draft before any launch.

    Raises:
        BadPlan: nothing was launched, and the draft has faults.
    """
    version = study.latest_version()
    cells = list(version.cells.order_by("number")) if version else []
    if version is None:
        version = version_of(study)
        cells = version.planned_cells()
    plan, reader = version.plan, version.reader
    frozen = frozen_analysis(study)
    analysis = frozen.analysis if frozen else Analysis.model_validate(study.in_force("analysis", plan.analysis))
    known = outcomes(plan)
    text = b"".join(
        documents.rendered(
            FILE,
            study=study,
            plan=plan,
            version=version,
            frozen=frozen,
            ended=counted(ended) if any((ended := ended_in(study)).values()) else "",
            hypotheses=[_hypothesis(each, known) for each in analysis.hypotheses],
            families=_families(analysis),
            sample=analysis.sample,
            outcomes=list(_outcomes(analysis, known)),
            factors=[_factor(name, factor, version) for name, factor in reader.factors.items()],
            cells=[_cell(cell) for cell in cells[:MOST_CELLS]],
            more_cells=max(0, len(cells) - MOST_CELLS),
            matches=sum(cell.quota for cell in cells),
            participants=sum(cell.places for cell in cells),
            allocation=_allocation(version),
            told=_TOLD[plan.told.others],
            agents=list(_agents(version)),
            journey=list(_journey(version.document["journey"], reader.factors)),
            entry=_entry(study),
            pay=_pay(plan),
            exclusions=list(_exclusions(version, cells)),
            adjusted=sorted({name for each in analysis.hypotheses for name in each.adjust}),
            collected=list(_questions(plan)),
        )
    )
    return text.decode()


# ---- hypotheses ------------------------------------------------------------------------------------------------


def _hypothesis(hypothesis: Hypothesis, known: Mapping[str, Outcome]) -> dict[str, Any]:
    outcome = known.get(hypothesis.outcome, Outcome("number", "", False))
    model = _MODELS.get(outcome.kind) if hypothesis.model == "auto" else _CHOSEN[hypothesis.model]
    sentences = [f"The outcome is {hypothesis.outcome}.", _estimate(hypothesis.contrast), f"The model is {model}."]
    if hypothesis.adjust:
        sentences.append(f"It is adjusted for {listed(hypothesis.adjust)}, answered before the assignment.")
    sentences.append(_ESTIMANDS[hypothesis.estimand])
    sentences += [f"Participants with {condition} are left out." for condition in hypothesis.exclude]
    return {**hypothesis.model_dump(), "sentences": sentences}


def _estimate(contrast: Contrast) -> str:
    """Return what a hypothesis estimates, in one sentence."""
    if contrast.players is not None:
        who = {"human": "a person", "agent": "an agent"}
        first, second = (who[player] for player in contrast.players)
        seat = f"the seat {contrast.role}" if contrast.role else "a seat"
        return f"The estimate is its mean with {first} in {seat}, minus its mean with {second} there."
    if contrast.factor is not None:
        first, second = contrast.pairs[0]
        return f"The estimate is its mean under {contrast.factor} “{first}” minus its mean under “{second}”."
    (one, other), (pair, given) = contrast.compared, contrast.pairs
    difference = f"its mean under {one} “{pair[0]}” minus its mean under “{pair[1]}”"
    return (
        f"The estimate is an interaction: {difference}, where {other} is “{given[0]}”, minus the same difference where "
        f"{other} is “{given[1]}”."
    )


def _families(analysis: Analysis) -> list[tuple[str, list[str]]]:
    """Return each family with the names of its hypotheses."""
    families: dict[str, list[str]] = {}
    for each in analysis.hypotheses:
        families.setdefault(each.family, []).append(each.name)
    return list(families.items())


def _outcomes(analysis: Analysis, known: Mapping[str, Outcome]) -> Iterator[tuple[str, str]]:
    for name in dict.fromkeys(each.outcome for each in analysis.hypotheses):
        found = known.get(name)
        yield name, found.meaning + (" Each player has a value of their own." if found.of_seat else "") if found else ""


# ---- design ----------------------------------------------------------------------------------------------------


def _factor(name: str, factor: Any, version: Version) -> str:
    levels = list(version.reader.values[name])
    shown = (
        listed([f"“{level}”" for level in levels[:MOST_CELLS]])
        if len(levels) <= MOST_CELLS
        else f"{len(levels):,} rows"
    )
    how = f"within participants, in the block {factor.within}" if factor.within else "between participants"
    return f"{name}, {how}: {shown}."


def _cell(cell: Cell) -> str:
    return f"{cell.number}. {cell.title}: {cell.quota:,} complete matches" + (
        f" of {cell.group_size} participants each" if cell.group_size > 1 else ""
    )


def _allocation(version: Version) -> str:
    """Return how and when participants are assigned to cells."""
    if len(version.reader.cells) == 1:
        return "There is one cell, so nobody is assigned to one."
    rules = version.reader.cell_rules
    point = draw_point(version)
    unit = "A group" if rules.unit == "group" else "Each participant"
    when = "on arrival"
    if point:
        stage = version.document["journey"][point]
        when = f"before the stage {stage.get('name') or stage['stage']}, the first that differs between cells"
    text = f"{unit} is assigned to a cell {when}: {_RULES[rules.rule]}."
    if rules.strata:
        text += f" This is done apart for each combination of answers to {listed(rules.strata)}."
    return text + " The draw, its probabilities and its random seed are recorded for every participant."


def _agents(version: Version) -> Iterator[str]:
    for label, agent in version.agents().items():
        settings = agent.settings
        if agent.scripted:
            yield f"{label}: {agent.spec}, a fixed rule."
        elif not agent.is_model:
            yield f"{label}: {agent.spec}, a program of the researchers that plays over the API."
        else:
            told = (
                f"strategy {settings.strategy}, information {settings.information}, temperature {settings.temperature}"
            )
            yield f"{label}: {agent.spec}, a language model ({told})."


def _journey(stages: Sequence[Mapping[str, Json]], factors: Collection[str], depth: int = 0) -> Iterator[str]:
    """Yield a line for each stage as written, those of a block indented."""
    for stage in stages:
        used = names_used({name: part for name, part in stage.items() if name != "of"})
        varied = [name for name in dict.fromkeys(used) if name in factors]
        details = "; ".join(filter(None, [*_details(stage), f"depends on {listed(varied)}" if varied else ""]))
        title = " ".join(filter(None, [kinds()[stage["stage"]].label, stage.get("name")]))
        condition = f" Only if {stage['show_if']}." if stage.get("show_if") else ""
        yield f"{'  ' * depth}- {title}{': ' if details else ''}{details}.{condition}"
        yield from _journey(stage.get("of", ()), factors, depth + 1)


def _details(stage: Mapping[str, Json]) -> Iterator[str]:
    if stage["stage"] == "game":
        kind = registry.get(stage["game"])
        usual = kind.Config().model_dump(mode="json")
        yield f"{kind.title}, {_times(stage['repeats'])}"
        yield from (f"{name} {_quoted(value)}" for name, value in stage["config"].items() if value != usual.get(name))
        yield "seats: " + ", ".join(f"{_seat(seat)}: {said(player)}" for seat, player in stage["seats"].items())
        yield _quoted_if(stage, "instructions")
    elif stage["stage"] == "questions":
        yield from (f"{item['name']}: {_quoted(item['text'])}" for item in stage["items"])
    elif stage["stage"] == "block":
        yield "" if stage["passes"] == "fixed" else f"the order of its levels is {stage['passes']}"
        yield f"{stage['take']} of its combinations of levels" if stage.get("take") else ""
        yield "groups stay together" if stage.get("groups") else ""
    else:
        yield _quoted_if(stage, "text")


def _quoted_if(stage: Mapping[str, Json], name: str) -> str:
    text = stage.get(name)
    return "" if text in (None, "", "default") else f"{name} {_quoted(text)}"


def _quoted(value: Json) -> str:
    text = " ".join(said(value).split())
    text = text if len(text) <= MOST_WORDS else f"{text[: MOST_WORDS - 1]}…"
    return f"“{text}”" if isinstance(value, str) else text


def _seat(seat: str) -> str:
    return "all others" if seat == "*" else seat


def _times(number: Json) -> str:
    return "one match" if number == 1 else f"{_quoted(number)} matches one after the other"


def _questions(plan: Plan) -> Iterator[str]:
    for stage in plan.stages():
        for item in stage.questions():
            yield f"{stage.name}.{item.name}: {item.text}"


def _entry(study: Study) -> str:
    rules = study.entry_rules()
    via = dict(arrivals.choices()).get(rules.via, rules.via)
    number = rules.participations
    often = "without limit" if number is None else "once" if number == 1 else f"at most {number} times"
    return f"Participants come by: {via}. One person may take part {often}."


def _pay(plan: Plan) -> str:
    pay = plan.pay
    base, average, cap = (in_currency(amount, pay.currency) for amount in (pay.base, pay.bonus.average, pay.bonus.cap))
    bonus = "a fixed bonus" if pay.bonus.rule == "fixed" else "a bonus that depends on the game"
    return (
        f"Finishing pays {base} and {bonus} ({_LEAVES[pay.bonus.rule]}); {average} on average is announced, and {cap} "
        "is the most."
    )


# ---- exclusions ------------------------------------------------------------------------------------------------


def _exclusions(version: Version, cells: Sequence[Cell]) -> Iterator[str]:
    """Yield why data of this study may be excluded, in the order in which reasons count."""
    plans = [version.reader.plan(cell.factors) for cell in version.reader.cells]
    groups = any(cell.group_size > 1 for cell in cells)
    reasons = {ending for plan in plans for ending in possible_endings(plan, groups=groups)}
    reasons |= {"returned", "not_finished", "missing_check", "match_not_finished"}
    games = [game for plan in plans for game in plan.games()]
    if any("default" in (game.timing.on_timeout, game.timing.on_absence) for game in games):
        reasons.add("clock_move")
    if any("agent" in (game.timing.on_timeout, game.timing.on_absence) for game in games) or any(
        agent.fallbacks for plan in plans for agent in plan.agents.values()
    ):
        reasons |= {"scripted_fallback", "substituted_move"}
    if any(plan.checks.whole_groups for plan in plans):
        reasons.add("partner_excluded")
    yield from (sentence for reason, sentence in REASONS.items() if reason in reasons)
