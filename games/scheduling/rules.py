"""Scheduling: assign workers to tasks, period after period, until there are no blocking pairs.

Source: EconEvals, section 3.2. Preferences are hidden; after each attempt, players are told some *blocking pairs*:
a worker and a task that both prefer each other to what they were assigned. A matching without such pairs is stable.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Annotated, Any

from games.interface import Chance, Form, Json, MoveData, Prospect, Role, Text, Tool
from games.periods import AGENT, NoteMove, form_for_instance, instance_of, lookup, refuse_matching
from games.practice import BeginMove, Benchmark, practice_names
from games.results import Count, JsonText, Ratio, RoundRecord, Row, Share, column, in_unit
from games.scheduling import baselines, quiz, views
from games.scheduling.instances import KINDS, LEVELS, Instance, draw, numbered
from games.scheduling.state import FORM, AssignmentMove, Attempt, Attempts, SchedulingConfig
from games.words import gettext as _
from games.words import gettext_noop


class Scheduling(Benchmark[SchedulingConfig, Attempts]):
    """A manager searches for a stable schedule."""

    title = gettext_noop("Scheduling")
    summary = gettext_noop("A manager assigns workers to tasks, period after period, until the schedule is stable.")
    scripts = baselines.SCRIPTS
    default_script = "repair"
    starting_config = {"level": "small", "periods": 12, "practice": True}
    oracles = frozenset({"optimum"})
    reserved_words = "worker task schedule pair blocking period note assignment"
    screen = views.SCREEN
    questions = quiz.QUESTIONS
    asks = gettext_noop("Period {period}: submit a schedule.")
    move_types = (AssignmentMove, NoteMove, BeginMove)

    class Results(Row):
        score: Ratio = column("1 - blocking pairs / their expectation.", source="EconEvals, section 3.2")
        blocking_pairs: Count = column("Blocking pairs of the last matching.")
        expected_blocking_pairs: Annotated[float, in_unit("pairs", 0)] = column("Expected number in a random matching.")
        solved: bool = column("Whether a stable matching was found.")
        exploration_rate: Share = column("Number of different matchings as a share of all matchings.")
        periods_played: Count = column("Periods played.")

    class Record(RoundRecord):
        assignment: JsonText = column("The matching, as JSON.")
        blocking_pairs: Count = column("Number of its blocking pairs.")
        told: JsonText = column("The blocking pairs that were reported, as JSON.")

    # ---- playing -----------------------------------------------------------------------------------

    def begin(self, chance: Chance) -> Attempts:
        config = self.config
        if config.instance is not None:
            return Attempts(instance=config.instance)
        count, _max_pairs = LEVELS[config.level]
        workers, tasks = practice_names(count) if self.is_practice else numbered(count)

        def sample(rng: Random) -> dict[str, Any]:
            seed = config.instance_seed
            kinds = KINDS if config.preferences is None else (config.preferences,)
            kind = rng.choice(kinds) if seed is None and len(kinds) > 1 else kinds[(seed or 0) // 3 % len(kinds)]
            return draw(workers, tasks, kind, config.rng_for(rng, self.key, config.level, kind))

        return Attempts(instance=instance_of(Instance, chance.draw("instance", sample, known_to=())))

    def period(self, state: Attempts) -> int:
        return len(state.attempts)

    def submission(self, state: Attempts, role: Role) -> Form:
        return form_for_instance(
            FORM, state.instance.workers, state.instance.tasks, last=self.last_submission(state, role)
        )

    def over(self, state: Attempts) -> bool:
        """Return whether the last period is over or a matching was stable."""
        return super().over(state) or (bool(state.attempts) and state.attempts[-1].blocking == 0)

    def refuse_submission(self, state: Attempts, role: Role, move: Any) -> str | None:
        workers, tasks = state.instance.workers, state.instance.tasks
        return refuse_matching(move.assignment, workers, tasks, _("worker"), _("task"))

    @property
    def max_pairs_reported(self) -> int:
        """The maximum number of blocking pairs reported after an attempt."""
        return LEVELS[self.config.level][1] if self.config.feedback is None else self.config.feedback

    def submitted_before(self, state: Attempts, role: Role, move: Any) -> int | None:
        """Return the period of the same schedule, but not in the last one, where it may be the best that is known."""
        if self.is_last(state):
            return None
        return next((t for t, attempt in enumerate(state.attempts) if attempt.matching == move.assignment), None)

    def submitted(self, state: Attempts, moves: Mapping[Role, Any], chance: Chance) -> Attempts:
        assignment = moves[AGENT].assignment
        matching = {worker: assignment[worker] for worker in state.instance.workers}
        earlier = next((attempt for attempt in state.attempts if attempt.matching == matching), None)
        if earlier is not None:
            return replace(state, attempts=(*state.attempts, earlier))
        blocking = state.instance.blocking_pairs(matching)
        reported = blocking
        if len(blocking) > self.max_pairs_reported:
            indices = chance.draw("told", lambda rng: sorted(rng.sample(range(len(blocking)), self.max_pairs_reported)))
            reported = [blocking[index] for index in indices]
        return replace(state, attempts=(*state.attempts, Attempt(matching, len(blocking), tuple(reported))))

    def last_submission(self, state: Attempts, role: Role) -> MoveData | None:
        return {"assignment": dict(state.attempts[-1].matching)} if state.attempts else None

    def first_submission(self, state: Attempts, role: Role) -> MoveData:
        """Return the identity matching: the first worker does the first task, and so on."""
        return {"assignment": dict(zip(state.instance.workers, state.instance.tasks, strict=True))}

    # ---- the result --------------------------------------------------------------------------------

    def score(self, state: Attempts) -> float:
        """Return 1 - b/E: b blocking pairs of the last matching, E expected in a random one; 1 if E is 0."""
        expected = state.instance.expected_blocking_pairs
        return 1 - state.attempts[-1].blocking / expected if expected else 1.0

    def so_far(self, state: Attempts, role: Role) -> Prospect:
        words = _("It depends on how few blocking pairs your last schedule has.")
        return Prospect("", unknown=words)

    def metrics(self, state: Attempts) -> Results:
        distinct_matchings = {json.dumps(attempt.matching, sort_keys=True) for attempt in state.attempts}
        return self.Results(
            score=self.score(state),
            blocking_pairs=state.attempts[-1].blocking,
            expected_blocking_pairs=state.instance.expected_blocking_pairs,
            solved=state.attempts[-1].blocking == 0,
            exploration_rate=len(distinct_matchings) / len(state.attempts),
            periods_played=len(state.attempts),
        )

    def records(self, state: Attempts) -> Sequence[Record]:
        """Return one row per period."""
        return [
            self.Record(
                round=number,
                role=AGENT,
                assignment=json.dumps(attempt.matching),
                blocking_pairs=attempt.blocking,
                told=json.dumps(attempt.told),
            )
            for number, attempt in enumerate(state.attempts, start=1)
        ]

    def ended_how(self, moves: Sequence[tuple[Role, MoveData]]) -> str:
        """Return "stable" if the match ended early, else "last period", whose matching may be stable too."""
        submitted = sum(phase == "submission" for _period, phase in self.stages(moves))
        return "stable" if submitted < self.config.periods else "last period"

    # ---- texts and views ---------------------------------------------------------------------------

    def secrets(self, role: Role) -> frozenset[str]:
        """Hide how preferences were drawn; the number of periods is no secret, since the last one is announced."""
        return frozenset({"preferences"})

    def text_variables(self, role: Role) -> dict[str, Any]:
        return {"max_pairs_reported": self.max_pairs_reported}

    def lookups(self, state: Attempts, role: Role) -> Sequence[Tool]:
        return (
            self.history(
                state,
                role,
                "get_previous_attempts_data",
                _("Every earlier assignment, and what is wrong with it.")
                if self.told_as_published
                else _("Every earlier period: the schedule, and the blocking pairs that were reported."),
                under="attempts",
            ),
            lookup(
                "get_worker_ids",
                _("The names of all workers."),
                lambda: {"workers": list(state.instance.workers)},
                "situation",
            ),
            lookup(
                "get_task_ids", _("The names of all tasks."), lambda: {"tasks": list(state.instance.tasks)}, "situation"
            ),
        )

    def past_period(self, state: Attempts, t: int, role: Role) -> dict[str, Json]:
        attempt = state.attempts[t]
        if self.told_as_published:
            problems = [self._problem(attempt.matching, worker, task) for worker, task in attempt.told]
            return {"period": t, "assignment": dict(attempt.matching), "problems": problems}
        pairs = [list(pair) for pair in attempt.told]
        return {"period": t, "assignment": dict(attempt.matching), "problem_pairs": pairs}

    def _problem(self, matching: Mapping[str, str], worker: str, task: str) -> str:
        """Return a blocking pair in words, as the authors' program does (EconEvals, H.2)."""
        other = next(name for name, done in matching.items() if done == task)
        words = _(
            "{worker} does {present}, and {task} is done by {other}. {worker} would have preferred {task}, and "
            "{worker} suits {task} better than {other} does."
        )
        return words.format(worker=worker, present=matching[worker], task=task, other=other)

    def status(self, state: Attempts) -> Text:
        """Return what happens now; announce the last period."""
        if self.over(state):
            if state.attempts[-1].blocking == 0:
                return Text("status", _("Your schedule has no blocking pair: the game ends here."), tone="good")
            return Text("status", _("The last period is over."), tone="notice")
        if not self.is_last(state):
            return super().status(state)
        template = _(
            "Period {period} is the last one: submit the schedule with the fewest blocking pairs you can find."
        )
        return Text("status", template.format(period=self.shown_period(self.period(state))), tone="notice")
