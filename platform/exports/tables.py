"""The tables of a dataset that are read from the database, and all of a dataset's tables by name.

The codebook is generated from the same classes, so that no column lacks an entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args

from django.db.models import Count, Q, Sum

from exports import derived, designs, gate, signals
from exports.columns import Column, Design, Kind, Row, Table, column, described_in, spread, table_of
from exports.designs import AskedQuestion, as_column
from exports.participants import Participant, PlayedMatch
from exports.scrubbing import Scrubber
from exports.shape import MONEY, Shape, parameters
from exports.sources import Source, StudySource
from exports.times import Times
from games.catalogues import LANGUAGES
from marketplaces.models import Submission
from opponents.models import Call
from participants.states import State
from payouts.models import LedgerRow
from plans.questions import FREE_TEXT
from quality.score import MEANINGS, THRESHOLD

# ---- calls of models -----------------------------------------------------------------------------------------

_TEXT_KEYS = ("messages", "answer", "problem", "error", "stop", "remarks", "tools")
"""Parts of a call that hold free text; the rest are numbers and names of models and settings."""
_RESEARCHERS_KEYS = ("endpoint", "parameters")
_RESEARCHERS_SCRUBBER = Scrubber(generic=True)


class LlmCalls:
    """One row per call of a language model in the matches in the dataset, whether it led to a move or not."""

    match = derived.Matches.match
    role = column.choice("Role that the model was asked to play.")
    answering = column.integer(
        "Number of the event that opened the turn; with purpose chat, of the newest message in chat.csv, 0 if none."
    )
    at = column.time("When the record was stored, after the turn's calls.", "UTC")
    outcome = column.choice(
        "Outcome of the call: the move that was played, a legal one that was not, an illegal one, or no answer.",
        values="move, unplayed, rule_break, failed",
    )
    provider = column.choice("The endpoint's protocol.", values="openai, anthropic")
    endpoint = column.text("Name of the endpoint in the admin.")
    model = column.text("The requested model.")
    answered_by = column.text("The model that answered, according to the provider.")
    try_number = column.integer("1 for the first try of a turn; higher after illegal answers.")
    rung = column.integer("0 for the agent itself, 1 for its first fallback, and so on.")
    attempt = column.integer("1 for the first call of a try; higher after failed calls.")
    strategy = column.choice(
        "Strategy by which the model was prompted.", values="chain_of_thought, conversation, fresh; empty: none"
    )
    structured = column.choice(
        "How a schema was enforced on the answer.", values="none, json_schema, json_object, tool"
    )
    seed = column.integer("The sampling seed sent with the request.")
    prompt_sha256 = column.identifier("Hash of all texts in use: rules, persona, prompts.")
    messages = column.json("All messages sent, as [{role, content}], with names replaced by markers.")
    parameters = column.json("Parameters sent with the request.")
    answer = column.text("The raw answer, with markers and apostrophe as in messages.csv; empty if there was none.")
    problem = column.text("Why the answer was not a legal move, as the model was told; empty if it was.")
    fault = column.choice(
        "Kind of problem: no move in the requested form, or a move that the rules don't allow.",
        values="unreadable, illegal",
    )
    error = column.text("The provider's error, if any.")
    stop = column.text("The provider's finish reason.")
    input_tokens = column.integer("As the provider counts them.", "tokens")
    output_tokens = column.integer("As the provider counts them.", "tokens")
    latency = column.number("Time until the answer or the error.", "seconds")
    streamed = column.boolean("Whether the answer was read while it was being written.")
    first_text = column.number("Time until the first words of a streamed answer.", "seconds")
    purpose = column.choice("Purpose of the call.", values="move, plan, belief, replan, look, note, judge, chat")
    remarks = column.json("What the model wrote in addition to its move, by key, with markers as in messages.csv.")
    cached_tokens = column.integer("Of the input tokens, those read from the provider's cache.", "tokens")
    conversation = column.identifier(
        "The conversation of which the call is a part; messages then holds only what was added since its previous call."
    )
    offered = column.json("Names of the tools offered.")
    tools = column.integer("Number of tools called; see tool_calls.csv.", of=lambda call: len(call.tools or ()))
    short = column.boolean("Whether the model was asked only for the values that determine the move.")
    refused = column.boolean("Whether the provider reports that the model refused to answer.")
    cost = column.number("Tokens times their price; empty if the price was unknown.", "US dollars")
    request_id = column.identifier("The provider's name for the call.")


class ToolCalls:
    """One row per tool that a language model called: looks at data, notes and submissions, in order."""

    match = derived.Matches.match
    role = LlmCalls.role
    answering = column.integer("As in llm_calls.csv.")
    conversation = column.identifier("As in llm_calls.csv.")
    try_number = column.integer("Number of the try, as in llm_calls.csv.")
    place = column.integer("Number of the tool within the call, from 1.")
    name = column.text("Name of the tool, as the model wrote it.")
    kind = column.choice("What the tool does.", values="look, note, move")
    arguments = column.text("The arguments as the model wrote them, with markers as in messages.csv.")
    result = column.text("The tool's result.")
    size = column.integer("Length of the result.", "characters")
    fault = column.choice(
        "Why the call had no effect; empty if it had one.",
        values="unknown: no such tool; unreadable: its arguments; illegal; ignored: after the submission",
    )


class ExcludedCalls:
    """Calls of models in matches that are not in the dataset; one row per match, role and model."""

    match = column.identifier("The match, as in excluded.csv.")
    cell = column.integer("As in matches.csv.")
    reason = column.choice("Why it is not in the dataset.")
    role = LlmCalls.role
    agent = column.choice("The agent's label.")
    model = column.text("The requested model.")
    calls = column.integer("Calls.", "calls")
    failed = column.integer("Of these, calls without an answer.", "calls")
    rule_breaks = column.integer("Of these, calls with an illegal answer.", "calls")
    cost = column.number("Cost of the calls with a known price.", "US dollars")


def call_rows(match: PlayedMatch) -> Iterator[tuple[Row, list[Row]]]:
    """Yield the row of each call in a match, scrubbed like the match's own words, and the rows of its tools."""
    scrubbers = dict.fromkeys(_TEXT_KEYS, match.scrubber) | dict.fromkeys(_RESEARCHERS_KEYS, _RESEARCHERS_SCRUBBER)
    nothing = dict.fromkeys([*described_in(LlmCalls), "tools"])
    no_tool = dict.fromkeys(described_in(ToolCalls))
    for call in Call.objects.filter(match_uid=match.match.uid).order_by("pk").iterator(chunk_size=50):
        record = dict(call.record)
        record |= {name: scrubber.data(record[name]) for name, scrubber in scrubbers.items() if record.get(name)}
        own = {"match": match.uid} | {
            name: getattr(call, name) for name in ("role", "answering", "at", "outcome", "cost")
        }
        row = Row(**nothing | record | own)
        about = {name: getattr(row, name) for name in ("match", "role", "answering", "conversation", "try_number")}
        tools = enumerate(row.tools or (), start=1)
        yield row, [Row(**no_tool | tool | about | {"place": place}) for place, tool in tools]


def excluded_call_rows(match: PlayedMatch) -> Iterator[Row]:
    """Yield the sums of the calls in a match that is not in the dataset, by role and model."""
    if not match.reading.source.asks_models:
        return
    calls = Call.objects.filter(match_uid=match.match.uid).order_by("role", "model").values("role", "model")
    is_failed, is_rule_break = (Q(outcome=outcome) for outcome in (Call.Outcome.FAILED, Call.Outcome.RULE_BREAK))
    sums = {"calls": Count("pk"), "failed": Count("pk", filter=is_failed), "cost": Sum("cost")}
    for row in calls.annotate(**sums, rule_breaks=Count("pk", filter=is_rule_break)):
        agent = match.label(row["role"])
        yield Row(match=match.uid, cell=match.place.cell, reason=match.reasons[0], agent=agent, **row)


# ---- people ----------------------------------------------------------------------------------------------


def _steps(design: Design) -> Iterator[Column]:
    for label in design.source.steps:
        meaning = f"Time from showing the step “{label}” to its answer; empty if it was not answered."
        yield Column(label, "number", meaning, unit="seconds")


def _conditions(design: Design) -> Iterator[Column]:
    for name in design.source.conditions:
        meaning = f"Whether the stage “{name}” was shown, as its condition said when it was reached."
        yield Column(as_column(name), "boolean", meaning, values="true, false; empty if it was not reached")


def _checks(design: Design) -> Iterator[Column]:
    for check in design.source.checks:
        name, label = check.name, check.label
        result = f"Result of the check “{label}”; empty if it was not reached or not asked."
        yield Column(f"{label}_passed", "boolean", result, values="true, false")
        tries = f"Number of answers to the check “{label}”, the last one included."
        yield Column(f"{label}_tries", "integer", tries, unit="tries")
        if name != "code_word":  # the typed text may be a secret of the study, or anything at all
            answers = (
                "Every answer to the check “{}”, in order." if name == "comprehension" else "Answer to the check “{}”."
            )
            yield Column(f"{label}_answered", "json", answers.format(label))


_KINDS: Mapping[str, Kind] = {
    "single": "choice", "multiple": "text", "scale": "integer", "matrix": "choice", "slider": "number",
    "number": "number", "date": "text", "text": "text", "long": "text", "ranking": "text",
}  # fmt: skip


def _answers(design: Design) -> Iterable[Column]:
    """Return the columns of all questions; of those with the same name, the last."""
    columns = (column for asked in design.source.questions.values() for column in _answers_to(asked))
    return {column.name: column for column in columns}.values()


def _answers_to(asked: AskedQuestion) -> list[Column]:
    """Return the columns of one question: one per row of a matrix."""
    question = asked.question
    options = "; ".join(question.options)
    values = {
        "scale": f"1 {question.low} to {question.points} {question.high}".replace("  ", " ").strip(),
        "multiple": f"the chosen ones of: {options}",
        "ranking": f"from the first place to the last: {options}",
        "date": "year-month-day",
        **dict.fromkeys(FREE_TEXT, "names and identifiers are replaced by markers"),
    }.get(question.kind, options)
    about = f"Answer {'before' if asked.before_game else 'after'} the game, of those with a match in the dataset"
    texts = [f"{question.text} – {row.text}" for row in question.rows] or [question.text]
    return [
        Column(name, _KINDS[question.kind], f"{about}: {text}", values=values, unit=question.unit)
        for name, text in zip(asked.columns, texts, strict=True)
    ]


def _duration(design: Design) -> Iterator[Column]:
    """Yield the duration of the enrolment, where points in time are cut."""
    if design.times != "exact":
        yield Column(
            "seconds",
            "number",
            "Time from arriving to the end of the enrolment, which the points in time no longer show; empty before the "
            "end.",
            unit="seconds",
        )


class Participants:
    """One row for everybody who arrived and was given a place, in the dataset or not; empty if no one took part."""

    participant = column.identifier("Pseudonym, the same in every file.", of="enrolment.pseudonym")
    state = column.choice(
        "The participant's state.", values=", ".join([*State.values, gate.IN_PROGRESS]), of="facts.state"
    )
    stage = column.choice(
        "How far the participant got.",
        values="; ".join(f"{name}: {meaning}" for name, meaning in gate.STAGES.items()),
    )
    role = column.choice("The participant's role.", of=lambda p: p.placement.role or None)
    language = column.choice(
        "Language of the participant's pages: the study's, or the one they chose.",
        values=", ".join(LANGUAGES),
        of="enrolment.language",
    )
    cell = column.integer(
        "Number of the cell within the version; empty if the enrolment ended before a cell was drawn.",
        of="cell_number",
    )
    version = column.integer("Version of the study, as in the manifest.", of="version.number")
    factors = spread(designs.factors_between, "factor_")
    assignment_rule = column.choice(
        "How the cell was drawn; every assignment column is empty if none was.",
        values="blocks: from permuted blocks; random: by weight; emptiest: among the emptiest",
        of=lambda p: p.draw.get("rule"),
    )
    assignment_number = column.integer("Number of the draw within the version.", of=lambda p: p.draw.get("number"))
    assignment_stratum = column.json(
        "Earlier answers within which cells fill evenly, in the order of the plan's strata.", of="stratum"
    )
    assignment_block = column.integer(
        "Number of the permuted block within the stratum, from 0.", of=lambda p: p.draw.get("block")
    )
    assignment_open = column.json(
        "The cells that could be drawn, by number, each with its probability.",
        of=lambda p: p.open_cells if p.draw else None,
    )
    assignment_probability = column.number(
        "Probability of the participant's cell in that draw.",
        "from 0 to 1",
        of=lambda p: p.open_cells.get(p.cell_number),
    )
    assignment_forced = column.boolean(
        "Whether the participant's link named the cell, so that nothing was drawn.",
        values="true, false",
        of=lambda p: p.draw.get("forced"),
    )
    assignment_completes = column.boolean(
        "Whether the draw was among cells with a group that was forming.",
        values="true, false",
        of=lambda p: bool(p.draw.get("completes")) if p.draw else None,
    )
    assignment_seed = column.text(
        "Repeats the draw: Python's random.Random(seed).random(), compared with the running sum of the probabilities.",
        of=lambda p: p.draw.get("seed"),
    )
    match = column.identifier(
        "The participant's match, if it is in the dataset.",
        of=lambda p: next((match.uid for match in p.matches if not match.reasons), None),
    )
    person = column.identifier(
        "Pseudonym of this person's first participation in any study on this server, as far as the recruiter "
        "identifies people; the same in all later ones."
    )
    participations_before = column.integer(
        "Number of the person's earlier placements on this server, in this study or others.", "participations"
    )
    recruiter = column.choice("The recruiter; empty once the person's data were erased.")
    arrived_at = column.time("When the participant arrived.", "UTC", of="enrolment.arrived_at")
    ended_at = column.time("When the enrolment ended; empty before that.", "UTC")
    duration = spread(_duration)
    unanswered = column.choice(
        "Kinds of the steps after the game that a participant who completed left open, separated by semicolons: "
        "their answers are missing.",
        values="quiz, questions; empty if none",
        of=lambda p: ";".join(p.unanswered) or None,
    )
    seconds = spread(_steps, "seconds_")
    shown = spread(_conditions, "shown_")
    checks = spread(_checks, "check_")
    answers = spread(_answers)
    repeated_messages = column.integer(
        "Messages that repeat an earlier one by the same participant. A signal: it excludes no one.",
        "messages",
        values="empty if none was written in a match in the dataset, or if they were erased",
        of=signals.repeated_messages,
    )
    repeated_answers = column.integer(
        "Free-text survey answers that repeat an earlier one by the same participant. A signal: it excludes no one.",
        "answers",
        values="empty if none was given, or if they were erased",
        of=signals.repeated_answers,
    )
    longest_line = column.integer(
        "Longest run of scales or rows of a matrix on one page with the same point chosen. A signal: excludes no one.",
        "questions",
        values="empty if fewer than two scales were answered",
        of=signals.longest_line,
    )
    agent_score = column.number(
        "Strength of the evidence that a program used the participant's pages. A signal: it excludes no one and "
        "doesn't affect pay.",
        "from 0 to 1",
        values="empty if nothing was counted",
        of=lambda p: score.value if (score := signals.agent_score(p)) else None,
    )
    agent_reasons = column.choice(
        "Reasons, separated by semicolons, strongest first.",
        values="; ".join(f"{name}: {meaning}" for name, meaning in MEANINGS.items()),
        of=lambda p: ";".join(score.reasons) or None if (score := signals.agent_score(p)) else None,
    )
    agent_flag = column.boolean(
        f"Whether the score reaches {THRESHOLD}: a hint for analyses with and without these participants.",
        values="empty if nothing was counted",
        of=lambda p: score.flagged if (score := signals.agent_score(p)) else None,
    )
    authenticity = column.choice(
        "Result of the recruiter's own authenticity check of the participant's free texts, as last reported or "
        "imported. A signal: it excludes no one and doesn't affect pay.",
        values=f"{', '.join(Submission.Authenticity.values)}; empty if the recruiter reported none",
        of=lambda p: p.enrolment.submission.authenticity or None if hasattr(p.enrolment, "submission") else None,
    )
    in_dataset = column.boolean("Whether a match of this participant is in the dataset.", values="true, false")
    reason = column.choice("The reason counted in the flow.", of=lambda p: next(iter(p.reasons), None))
    reasons = column.choice(
        "Every reason that applies, in order, separated by semicolons.",
        values="; ".join(f"{name}: {meaning}" for name, meaning in gate.REASONS.items()),
        of=lambda p: ";".join(p.reasons) or None,
    )


class Excluded:
    """One row per excluded participant with the reason, without content."""

    participant = Participants.participant
    match = column.identifier(
        "The excluded match; empty if none was opened.", of=lambda p: next((match.uid for match in p.matches), None)
    )
    stage = Participants.stage
    reason = Participants.reason
    reasons = Participants.reasons


class Signals:
    """One row per page with signals from a participant's browser, summed over its loadings. Browsers without
    JavaScript send none. Signals exclude no one and don't affect pay.
    """

    participant = Participants.participant
    position = column.integer("Position of the page on the path, from 0.")
    step = column.choice(
        "Kind of the step, as in the columns seconds_… of participants.csv, without its name.", of="kind"
    )
    loadings = column.integer("Number of times the page was loaded.", "loadings")
    seconds_open = column.number("How long the page was open.", "seconds", of=lambda use: use.open_ms / 1000)
    seconds_visible = column.number(
        "Of that time, how long the page was visible.", "seconds", of=lambda use: use.visible_ms / 1000
    )
    times_hidden = column.integer(
        "How often the page was hidden: another tab, a locked screen, or leaving it for the next page.",
        "times",
        of="hidden",
    )
    times_blurred = column.integer(
        "How often another window was in front while the page stayed visible.", "times", of="blurred"
    )
    pastes = column.integer("How often something was pasted into a field.", "times")
    characters_pasted = column.integer(
        "Number of characters pasted; the text is not stored.", "characters", of="pasted"
    )


class Behaviour:
    """One row per page, and per question of a game, with counts of input events from a participant's browser, summed
    over its loadings; only for people who were informed and agreed. It excludes no one and doesn't affect pay.
    """

    participant = column.identifier("Pseudonym.", of="participant.enrolment.pseudonym")
    position = Signals.position
    step = column.choice("Kind of the step.", of="kind")
    match = column.identifier("The match to which the question belongs.")
    answering = column.integer(
        "Number of the event that opened the question; empty for the page itself.", of="question"
    )
    seconds = column.number(
        "Time from its display to the last answer.",
        "seconds",
        of=lambda use: use.answered_ms / 1000 if use.answered_ms else None,
    )
    words = column.integer("Words on the page or on the game's screen.", "words")
    keys = column.integer("Keys pressed in fields; which keys is not recorded.", "keys")
    intervals = column.integer(
        "Number of intervals of less than two seconds between two keys in one field.", "intervals"
    )
    interval_ms = column.integer("Sum of these intervals.", "milliseconds")
    interval_sq = column.integer("Sum of their squares, to compute their spread.", "milliseconds²")
    typed = column.integer("Characters that appeared with a key just pressed.", "characters")
    untyped = column.integer("Characters that appeared without: dictation, an extension, a program.", "characters")
    pasted = column.integer("Characters that were pasted or dropped.", "characters")
    clicks = column.integer("Clicks of a mouse.", "clicks")
    jumps = column.integer("Of these, clicks without pointer movement before them.", "clicks")
    wide = column.integer("Of the clicks, those on targets of 40 pixels or more.", "clicks")
    centred = column.integer("Of the clicks on such targets, those in the exact centre.", "clicks")
    travel = column.integer("Distance that the pointer moved.", "pixels")
    touches = column.integer("Activations by touch or pen.", "times")
    keyboard = column.integer("Activations by the keyboard or a screen reader.", "times")
    untrusted = column.integer("Clicks and input that a script made.", "times")
    trapped = column.boolean(
        "Whether the hidden field that only programs see was filled in.", of=lambda use: use.trapped > 0
    )


class Help:
    """One row per message between a participant in the dataset and the researchers while the study ran."""

    participant = column.identifier("Pseudonym.", of="participant.enrolment.pseudonym")
    to = column.choice(
        "Whom it was written to.",
        values="researchers: by the participant; person, group, study: by the researchers to this participant, to "
        "those of a match, to everybody in the study",
    )
    sending = column.identifier("The same for what was written once to several participants.")
    match = column.identifier("The participant's live match at that time, if any.")
    at = column.time("When it was sent.", "UTC")
    text = column.text("The text, with markers as in messages.csv.")
    answered_at = column.time("Questions: when the researchers answered or closed it; empty if never.", "UTC")
    read_at = column.time("Of the researchers: when the participant's page showed it; empty if never.", "UTC")


class Payments:
    """One row per amount owed to a participant; the pay rules are in versions.json."""

    participant = Participants.participant
    reason = column.choice("Kind of payment.", values="base, bonus, screen_out, part")
    amount = column.number("Amount owed.", "the currency")
    currency = column.choice("Currency of the amount.", values="ISO 4217")
    state = column.choice("State of the payment.", values=", ".join(LedgerRow.State.values))
    ending = column.choice("The ending that is paid for.", of=lambda row: row.workings.get("ending"))
    payoff = column.number("Payoff on which the amount is based.", MONEY, of=lambda row: row.workings.get("payoff"))
    share = column.number(
        "Success score on which the amount is based.", "from 0 to 1", of=lambda row: row.workings.get("share")
    )
    played = column.number(
        "Share of the matches played until the ending; empty if the pay does not depend on it.",
        "from 0 to 1",
        of=lambda row: row.workings.get("played"),
    )
    created_at = column.time("When it became due.", "UTC")
    approved_at = column.time("When it was last approved.", "UTC")
    sent_at = column.time("When the recruiter was last asked to pay it.", "UTC")
    settled_at = column.time("When it was confirmed as paid, or written off.", "UTC")
    paid_by_hand = column.boolean(
        "Whether a person, not the recruiter, reported it as paid.", values="true, false", of="by_hand"
    )
    rejected = column.boolean("Whether it was written off because the work was rejected.", values="true, false")


def people_rows(participant: Participant) -> Iterator[tuple[str, Any]]:
    """Yield (table, row) of everything about one participant outside their matches."""
    yield "participants", participant
    if not participant.in_dataset:
        yield "excluded", participant
    yield from (("signals", use) for use in signals.page_uses(participant))
    yield from (("behaviour", counts) for counts in signals.input_counts(participant))
    yield from (("help", row) for row in participant.help_messages)
    yield from (("payments", row) for row in participant.ledger)


# ---- the dataset about itself ------------------------------------------------------------------------------


class Cells:
    """One row per cell of every version (in collections, per configuration), played or not. If a study has several
    games, parameters and seats are the first one's.
    """

    version = derived.Matches.version
    cell = column.integer("Number within the version.")
    factors = spread(designs.factors_between, "factor_")
    kind = column.choice("Kind of the published row that the configuration is.", values="may be empty")
    seats = column.json("Who takes each seat: person, an agent's label, or several labels from which one is drawn.")
    quota = column.integer("Number of complete matches needed; empty for later stages and imports.", "matches")
    weight = column.integer("How often the cell is drawn, compared with the others.")
    sha256 = column.identifier("Hash of the cell's plan: equal where participants of several versions met the same.")
    base_pay = column.number("Base pay.", "the currency")
    announced_average = column.number("The average bonus that participants are told.", "the currency")
    currency = column.choice("Currency of the pay.", values="ISO 4217")
    participants = column.integer("Number of participants placed in the cell.", "participants")
    matches = column.integer("Matches started.", "matches")
    matches_in_dataset = column.integer("Of these, matches in the dataset.", "matches")
    config = spread(parameters, "config_")


_CELLS_OF_STUDIES = frozenset(
    {"kind", "seats", "weight", "sha256", "base_pay", "announced_average", "currency", "participants"}
)


def _cells(design: Design) -> Table:
    table = table_of(Cells, design)
    if isinstance(design.source, StudySource):
        return table
    return Table(table.name, table.meaning, [own for own in table.columns if own.name not in _CELLS_OF_STUDIES])


class Flow:
    """Number of participants who reached each stage, and why the others left; each is counted once."""

    stage = column.choice("Stage reached, in order.", values=", ".join(gate.STAGES))
    what = column.choice(
        "reached, or the reason why some went no further.", values=", ".join(["reached", *gate.REASONS])
    )
    participants = column.integer("Number of participants.", "participants")


class Ratings:
    """One row per agent: its strength in the collection's finished matches, by the Bradley–Terry model with seats."""

    agent = column.text("The agent's label.", of="label")
    rank = column.integer("Its rank; 1 is best.")
    rank_low = column.integer("Lower end of the rank's 95 % interval; empty if there are too few independent units.")
    rank_high = column.integer("Upper end of the rank's interval.")
    strength = column.number(
        "Its strength: the odds of scoring more than another agent are exp(difference of strengths); their mean is 0. "
        "Empty if it won, or lost, everything."
    )
    low = column.number("Lower end of the strength's 95 % interval.")
    high = column.number("Upper end of the strength's 95 % interval.")
    matches = column.integer("Number of matches on which it is based.", "matches")
    clusters = column.integer(
        "Independent units among them: matches with one seed, or with the same results of the same agents in the same "
        "seats, are one.",
        "units",
    )
    note = column.text("Why there is no interval.")


class Codebook:
    """One row per column of every table, and per key of transcripts.jsonl."""

    table = column.text("File without its ending.")
    column_ = column.text("Column or key.", of="name")
    meaning = column.text("What the column or key holds.")
    kind = column.choice("Type of its values.", values=", ".join(get_args(Kind)))
    unit = column.text("Unit of its values.")
    values = column.text("Values that occur, or their range.")


def tables(shape: Shape, source: Source, times: Times = "exact") -> dict[str, Table]:
    """Return every table of a dataset by name."""
    design = Design(shape, source, times)
    all_tables = [
        *(
            table_of(rows, design)
            for rows, _yields in derived.ROWS.values()
            if rows is not derived.Chat or source.chats
        ),
        table_of(Participants, design),
        table_of(Signals, design),
        table_of(Behaviour, design),
        table_of(Help, design),
        table_of(LlmCalls, design, "llm_calls"),
        table_of(ToolCalls, design, "tool_calls"),
        table_of(ExcludedCalls, design, "excluded_calls"),
        table_of(Payments, design),
        table_of(Excluded, design),
        _cells(design),
        table_of(Flow, design),
        table_of(Codebook, design),
    ]
    return {table.name: table for table in all_tables}
