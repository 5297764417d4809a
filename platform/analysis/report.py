"""The report: one self-contained HTML file without scripts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.data import Data
from analysis.options import Options
from analysis.planned.first_page import first_page
from analysis.reasons import STAGES, reason
from analysis.results import Outcome
from analysis.tables import Table, count, html_table, text
from games import tokens

TEMPLATE = Path(__file__).with_name("report.html")
MAX_ROWS = 40
"""Maximum number of rows per table in the report; the HTML and CSV files have more."""


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
    done = [_section(outcome, drawings) for outcome in outcomes if outcome.status == "done"]
    html: str = page.render(
        tokens=Markup(tokens.FILE.read_text(encoding="utf-8").strip()),
        title=" + ".join(data.publication_values("title")) or "Dataset",
        stamp=stamp(data),
        authors="; ".join(data.publication_values("authors")),
        datasets=data.folders,
        games=", ".join(game.replace("_", " ") for game in data.games) or "no game",
        counts=_counts(data),
        facts=list(_facts(data)),
        first=first_parts(data, outcomes),
        flow=Markup(html_table(exclusions(data))) if exclusions(data).rows else "",
        done=done,
        skipped=list(_skipped(outcomes)),
        failed=[_heading(outcome) for outcome in outcomes if outcome.status == "failed"],
        software=software,
        options=f"Seed {options.seed}, intervals of {100 * options.level:g} %, {options.draws:,} bootstrap draws",
    )
    return html + "\n"


def first_parts(data: Data, outcomes: Sequence[Outcome]) -> list[Any]:
    """Return what stands before everything else, as HTML: the answers to the planned questions."""
    return [first_page(data, outcomes).html()]


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


def exclusions(data: Data) -> Table:
    """Return the numbers of excluded people, by stage and reason, and of excluded matches, from the manifest."""
    flow, rows = data.flow_counts, []
    if flow["arrived"]:
        for stage in flow["stages"]:
            name = STAGES.get(stage["stage"], stage["stage"])
            rows.append({"of": "People", "stage": name, "what": "reached", "number": stage["reached"]})
            for reason_key, number in sorted(stage["left"].items(), key=lambda item: (-item[1], item[0])):
                rows.append({"of": "People", "stage": name, "what": reason(reason_key), "number": number})
    matches = flow["matches"]
    if matches["seen"]:
        rows.append({"of": "Matches", "stage": "Seen", "what": "all", "number": matches["seen"]})
        for reason_key, number in sorted(matches["excluded"].items(), key=lambda item: (-item[1], item[0])):
            rows.append({"of": "Matches", "stage": "Excluded", "what": reason(reason_key), "number": number})
        rows.append({"of": "Matches", "stage": "In the dataset", "what": "all", "number": matches["in_dataset"]})
        if matches["unverified"]:
            rows.append(
                {"of": "Matches", "stage": "In the dataset", "what": "unverified", "number": matches["unverified"]}
            )
    columns = [text("of", "Of"), text("stage", "Stage"), text("what", "What"), count("number", "Number")]
    return Table("exclusions", "Flow of exclusions", columns, rows)


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


def _facts(data: Data) -> Any:
    for name in ("citation", "licence"):
        if value := "; ".join(data.publication_values(name)):
            yield name.capitalize(), value
    for folder in data.folders:
        cutoff = str(folder.manifest.get("cutoff") or "")[:16].replace("T", " ")
        sha256 = str(folder.manifest.get("sha256") or "")
        yield "Dataset", " · ".join(part for part in (folder.name, cutoff and f"as of {cutoff} UTC", sha256) if part)
    if data.varying:
        yield "Varying parameters", ", ".join(data.heading(name) for name in data.varying)
    fixed_players = {role: sorted(set(data.players_by_role[role].dropna())) for role in data.roles}
    if fixed_players := {role: names[0] for role, names in fixed_players.items() if len(names) == 1}:
        yield "Fixed players", "; ".join(f"{data.role_name(role)}: {name}" for role, name in fixed_players.items())
    if fixed := {name: value for name, value in data.constant.items() if value is not None}:
        from analysis.frames import level_text

        yield (
            "Fixed parameters",
            "; ".join(f"{data.heading(name)}: {level_text(value)[:80]}" for name, value in fixed.items()),
        )


def _skipped(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, list[str]]]:
    """Yield each reason for skipping analyses, with the titles and ids of the analyses."""
    skipped = [outcome for outcome in outcomes if outcome.status == "skipped"]
    for why in dict.fromkeys(outcome.reason for outcome in skipped):
        yield (
            why,
            [f"{outcome.analysis.title} ({outcome.analysis.id})" for outcome in skipped if outcome.reason == why],
        )


def _heading(outcome: Outcome) -> dict[str, str]:
    return {"id": outcome.analysis.id, "title": outcome.analysis.title, "reason": outcome.reason}


def _section(outcome: Outcome, drawings: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    from markupsafe import Markup

    analysis = outcome.analysis
    names = [f"tables/{analysis.id}.{name}.csv" for name in outcome.tables]
    names += [f"figures/{analysis.id}.{name}.svg" for name in outcome.figures]
    return _heading(outcome) | {
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
