"""CoopEval's records of one tournament: a folder with config.json, records.jsonl and matchup_payoffs.json.

config.json names game, mechanism and agents. Each line of records.jsonl is one match: the moves of a round, a list of
rounds, or what a mediator or contract adds to them; under reputation, the only line has every group of every round.
matchup_payoffs.json repeats the points by line-up and round. Proposals are in a file of their own, because the
published tournaments reuse an agent's proposal in all its matches. docs/published.md describes the layout.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from analysis.parallel import in_order
from exports.published import (
    FAULTY,
    TOLERANCE,
    Disagreement,
    Imported,
    Unreadable,
    UnreadableRecord,
    imported,
    read_or_said,
)
from games import registry
from games.interface import Event, Game, Json, MoveData, Role
from games.play import Play, configure, replay_moves

GAME = "social_dilemma"
CONFIG, RECORDS, PAYOFFS = "config.json", "records.jsonl", "matchup_payoffs.json"
DESIGNS = {"mediation": ("mediator_design.json", "mediator"), "contract": ("contract_design.json", "contract")}
GAMES: Mapping[str, str] = {
    "PrisonersDilemma": "prisoners_dilemma",
    "PublicGoods": "public_goods",
    "TravellersDilemma": "travelers_dilemma",
    "TrustGame": "trust",
    "StagHunt": "stag_hunt",
    "MatchingPennies": "matching_pennies",
}
MECHANISMS: Mapping[str, str] = {
    "NoMechanism": "none",
    "Repetition": "repetition",
    "ReputationFirstOrder": "reputation_first_order",
    "Reputation": "reputation_higher_order",
    "Mediation": "mediation",
    "Contracting": "contract",
}
FIRST_ACTIONS = ("COOPERATE", "CONTRIBUTE", "GIVE", "STAG", "HEADS")
PARAMETERS: Mapping[str, str] = {"num_rounds": "rounds", "discount": "continuation", "lookup_depth": "history_depth"}
BOUND = 1000
"""Largest payment that our contracts allow; published ones are unbounded."""
SEEDS = 200
"""Number of seeds among which one is sought that draws the published winner of a tied vote."""
_PLAYER = re.compile(r"(.+)#P(\d+)")

Points = Sequence[Mapping[Role, float]]
"""Every seat's published points, by round."""


@dataclass(frozen=True)
class Record:
    """A published match in our terms.

    Attributes:
        players: labels of agents by role.
        results: further published results by the names of our metrics.
        remark: what our rules could not take over.
    """

    players: Mapping[Role, str]
    moves: Sequence[tuple[Role, MoveData]]
    points: Points
    results: Mapping[str, Json]
    config: Mapping[str, Json]
    remark: str | None = None


@dataclass(frozen=True)
class Experiment:
    """The folder of one tournament.

    Attributes:
        repetition: number among the folders with the same game and mechanism, from 1.
    """

    root: Path
    folder: Path
    repetition: int
    settings: Mapping[str, Any]

    @property
    def name(self) -> str:
        return self.folder.relative_to(self.root).as_posix() if self.folder != self.root else self.folder.name

    @cached_property
    def config(self) -> dict[str, Json]:
        """Our configuration, without a schedule."""
        mechanism = self.settings["mechanism"]
        parameters = mechanism.get("kwargs") or {}
        config: dict[str, Json] = {
            "base_game": GAMES[self.settings["game"]["type"]],
            "mechanism": MECHANISMS[mechanism["type"]],
            "stopping": "published",
            **{ours: parameters[theirs] for theirs, ours in PARAMETERS.items() if theirs in parameters},
        }
        return config | ({"contract_bound": BOUND} if config["mechanism"] == "contract" else {})

    @property
    def mechanism(self) -> str:
        return str(self.config["mechanism"])

    @cached_property
    def rules(self) -> Game[Any, Any]:
        return configure(registry.get(GAME), self.config)

    @cached_property
    def base(self) -> Any:
        return self.rules.base  # type: ignore[attr-defined]

    @cached_property
    def designs(self) -> dict[tuple[str, int], MoveData]:
        """Every agent's proposal as a move, by its label and position."""
        if self.mechanism not in DESIGNS:
            return {}
        file, key = DESIGNS[self.mechanism]
        read = {_player(name): entry[key] for name, entry in _json(self.folder / file).items()}
        if key == "mediator":
            return {who: {key: {str(n): action_of(a) for n, a in design}} for who, design in read.items()}
        return {who: {key: {action_of(a): v for a, v in design.items()}} for who, design in read.items()}

    @cached_property
    def paid(self) -> dict[tuple[str, ...], list[list[float]]]:
        """The points by round and position, by line-up, as matchup_payoffs.json has them; {} under reputation."""
        path = self.folder / PAYOFFS
        profiles = _json(path)["profile"] if path.is_file() else []
        return {
            tuple(map(_label, profile["players"])): profile["payoffs"][0]
            for profile in profiles
            if "players" in profile
        }

    def matches(self) -> Iterator[Imported | Unreadable]:
        """Yield every match in the order of its lines."""
        path = self.folder / RECORDS
        try:
            lines = path.read_text("utf-8").splitlines() if path.is_file() else None
            line_ups = [*self.paid.items()] if lines is None else []
        except FAULTY as error:
            yield Unreadable(self.name, str(error))
            return
        if lines is not None:
            for number, line in enumerate(lines, start=1):
                yield self._match(f"{self.name}/{number}", partial(self._record, line))
        elif line_ups and self.mechanism in ("none", "repetition"):
            for number, (labels, rounds) in enumerate(line_ups, start=1):
                yield self._match(f"{self.name}/{number}", partial(self._inferred, labels, rounds))
        else:
            yield Unreadable(f"{self.name}/{RECORDS}", "The file is missing.")

    def _match(self, name: str, record: Callable[[], Record]) -> Imported | Unreadable:
        return read_or_said(name, lambda: self._imported(name, record()))

    # ---- reading a line ----------------------------------------------------------------------------------

    def _record(self, text: str) -> Record:
        line = json.loads(text)
        match self.mechanism:
            case "none":
                return self._rounds([line])
            case "repetition":
                return self._rounds(line)
            case "mediation" | "contract":
                return self._agreed(*line)
        return self._population(line)

    def _rounds(self, rounds: Sequence[Any]) -> Record:
        """Return a match of the same seats in every round."""
        players = self._seated(rounds[0])
        moves: list[tuple[Role, MoveData]] = []
        points = []
        for in_round in rounds:
            if self._seated(in_round) != players:
                raise UnreadableRecord("The players change from round to round.")
            by_role = self._by_role(in_round)
            moves += [(role, {"action": action_of(move["action"])}) for role, move in by_role.items()]
            points.append({role: move["points"] for role, move in by_role.items()})
        if len(rounds) != self.config.get("rounds", 1):
            raise UnreadableRecord(f"It has {len(rounds)} rounds; {CONFIG} says {self.config.get('rounds', 1)}.")
        return Record(players, moves, points, {}, self.config)

    def _agreed(self, line: Mapping[str, Any]) -> Record:
        """Return a match with proposals, votes, signatures under a contract, and one round."""
        players = self._seated(line["moves"])
        by_role = self._by_role(line["moves"])
        mediated, letter = self.mechanism == "mediation", "M" if self.mechanism == "mediation" else "C"
        proposals: Mapping[Role, MoveData] = {
            role: self.designs[label, position] for position, (role, label) in enumerate(players.items(), 1)
        }
        remark = None
        if not mediated:
            proposals, remark = _within_bound(proposals)
        votes = {_role(entry["voter_name"]): entry["votes"] for entry in line["votes"]}
        moves: list[tuple[Role, MoveData]] = [*proposals.items()]
        moves += [(role, {"approve": {f"{letter}{n}": vote for n, vote in votes[role].items()}}) for role in players]
        results: dict[str, Json] = {"winner": line[f"selected_{DESIGNS[self.mechanism][1]}_index"]}
        if mediated:
            delegated = [role for role, move in by_role.items() if move.get("mediated")]
            results["delegation_rate"] = len(delegated) / len(players)
        else:
            delegated = []
            signed = {_role(name): entry["agree"] for name, entry in line["signatures"].items()}
            moves += [(role, {"sign": signed[role]}) for role in players]
            results["contract_active"] = line["all_signed"]
        actions = {role: action_of(move["action"]) for role, move in by_role.items()}
        moves += [(role, {"action": "delegate" if role in delegated else actions[role]}) for role in players]
        return Record(players, moves, [{r: m["points"] for r, m in by_role.items()}], results, self.config, remark)

    def _population(self, groups: Sequence[Any]) -> Record:
        """Return a match of a population: round by round, groups of one agent per position."""
        seats = self.base.seats
        labels = list(dict.fromkeys(_player(move["player"])[0] for group in groups for move in group))
        size = len(labels)
        if len(groups) != size * self.config["rounds"]:
            raise UnreadableRecord(f"It has {len(groups)} groups; {size} agents need {size * self.config['rounds']}.")

        def role(player: str) -> Role:
            label, position = _player(player)
            return f"p{labels.index(label) * seats + position}"

        players = {f"p{agent * seats + j}": label for agent, label in enumerate(labels) for j in range(1, seats + 1)}
        moves: list[tuple[Role, MoveData]] = []
        points, schedule = [], []
        for first in range(0, len(groups), size):
            in_round = groups[first : first + size]
            schedule.append(
                [sorted((role(move["player"]) for move in group), key=_position(seats)) for group in in_round]
            )
            by_role = {role(move["player"]): move for group in in_round for move in group}
            moves += [(each, {"action": action_of(by_role[each]["action"])}) for each in players]
            points.append({each: by_role[each]["points"] for each in players})
        return Record(players, moves, points, {}, {**self.config, "population": size, "schedule": schedule})

    def _inferred(self, labels: Sequence[str], rounds: Sequence[Sequence[float]]) -> Record:
        """Return a match of whose moves only the points are known: the first actions that give them."""
        found, ambiguous = [], 0
        for paid in rounds:
            fitting = [profile for profile, points in self.base.payoffs.items() if _same(points, paid)]
            if not fitting:
                raise UnreadableRecord(f"No actions give the points {paid}.")
            found.append(fitting[0])
            ambiguous += len(fitting) > 1
        roles = [f"p{position}" for position in range(1, len(labels) + 1)]
        players = {role: _player(label)[0] for role, label in zip(roles, labels, strict=True)}
        moves = [
            (role, {"action": f"A{action}"}) for profile in found for role, action in zip(roles, profile, strict=True)
        ]
        points = [dict(zip(roles, paid, strict=True)) for paid in rounds]
        remark = f"{RECORDS} is missing: the actions are inferred from the points"
        if ambiguous:
            remark += f", in {ambiguous} of {len(rounds)} rounds one of several that give them"
        return Record(players, moves, points, {}, self.config, f"{remark}.")

    def _seated(self, moves: Sequence[Any]) -> dict[Role, str]:
        """Return the agents' labels by role, in order of position."""
        positions = sorted((_player(move["player"])[::-1]) for move in moves)
        if [position for position, _label in positions] != list(range(1, self.base.seats + 1)):
            raise UnreadableRecord(f"It does not have one player for each of the {self.base.seats} positions.")
        return {f"p{position}": label for position, label in positions}

    def _by_role(self, moves: Sequence[Any]) -> dict[Role, Any]:
        by_role = {_role(move["player"]): move for move in moves}
        return {role: by_role[role] for role in sorted(by_role)}

    # ---- playing it again --------------------------------------------------------------------------------

    def _imported(self, name: str, record: Record) -> Imported:
        rules = configure(registry.get(GAME), record.config)
        play, events, seed = _played(rules, record)
        found = partial(self._disagreements, record)
        about = {"seed": seed, "unverified": record.remark, "repetition": self.repetition}
        return imported(name, play, events, record.players, found, **about)

    def _disagreements(self, record: Record, play: Play) -> Iterator[Disagreement]:
        """Yield differences between published results and ours: points by round, payoffs, and what was agreed."""
        from analysis.published.coopeval.measures import discounted

        metrics = play.metrics()
        for name, value in record.results.items():
            if metrics[name] != value:
                yield Disagreement(name, value, metrics[name])
        points = {(row["round"], row["role"]): row["points"] for row in play.records()}
        for number, in_round in enumerate(record.points, start=1):
            for role, published in in_round.items():
                if not _same([published], [points[number, role]]):
                    yield Disagreement(f"points of {role} in round {number}", published, points[number, role])
        line_up = tuple(f"{label}#P{number}" for number, label in enumerate(record.players.values(), start=1))
        if (rounds := self.paid.get(line_up)) is None:
            return
        delta = float(self.config.get("continuation", 1.0))
        for position, (role, computed) in enumerate(play.payoffs().items()):
            paid = discounted([in_round[position] for in_round in rounds], delta)
            if computed is None or paid is None or not _same([paid], [computed]):
                yield Disagreement(f"payoff of {role} in {PAYOFFS}", paid, computed)


def _played(rules: Game[Any, Any], record: Record) -> tuple[Play, tuple[Event, ...], int]:
    """Return the play, its events and its seed: the first that draws the published winner, if a vote was tied."""
    winner = record.results.get("winner")
    for seed in range(SEEDS):
        play, events = replay_moves(rules, seed, record.moves)
        drawn = any(event.kind == "draw" and event.data["name"] == "winner" for event in events)
        if not drawn or play.metrics().get("winner") == winner:
            return play, events, seed
    play, events = replay_moves(rules, 0, record.moves)
    return play, events, 0


def _within_bound(proposals: Mapping[Role, MoveData]) -> tuple[Mapping[Role, MoveData], str | None]:
    """Return contracts with payments cut to our bound, and what was cut."""
    beyond = [v for move in proposals.values() for v in move["contract"].values() if abs(v) > BOUND]
    if not beyond:
        return proposals, None
    cut = {
        role: {"contract": {action: max(-BOUND, min(BOUND, v)) for action, v in move["contract"].items()}}
        for role, move in proposals.items()
    }
    return cut, f"A contract's payment of {beyond[0]} is beyond our bound of {BOUND}, and recorded as that."


def action_of(name: str) -> str:
    """Return A0, A1, … for the name of an action, such as "TrustGameAction.GIVE" or "…Action.CLAIM_2"."""
    name = name.rpartition(".")[2]
    if name.startswith("CLAIM_"):
        return f"A{int(name.removeprefix('CLAIM_'))}"
    return "A0" if name in FIRST_ACTIONS else "A1"


def _player(name: str) -> tuple[str, int]:
    """Return label and position of a player, such as "lab/model(CoT)#P2"."""
    parts = _PLAYER.fullmatch(name)
    if parts is None:
        raise UnreadableRecord(f"“{name[:60]}” is no player's name: it should end in #P and the position.")
    return parts[1], int(parts[2])


def _role(name: str) -> Role:
    return f"p{_player(name)[1]}"


def _label(player: Mapping[str, Any]) -> str:
    return f"{player['llm']['model']}({player['type'].removesuffix('Agent')})#P{player['player_id']}"


def _position(seats: int) -> Any:
    return lambda role: (int(role[1:]) - 1) % seats


def _same(one: Sequence[float], other: Sequence[float]) -> bool:
    return all(abs(a - b) <= TOLERANCE * max(1.0, abs(a)) for a, b in zip(one, other, strict=True))


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise UnreadableRecord(f"{path.name} is missing.") from None
    except (OSError, RecursionError) as error:
        raise UnreadableRecord(f"{path.name} cannot be read: {error}.") from None
    except ValueError as error:
        raise UnreadableRecord(f"{path.name} is not JSON: {error}.") from None


# ---- folders ---------------------------------------------------------------------------------------------


def experiments(root: Path) -> Iterator[Experiment | Unreadable]:
    """Yield the folders with a tournament below `root`, in order of their paths."""
    seen: Counter[str] = Counter()
    for path in sorted(root.rglob(CONFIG)):
        if not any((path.parent / name).is_file() for name in (RECORDS, PAYOFFS)):
            continue
        name = path.parent.relative_to(root).as_posix()
        try:
            settings = _json(path)
            same = json.dumps([settings["game"], settings["mechanism"]], sort_keys=True)
            experiment = Experiment(root, path.parent, seen[same] + 1, settings)
            _faultless = experiment.rules
        except UnreadableRecord as error:
            yield Unreadable(name, str(error))
        except FAULTY as error:
            yield Unreadable(f"{name}/{CONFIG}", f"It is not as expected: {type(error).__name__}: {error}.")
        else:
            seen[same] += 1
            yield experiment


def read(root: Path, *, processes: int | None = None) -> Iterator[Imported | Unreadable]:
    """Yield every match below `root`, replayed under our rules."""
    list(root.iterdir())
    for found in in_order(_matches_of, experiments(root), processes=processes, chunk=2, min_items=40):
        yield from found


def _matches_of(experiment: Experiment | Unreadable) -> list[Imported | Unreadable]:
    return [experiment] if isinstance(experiment, Unreadable) else [*experiment.matches()]
