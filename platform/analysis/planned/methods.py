"""methods.md: a draft of a paper's sections on methods and data, with all numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from analysis.data import FACTOR, HUMAN, Data
from analysis.frames import level_text, sorted_levels
from analysis.options import Options
from analysis.planned.confirmatory import ID, contrast
from analysis.planned.first_page import NOTHING_PLANNED, p_text, when
from analysis.planned.hypotheses import BOTH, AnalysisPlan, Hypothesis, plan_of
from analysis.reasons import STAGES, reason
from analysis.results import Outcome
from analysis.tables import records
from analysis.toolbox.numbers import finite

FILE = "methods.md"
RULES: Mapping[str, str] = {
    "blocks": "in permuted blocks", "random": "independently at random", "emptiest": "by filling the emptiest first",
}  # fmt: skip
MODELS: Mapping[str, str] = {
    "auto": "a linear model, for times of the logarithm", "linear": "a linear model", "logit": "a logit model",
    "ordered": "an ordered logit model", "log": "a linear model of the logarithm",
}  # fmt: skip
MAX_LISTED = 12
_MARKUP = re.compile(r"([\\`*<>\[\]|#])")


def methods(data: Data, outcomes: Sequence[Outcome], options: Options, versions: Mapping[str, str]) -> str:
    """Return the draft as Markdown.

    Args:
        versions: of the libraries that computed the numbers.
    """
    plan = plan_of(data)
    sections = {
        "Design": _design(data, plan), "Participants and data": _people(data), "Games": _games(data),
        "Models and scripts": _agents(data), "Pay": _pay(data, options), "Hypotheses": _hypotheses(plan),
        "Estimation": _estimation(plan, outcomes, options, versions),
    }  # fmt: skip
    title = " + ".join(data.publication_values("title")) or "Dataset"
    parts = [f"# {safe(title)}: methods and data (draft)", f"Made from the dataset {data.sha256}. Every number comes "
             "from it; check every sentence before you use it."]  # fmt: skip
    for heading, sentences in sections.items():
        if text := [sentence for sentence in sentences if sentence]:
            parts += [f"## {heading}", *_paragraphs(text)]
    return "\n\n".join(parts) + "\n"


def safe(text: Any) -> str:
    """Return text on one line without effect as Markdown or HTML."""
    return _MARKUP.sub(r"\\\1", " ".join(str(text).split()))


def _paragraphs(sentences: Sequence[str]) -> Iterator[str]:
    """Yield the sentences as one paragraph, and items of lists together."""
    prose = [sentence for sentence in sentences if not sentence.startswith("- ")]
    items = [sentence for sentence in sentences if sentence.startswith("- ")]
    if prose:
        yield " ".join(prose)
    if items:
        yield "\n".join(items)


def _listed(values: Iterable[Any]) -> str:
    found = [safe(value) for value in values]
    shown = [*found[:MAX_LISTED], *([f"{len(found) - MAX_LISTED} more"] if len(found) > MAX_LISTED else [])]
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else "".join(shown)


def _number(n: int, singular: str, plural: str = "") -> str:
    return f"{n:,} {singular if n == 1 else plural or singular + 's'}"


# ---- sections ------------------------------------------------------------------------------------------------


def _design(data: Data, plan: AnalysisPlan | None) -> Iterator[str]:
    between = {name for name in data.treatments("participants")} if data.has("participants") else set()
    factors = [name for name in data.treatments("matches") if data.column("matches", name).nunique() > 1]
    for name in factors:
        levels = sorted_levels(map(level_text, data.column("matches", name).dropna().unique()))
        where = "between" if name in between else "within"
        yield f"The factor {safe(data.heading(name))} varied {where} participants ({_listed(levels)})."
    if data.has("participants", "assignment_rule", "cell"):
        rows = data.table("participants", ["assignment_rule", "cell"]).dropna()
        rules = [RULES.get(rule, safe(rule)) for rule in rows["assignment_rule"].unique()]
        if rules:
            yield (f"{_number(len(rows), 'participant was', 'participants were')} assigned to "
                   f"{_number(int(rows['cell'].nunique()), 'cell')} {_listed(rules)}.")  # fmt: skip
    if data.has("participants", "assignment_forced"):
        forced = int(data.column("participants", "assignment_forced").fillna(False).sum())
        yield f"{_number(forced, 'participant')} came by a link that named the cell." if forced else ""
    for factor in factors:
        if factor in between and data.has("participants", "cell", "in_dataset"):
            people = data.table("participants", [factor, "cell", "in_dataset"])
            people = people[people["cell"].notna() & people[factor].notna()]
            counts = people.groupby(people[factor].map(level_text))["in_dataset"].agg(["size", "sum"])
            arms = [f"{safe(level)}: {row['size']:,} → {row['sum']:,}" for level, row in counts.iterrows()]
            yield f"Randomised → in the dataset, by {safe(data.heading(factor))}: {', '.join(arms)}."
    if plan and plan.per_arm:
        yield f"The planned sample was {plan.per_arm:,} complete matches per level compared."
        yield f"Reason given: {safe(plan.why.rstrip('.'))}." if plan.why else ""
        yield f"Rule for stopping: {safe(plan.stop.rstrip('.'))}." if plan.stop else ""


def _people(data: Data) -> Iterator[str]:
    flow = data.flow_counts
    stages = flow["stages"] if flow["arrived"] else []
    for stage in stages:
        if stage["left"] or stage in (stages[0], stages[-1]):
            name = STAGES.get(stage["stage"], safe(stage["stage"])).lower()
            yield f"{stage['reached']:,} people reached the stage “{name}”{_left(stage['left'], 'went no further')}."
    if data.has("participants", "recruiter"):
        counts = data.column("participants", "recruiter").dropna().value_counts()
        yield f"Recruited through {_listed(f'{name} ({number:,})' for name, number in counts.items())}." if len(
            counts) else ""  # fmt: skip
    matches = flow["matches"]
    if matches["seen"]:
        yield (f"Of {_number(matches['seen'], 'match', 'matches')}, {matches['in_dataset']:,} are in the dataset"
               f"{_left(matches['excluded'], 'were excluded')}.")  # fmt: skip
    elif data.size:
        yield f"The dataset has {_number(data.size, 'match', 'matches')}."
    if data.size:
        yield f"These form {_number(int(data.clusters.nunique()), 'independent unit')}."


def _left(reasons: Mapping[str, int], what: str) -> str:
    """Return how many were lost and why, the most frequent reason first; nothing if nobody was."""
    ordered = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    why = ", ".join(f"{reason(name)} ({number:,})" for name, number in ordered)
    return f"; {sum(reasons.values()):,} {what}: {why}" if why else ""


def _games(data: Data) -> Iterator[str]:
    if data.games:
        yield f"Played: {_listed(game.replace('_', ' ') for game in data.games)}."
    if data.roles:
        yield f"Roles: {_listed(map(data.role_name, data.roles))}."
    for name in data.varying:
        if not name.startswith(FACTOR) and name != "dataset":
            levels = sorted_levels(map(level_text, data.column("matches", name).unique()))
            yield f"{safe(data.heading(name))}: {_listed(levels)}."
    fixed = {name: value for name, value in data.constant.items() if value is not None}
    if fixed:
        words = "; ".join(
            f"{safe(data.heading(name))}: {safe(level_text(value)[:80])}" for name, value in fixed.items()
        )
        yield f"The same in all matches: {words}."


def _agents(data: Data) -> Iterator[str]:
    for role in data.roles:
        names = [name for name in (f"player_{role}", f"agent_{role}") if data.has("matches", name)]
        rows = data.table("matches", names)
        rows = rows[rows[names[0]].notna() & (rows[names[0]] != HUMAN)]
        for row in records(rows.fillna("").groupby(names).size().reset_index(name="number")):
            player, label = row[f"player_{role}"], row.get(f"agent_{role}")
            called = f"{safe(label)} ({safe(player)})" if label and label != player else safe(player)
            yield f"- {safe(data.role_name(role))}: {called}, {_number(row['number'], 'match', 'matches')}"
    if data.has("llm_calls", "model"):
        calls = data.column("llm_calls", "model").dropna().value_counts()
        yield f"Calls of models: {_listed(f'{name} ({number:,})' for name, number in calls.items())}." if len(
            calls) else ""  # fmt: skip


def _pay(data: Data, options: Options) -> Iterator[str]:
    if not data.has("payments", "participant", "amount", "currency"):
        return
    rows = data.table("payments", ["participant", "amount", "currency"]).dropna()
    for currency, own in rows.groupby("currency"):
        totals = own.groupby("participant")["amount"].sum()
        if len(totals) < max(2, options.min_group):
            yield f"The pay of fewer than {max(2, options.min_group)} people is not shown."
            continue
        yield (f"{len(totals):,} participants earned {totals.mean():.2f} {safe(currency)} on average (SD "
               f"{totals.std():.2f}), from {totals.min():.2f} to {totals.max():.2f}.")  # fmt: skip


def _hypotheses(plan: AnalysisPlan | None) -> Iterator[str]:
    if plan is None:
        yield NOTHING_PLANNED.replace("below", "reported")
        return
    yield f"The analysis was planned and frozen on {when(plan.frozen_at)} (version {safe(plan.version)})."
    later = len(plan.changes)
    yield f"{_number(later, 'change')} made afterwards {'is' if later == 1 else 'are'} listed in the report." if (
        later) else "It was not changed afterwards."  # fmt: skip
    for hypothesis in plan.hypotheses:
        yield f"- {_hypothesis(hypothesis)}"


def _hypothesis(hypothesis: Hypothesis) -> str:
    claim = f" ({safe(hypothesis.claim.rstrip('.'))})" if hypothesis.claim else ""
    words = f"**{safe(hypothesis.name)}**{claim}, {hypothesis.role}, family {safe(hypothesis.family)}: "
    words += f"{safe('.'.join(hypothesis.outcome))}, {safe(contrast(hypothesis))}, by {MODELS[hypothesis.model]}; "
    words += "estimand: " + {2: f"{BOTH}, as assigned first"}.get(len(hypothesis.estimands), hypothesis.estimands[0])
    if hypothesis.adjust:
        words += f"; adjusted for {_listed('.'.join(name) for name in hypothesis.adjust)}"
    if hypothesis.exclude:
        words += f"; without people of whom it is true that {_listed(hypothesis.exclude)}"
    return words + "."


def _estimation(
    plan: AnalysisPlan | None, outcomes: Sequence[Outcome], options: Options, versions: Mapping[str, str]
) -> Iterator[str]:
    yield ("Two matches depend on each other if a person took part in both, directly or through a chain of others, if "
           "they are of one group, or if agents repeated one seed or record; a unit is everything that hangs together "
           "in this way.")  # fmt: skip
    yield ("Effects are estimated by least squares on the contrast, the other factors and the position of the match. "
           "Standard errors come from leaving out one unit at a time (CR3), tests and intervals "
           f"({100 * options.level:g} %) from t with Bell and McCaffrey's degrees of freedom.")  # fmt: skip
    outcome = next((one for one in outcomes if one.analysis.id == ID and one.status == "done"), None)
    if plan is not None and outcome is not None and "hypotheses" in outcome.tables:
        yield ("Beside it stands p by randomisation: units are assigned again under the recorded rule, in 9,999 draws "
               "or, if there are at most 10,000 assignments, in all. p-values are adjusted by Holm's method within "
               "each family.")  # fmt: skip
        yield ("“Assigned” counts everybody randomised as far as the dataset holds their outcomes, “completed” those "
               "in the dataset. Where people were lost, Lee bounds with Imbens and Manski's interval are "
               "reported.")  # fmt: skip
        for row in outcome.tables["hypotheses"].records:
            df = finite(row["df"])
            of = f", {df:.1f} degrees of freedom" if df is not None else ""
            missing = f", {row['missing']:,} rows without the outcome" if row["missing"] else ""
            left_out = f", {row['left_out']:,} people excluded by the plan" if row["left_out"] else ""
            p = f", {p_text(row['p'])}" if row["p"] is not None else ""
            yield (f"- {safe(row['hypothesis'])}, {row['estimand']}: n = {row['n']:,}, {row['clusters']:,} units, "
                   f"{row['method']}{of}{p}{missing}{left_out}.")  # fmt: skip
    software = ", ".join(f"{name} {number}" for name, number in versions.items() if number != "not installed")
    yield f"Computed by Parley with {software}; seed {options.seed}."
