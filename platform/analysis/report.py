"""The report: one self-contained HTML file without scripts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.data import Data
from analysis.frames import level_text, sorted_levels
from analysis.options import Options
from analysis.planned.first_page import first_page
from analysis.readers import names_of
from analysis.reasons import reason
from analysis.results import Outcome
from analysis.summaries import in_short, side_by_side
from analysis.tables import formatted, html_table
from games import tokens

TEMPLATE = Path(__file__).with_name("report.html")
MAX_ROWS, MAX_ARMS, MAX_LEVELS = 40, 12, 12
"""Maximum number of rows per table, of arms, and of levels named in the report; the files have all."""
DESIGN = ("general.flow", "general.attrition", "general.balance", "general.checks")
PLANNED = "general.confirmatory"
"""The analyses that say how the design worked, and the one that answers the planned questions."""


def render_report(
    data: Data, outcomes: Sequence[Outcome], options: Options, drawings: Mapping[tuple[str, str], str], software: str
) -> str:
    """Return the report as HTML.

    Args:
        drawings: the figures as SVG, by analysis and name.
    """
    from jinja2 import Environment
    from markupsafe import Markup

    page = Environment(autoescape=True).from_string(TEMPLATE.read_text(encoding="utf-8"))
    by_id = {outcome.analysis.id: outcome for outcome in outcomes if outcome.status == "done"}
    sections = {name: _section(outcome, drawings) for name, outcome in by_id.items()}
    arms = by_id["general.attrition"].tables["arms"] if "general.attrition" in by_id else None
    of_design = [sections.pop(name) for name in DESIGN if name in sections]
    drawn_flow = of_design[0].pop("figures") if "general.flow" in by_id else []
    planned = [sections.pop(PLANNED) | {"figures": []}] if PLANNED in sections else []  # drawn on the first page
    robustness = [table for outcome in by_id.values() if (table := side_by_side(outcome))]
    html: str = page.render(
        tokens=Markup(tokens.FILE.read_text(encoding="utf-8").strip()),
        title=" + ".join(data.publication_values("title")) or "Dataset",
        stamp=stamp(data),
        authors="; ".join(data.publication_values("authors")),
        datasets=data.folders,
        games=", ".join(game.replace("_", " ") for game in data.games) or "no game",
        counts=_counts(data),
        about=list(_about(data)),
        first=[first_page(data, outcomes).html()],
        planned=planned,
        design=list(_design(data, by_id)),
        arms=[Markup(html_table(arms, MAX_ARMS))] if arms else [],
        flow=drawn_flow,
        of_design=of_design,
        robustness=[Markup(html_table(table)) for table in robustness],
        done=[*sections.values()],
        skipped=list(_skipped(data, outcomes)),
        failed=[f"{outcome.analysis.title} ({outcome.analysis.id}) failed: {outcome.reason}"
                for outcome in outcomes if outcome.status == "failed"],
        appendix=[*_fixed(data), ("Software", software), ("Options", f"Seed {options.seed}, intervals of "
                  f"{100 * options.level:g} %, {options.draws:,} bootstrap draws")],
    )  # fmt: skip
    return html + "\n"


def stamp(data: Data) -> str:
    """Return the warning shown on every page for simulated, demonstration or modified data; "" for other data."""
    warnings = []
    if data.simulated:
        warnings.append("Simulated data, not research data: scripts took the place of people")
    if data.demonstration:
        warnings.append("Demonstration data, not research data")
    if data.modified:
        warnings.append(f"Files changed after the export: {', '.join(data.modified)}")
    return " · ".join(warnings)


def count_text(n: Mapping[str, int]) -> str:
    """Return the numbers of observations as text, such as "n: 120 matches, 1,200 decisions"."""
    nouns = {"matches": "match", "decisions": "decision", "people": "person", "clusters": "independent unit"}
    counts = []
    for key, singular in nouns.items():
        number = n.get(key)
        if number:
            plural = {"match": "matches", "person": "people"}.get(singular, f"{singular}s")
            counts.append(f"{number:,} {singular if number == 1 else plural}")
    counts += [f"{number:,} {key.replace('_', ' ')}" for key, number in n.items() if key not in nouns and number]
    return "n: " + (", ".join(counts) or "none")


def _counts(data: Data) -> list[tuple[str, str]]:
    from analysis.running import people

    matches = len(data.column("matches", "match")) if data.has("matches", "match") else 0
    moves = int(data.column("matches", "decisions").sum()) if data.has("matches", "decisions") else 0
    agents = sum(player != "human" for player in data.players)
    counts = [(matches, "matches"), (moves, "decisions"), (people(data), "people"), (agents, "kinds of agents")]
    return [(f"{number:,}", noun if number != 1 else noun.replace("matches", "match")) for number, noun in counts]


def _about(data: Data) -> Iterator[tuple[str, str]]:
    for name in ("citation", "licence"):
        if value := "; ".join(data.publication_values(name)):
            yield name.capitalize(), value
    for folder in data.folders:
        cutoff = str(folder.manifest.get("cutoff") or "")[:16].replace("T", " ")
        sha256 = str(folder.manifest.get("sha256") or "")
        yield "Dataset", " · ".join(part for part in (folder.name, cutoff and f"as of {cutoff} UTC", sha256) if part)


def _design(data: Data, done: Mapping[str, Outcome]) -> Iterator[tuple[str, str]]:
    """Yield what varied with its levels, who played, the matches left out, and the verdict on attrition."""
    for name in data.varying:
        yield data.heading(name), _listed(map(level_text, data.column("matches", name).unique()))
    for role in data.roles:
        yield data.role_name(role), names_of(data)(_listed(data.players_by_role[role].dropna().unique()))
    matches = data.flow_counts["matches"]
    if matches["seen"]:
        excluded = sorted(matches["excluded"].items(), key=lambda item: (-item[1], item[0]))
        parts = [f"{matches['seen']:,} seen", *(f"{number:,} excluded: {reason(why)}" for why, number in excluded),
                 f"{matches['in_dataset']:,} in the dataset"]  # fmt: skip
        yield "Matches", "; ".join([*parts, *([f"{n:,} unverified" for n in [matches["unverified"]] if n])])
    if "general.attrition" in done and (tests := done["general.attrition"].tables.get("tests")):
        verdicts = []
        for test in tests.records:
            if test["of"] == tests.records[0]["of"]:
                p = f" (p = {formatted(test['p'], 'p')}, {test['test']})".replace("= <", "<") if test["p"] else ""
                verdicts.append(f"by {test['factor'].lower()}: {test['verdict']}{p}")
        yield "Attrition", f"Of {tests.records[0]['of']}, {'; '.join(verdicts)}"


def _listed(values: Iterable[str]) -> str:
    names = sorted_levels(values)
    more = [f"{len(names) - MAX_LEVELS} more"] if len(names) > MAX_LEVELS else []
    return ", ".join([*names[:MAX_LEVELS], *more])


def _fixed(data: Data) -> Iterator[tuple[str, str]]:
    """Yield the parameters that did not vary."""
    if fixed := {name: value for name, value in data.constant.items() if value is not None}:
        values = (f"{data.heading(name)}: {level_text(value)[:80]}" for name, value in fixed.items())
        yield "Fixed parameters", "; ".join(values)


def _skipped(data: Data, outcomes: Sequence[Outcome]) -> Iterator[tuple[str, list[str]]]:
    """Yield each reason for skipping analyses, with their titles and ids; of those of other games, the number."""
    skipped = [outcome for outcome in outcomes if outcome.status == "skipped"]
    others = [
        outcome for outcome in skipped if outcome.analysis.games and not {*outcome.analysis.games} & {*data.games}
    ]
    named = [outcome for outcome in skipped if outcome not in others]
    for why in dict.fromkeys(outcome.reason for outcome in named):
        yield why, [f"{each.analysis.title} ({each.analysis.id})" for each in named if each.reason == why]
    if others:
        yield "Made for other games.", [f"{len(others)} analyses, which `manage.py analyse --list` names"]


def _section(outcome: Outcome, drawings: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    from markupsafe import Markup

    analysis = outcome.analysis
    names = [f"tables/{analysis.id}.{name}.csv" for name in outcome.tables]
    names += [f"figures/{analysis.id}.{name}.svg" for name in outcome.figures]
    return {
        "id": analysis.id,
        "title": analysis.title,
        "short": in_short(outcome),
        "question": analysis.question,
        "method": analysis.method,
        "n": count_text(outcome.result.n),
        "warnings": list(dict.fromkeys(outcome.result.warnings)),
        "figures": [
            {"title": figure.title, "svg": Markup(drawings[analysis.id, name])}
            for name, figure in outcome.figures.items()
        ],
        "tables": [Markup(html_table(table, MAX_ROWS)) for table in outcome.tables.values()],
        "files": names,
    }
