"""The simulated power of hypotheses: who will meet whom by the plan, and how outcomes varied in an earlier dataset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from plans.agents import PERSON
from plans.analysis import Analysis, Hypothesis
from plans.hypotheses import outcomes
from plans.reading import Reader
from plans.seats import fitted
from plans.stages import Block, Game, walk
from studies.launching import version_of
from studies.models import Study, configured


@dataclass(frozen=True)
class Meetings:
    """Who meets whom in a comparison (`analysis.toolbox.power.simulated_power`)."""

    per_level: int
    within: tuple[bool, ...]
    matches: int
    people: int
    regroup: bool
    cohort: int | None


def power_of(
    study: Study, *, folder: Path | None = None, effect: float | None = None, draws: int = 1000, seed: int = 1
) -> list[dict[str, Any]]:
    """Return the power of each primary hypothesis, or of all if none is primary.

    Args:
        folder: a dataset of a pilot or another study, for the spread of each outcome; without one, effects are in
            standard deviations, and matches of the same people are as different as others.
        effect: in units of the outcome.

    Returns:
        for each, {hypothesis, outcome, spread: {sd, icc, n, units} or None} with what `Meetings` holds and what
        `simulated_power` returns.

    Raises:
        BadPlan: nothing was launched, and the draft has faults.
        DataError: the dataset cannot be read, or lacks an outcome.
    """
    from analysis.data import load
    from analysis.general.power import spread
    from analysis.toolbox.power import simulated_power

    version = study.latest_version() or version_of(study)
    analysis = Analysis.model_validate(study.draft.get("analysis", {}))
    primary = [each for each in analysis.hypotheses if each.role == "primary"]
    data = None if folder is None else load(folder)
    found = []
    for hypothesis in primary or analysis.hypotheses:
        meetings = meetings_of(hypothesis, version.reader, analysis.sample.per_arm)
        stage, _dot, name = hypothesis.outcome.partition(".")
        known = None if data is None else spread(data, stage, name)
        sizes = {} if known is None else {"sd": known["sd"], "icc": known["icc"]}
        power = simulated_power(**asdict(meetings), **sizes, effect=effect, draws=draws, seed=seed)
        told = {"hypothesis": hypothesis.name, "outcome": hypothesis.outcome, "spread": known}
        found.append({**told, **asdict(meetings), "effect": effect, "draws": draws, **power})
    return found


def meetings_of(hypothesis: Hypothesis, reader: Reader, per_arm: int | None) -> Meetings:
    """Return who will meet whom by the plan, in the first cell that has a level compared.

    Rows of the outcome are matches; of what each player has alone, players, who depend on each other in a match.
    """
    contrast = hypothesis.contrast
    levels = {name: pair[0] for name, pair in zip(contrast.compared, contrast.pairs, strict=False)}
    cells = [cell for cell in reader.cells if _has(cell.factors, levels)]
    plan = reader.plan(cells[0].factors)
    stage = hypothesis.outcome.partition(".")[0]
    met = [each for each in walk(plan.journey) if each.stage.name == stage and _has(each.levels, levels)]
    game = next((each.stage for each in met if isinstance(each.stage, Game)), None)
    matches = max(1, round(sum(each.times * getattr(each.stage, "repeats", 1) for each in met)))
    people = 1 if game is None else _people(game)
    block = next(
        (each for each in plan.stages() if isinstance(each, Block) and each.groups and _holds(each, stage)), None
    )
    cohort = block.groups.cohort if block is not None and block.groups is not None else None
    together = block is not None and cohort is None
    regroup = people > 1 and matches > 1 and not together and game is not None and game.partners != "same"
    per_level = per_arm or sum(cell.quota for cell in cells) * matches
    within = tuple(name in reader.within for name in contrast.compared) or (False,)
    if people > 1 and outcomes(plan)[hypothesis.outcome].of_seat and not regroup:
        return Meetings(per_level * people, within, matches * people, 1, False, None)
    return Meetings(per_level, within, matches, people, regroup, cohort)


def _has(factors: Mapping[str, str], levels: Mapping[str, str]) -> bool:
    return all(factors.get(name, level) == level for name, level in levels.items())


def _people(game: Game) -> int:
    seats = fitted(game.seats, configured(game))
    return sum(player == PERSON for player in seats.values())


def _holds(block: Block, name: str) -> bool:
    return any(met.stage.name == name for met in walk([block]))


def sentences(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield what `manage.py power` says of a hypothesis."""
    size = f"{found['per_level']:,} matches per level"
    alike = f", {found['matches']} of each person" if found["matches"] > 1 else ""
    yield f"{found['hypothesis']} ({found['outcome']}), {size}{alike}:"
    spread = found["spread"]
    unit = "" if spread else " standard deviations"
    if spread:
        yield (
            f"  within cells, the standard deviation is {spread['sd']:.4g} and the correlation of dependent rows "
            f"{spread['icc']:.2f} ({spread['n']:,} rows, {spread['units']:,} independent units)"
        )
    if found["smallest"] is None:
        yield f"  no power: {found['note']}"
        return
    if found["power"] is not None:
        yield (
            f"  an effect of {found['effect']:g}{unit} has p < .05 in {found['power']:.1%} of {found['draws']:,} "
            f"simulated studies [{found['low']:.1%}, {found['high']:.1%}]"
        )
    yield f"  80 % power from {found['smallest']:.3g}{unit} on"
