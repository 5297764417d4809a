"""Agents' transcripts as logs of Inspect, a framework for evaluations of language models, for its viewer and its tools.

A log holds one game as one agent played it, and a sample is one of the agent's seats in one match. Logs are made from
a dataset alone, so they contain nothing that the dataset does not. They are written as plain data in Inspect's
published format, version 2, as inspect_ai 0.3.285 writes and reads it; inspect_ai is needed only for reading them.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from operator import itemgetter
from pathlib import Path
from typing import Any

from exports import manifest, parquet, verify
from exports.columns import described_in
from exports.csvsafe import compact_json, plain
from exports.errors import FolderInUse, Unreadable
from exports.manifest import Manifest
from exports.tables import LlmCalls
from exports.transcripts import TRANSCRIPTS

FORMATS = ("parquet", "jsonl")
"""The formats of a dataset that are read."""
CALLS, TOOLS = f"llm_calls{parquet.ENDING}", f"tool_calls{parquet.ENDING}"
VERSION = 2
ENDING = ".eval"
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of files in a log, so that the same dataset gives the same bytes."""
STOPS = {
    **dict.fromkeys(("stop", "end_turn", "stop_sequence"), "stop"),
    **dict.fromkeys(("length", "max_tokens"), "max_tokens"),
    **dict.fromkeys(("tool_calls", "tool_use"), "tool_calls"),
    **dict.fromkeys(("content_filter", "refusal"), "content_filter"),
}
"""Inspect's names of providers' finish reasons."""
SETTINGS = ("temperature", "top_p", "top_k", "max_tokens", "frequency_penalty", "presence_penalty")
"""Sampling parameters that Inspect knows by the same name."""
ABOUT_MATCH = (
    "match rules_version version cell factors purpose source config seed ended_how session stage repeat cluster "
    "repetition environment players"
).split()
"""Keys of a transcript that describe a sample."""
ABOUT_CALL = (
    "outcome purpose problem fault strategy structured try_number rung attempt answering conversation endpoint "
    "answered_by offered remarks parameters prompt_sha256 refused first_text request_id"
).split()
"""Columns of a call that Inspect has no place of its own for."""
Data = dict[str, Any]


def write_logs(dataset: Path, folder: Path) -> dict[str, int]:
    """Write a log for every game and agent of a dataset; return the number of samples by file.

    Seats without any call of a model have no transcript and so no sample, such as those of people and scripts.

    Raises:
        Unreadable: `dataset` has no dataset, it was changed after the export, or it lacks a file.
        FolderInUse: `folder` is not empty.
    """
    text, listed = verify.read_manifest(dataset)
    if listed.rendered() != text:
        raise Unreadable(f"{dataset / manifest.FILE} was changed after the export.")
    for name in (TRANSCRIPTS, CALLS, TOOLS):
        if name not in listed.files:
            raise Unreadable(f"{dataset} has no {name}: export it again with --formats {','.join(FORMATS)}.")
        if verify.file_sha256(dataset / name) != listed.files[name].sha256:
            raise Unreadable(f"{dataset / name} was changed after the export.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FolderInUse(f"{folder} is not an empty folder.")
    folder.mkdir(parents=True, exist_ok=True)
    logs: dict[tuple[str, str], _Log] = {}
    for match, calls in _matches(dataset):
        for role, seat in match["seats"].items():
            own = [call for call in calls if call["role"] == role and call["purpose"] not in ("judge", "chat")]
            if own and match["in_dataset"]:
                key = (match["game"], seat["agent"] or match["players"][role])
                if key not in logs:
                    logs[key] = _Log(folder, listed, *key, model=_model(own[0]))
                logs[key].add(match, role, own)
    return {log.path.name: log.finish() for log in logs.values()}


def _matches(dataset: Path) -> Iterator[tuple[Data, list[Data]]]:
    """Yield every match with its calls, each with the tools `called`."""
    calls, tools = (verify.RowsByMatch(_rows(dataset / name), itemgetter("match")) for name in (CALLS, TOOLS))
    with (dataset / TRANSCRIPTS).open(encoding="utf-8") as lines:
        for line in lines:
            match = json.loads(line)
            called: dict[tuple[Any, ...], list[Data]] = {}
            for tool in tools.of(match["match"]):
                called.setdefault(_OF_CALL(tool), []).append(tool)
            own = calls.of(match["match"])
            for call in own:
                call["called"] = called.get(_OF_CALL(call), ()) if call["tools"] else ()
            yield match, own
    for name, rows in ((CALLS, calls), (TOOLS, tools)):
        if any(rows.rest()):
            raise Unreadable(f"{dataset / name} is not in the order of {TRANSCRIPTS}.")


_OF_CALL = itemgetter("role", "answering", "conversation", "try_number")


def _rows(path: Path) -> Iterator[Data]:
    columns = parquet.columns_in(path)
    for row in parquet.rows_in(path):
        yield {
            name: json.loads(value) if value and name in _JSON else value
            for name, value in zip(columns, row, strict=True)
        }


_JSON = {name for name, entry in described_in(LlmCalls).items() if entry.kind == "json"}


def _model(call: Data) -> str:
    return f"{call['provider']}/{call['model']}"


# ---- a log -------------------------------------------------------------------------------------------------


@dataclass
class _Log:
    """A log that is being written: a ZIP archive with a file per sample, and a header with everything else."""

    folder: Path
    listed: Manifest
    game: str
    agent: str
    model: str
    hashes: dict[str, None] = field(default_factory=dict)
    summaries: list[Data] = field(default_factory=list)
    usage: dict[str, Counter[str]] = field(default_factory=dict)
    versions: dict[int, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        key = f"{self.listed.sha256} {self.game} {self.agent}"
        self.id = hashlib.sha256(key.encode()).hexdigest()[:22]
        created = datetime.fromisoformat(self.listed.created_at)
        name = f"{created:%Y-%m-%dT%H-%M-%S+00-00}_{self.game.replace('_', '-')}_{self.id}"
        self.path = self.folder / f"{name}{ENDING}"
        self._archive = zipfile.ZipFile(self.path, "w", zipfile.ZIP_DEFLATED)

    def add(self, match: Data, role: str, calls: list[Data]) -> None:
        """Write the sample of one seat."""
        sample = _sample(match, role, calls)
        self.hashes[str(match["seats"][role]["agent_hash"])] = None
        self.versions[match["rules_version"]] = None
        for model, usage in sample["model_usage"].items():
            self.usage.setdefault(model, Counter()).update(usage)
        self._write(f"samples/{sample['id']}_epoch_1.json", sample)
        kept = "id epoch input target metadata scores model_usage started_at completed_at total_time working_time uuid"
        short = {name: sample[name] for name in kept.split()}
        self.summaries.append({**short, "completed": True, "message_count": len(sample["messages"])})

    def finish(self) -> int:
        """Write what concerns all samples; return their number."""
        start = {"version": VERSION, "eval": self._about(), "plan": {"name": "plan", "steps": [], "config": {}}}
        times = sorted(one[name] for one in self.summaries for name in ("started_at", "completed_at") if one[name])
        stats = {
            "started_at": times[0] if times else "",
            "completed_at": times[-1] if times else "",
            "model_usage": self.usage,
        }
        self._write("_journal/start.json", start)
        self._write("summaries.json", self.summaries)
        self._write("header.json", {**start, "status": "success", "results": self._results(), "stats": stats})
        self._archive.close()
        return len(self.summaries)

    def _about(self) -> Data:
        listed = self.listed
        configs = [one["metadata"]["config"] for one in self.summaries]
        common = {key: value for key, value in configs[0].items() if all(one.get(key) == value for one in configs)}
        return {
            "eval_id": self.id,
            "run_id": listed.sha256[:22],
            "task_id": self.id,
            "created": listed.created_at,
            "task": self.game,
            "task_version": max(self.versions),
            "task_args": common,
            "task_args_passed": common,
            "model": self.model,
            "solver": self.agent,
            "dataset": {
                "name": listed.study["slug"],
                "samples": len(self.summaries),
                "sample_ids": [one["id"] for one in self.summaries],
                "shuffled": False,
            },
            "config": {"epochs": 1},
            "packages": {"parley": listed.software["version"]},
            "metadata": {
                "dataset_sha256": listed.sha256,
                "notice": listed.notice,
                "study": dict(listed.study),
                "versions": [dict(version) for version in listed.versions],
                "software": dict(listed.software),
                "agent": self.agent,
                "agent_hash": list(self.hashes),
            },
        }

    def _results(self) -> Data:
        values: dict[tuple[str, str], list[float]] = {}
        for one in self.summaries:
            for scorer, score in one["scores"].items():
                named = score["value"] if isinstance(score["value"], dict) else {scorer: score["value"]}
                for name, value in named.items():
                    if isinstance(value, int | float):
                        values.setdefault((scorer, name), []).append(float(value))
        count = len(self.summaries)
        return {
            "total_samples": count,
            "completed_samples": count,
            "scores": [
                {
                    "name": name,
                    "scorer": scorer,
                    "scored_samples": len(found),
                    "unscored_samples": count - len(found),
                    "metrics": {"mean": {"name": "mean", "value": sum(found) / len(found)}},
                }
                for (scorer, name), found in values.items()
            ],
        }

    def _write(self, name: str, content: Any) -> None:
        entry = zipfile.ZipInfo(name, EPOCH)
        entry.compress_type = zipfile.ZIP_DEFLATED
        self._archive.writestr(entry, json.dumps(content, ensure_ascii=False, default=plain).encode("utf-8", "replace"))


# ---- a sample ----------------------------------------------------------------------------------------------


def _sample(match: Data, role: str, calls: list[Data]) -> Data:
    seat, told = match["seats"][role], _Transcript()
    log = list(match["events"])
    for call in calls:
        while log and log[0]["number"] <= call["answering"]:
            told.happened(log.pop(0), call["at"])
        told.call(call)
    for event in log:
        told.happened(event, calls[-1]["at"])
    scores = {
        name: {"value": value}
        for name, value in (("payoff", match["payoffs"].get(role)), ("metrics", _metrics(match, role)))
        if value not in (None, {})
    }
    return {
        "id": f"{match['match']}-{role}",
        "uuid": f"{match['match']}-{role}",
        "epoch": 1,
        "input": told.opening,
        "target": "",
        "messages": told.messages,
        "output": told.output,
        "scores": scores,
        "metadata": {
            **{name: match[name] for name in ABOUT_MATCH if match.get(name) is not None},
            "role": role,
            "information": seat["information"],
            "agent_hash": seat["agent_hash"],
        },
        "store": {},
        "events": told.events,
        "events_data": {"messages": told.pool, "calls": []},
        "model_usage": told.usage,
        "started_at": match["started_at"],
        "completed_at": match["ended_at"],
        "total_time": match["seconds"],
        "working_time": told.seconds,
        "attachments": {},
    }


def _metrics(match: Data, role: str) -> Data:
    """Return the match's results and those of this seat, without those of other seats and those without a value."""
    others = tuple(f"{other}_" for other in match["seats"] if other != role)
    return {
        name: value
        for name, value in match["metrics"].items()
        if isinstance(value, str | int | float) and not name.startswith(others)
    }


class _Transcript:
    """A seat's calls and its match's log as Inspect's events, with every message stored once.

    Attributes:
        pool: every message that was sent or received, in order of first appearance; events refer to places in it.
        messages: the conversation as one reads it: of each call, what the calls before it did not contain.
        opening: the messages of the first call.
    """

    def __init__(self) -> None:
        self.pool: list[Data] = []
        self.messages: list[Data] = []
        self.events: list[Data] = []
        self.output: Data = {"model": "", "choices": []}
        self.usage: dict[str, Data] = {}
        self.seconds = 0.0
        self.opening: list[Data] = []
        self._places: dict[str, int] = {}
        self._last: list[int] = []
        self._conversations: dict[str, list[int]] = {}

    def happened(self, event: Data, at: datetime) -> None:
        """Add an event of the match's log, which has no time of its own if the match was imported."""
        data = {name: value for name, value in event.items() if name not in ("at", "turn")}
        time = event.get("at") or event.get("turn", {}).get("answered_at") or at
        self._add("info", time, source="parley", data=data)

    def call(self, call: Data) -> None:
        """Add a call and the tools that it called."""
        name = call["conversation"]
        sent = [*self._conversations.get(name, ()), *map(self._place, call["messages"])]
        tools = [_tool(call, number, tool) for number, tool in enumerate(call["called"], start=1)]
        output = _output(call, [tool["call"] for tool in tools])
        began = call["at"] - timedelta(seconds=call["latency"])
        parameters = call["parameters"] or {}
        settings = {name: parameters[name] for name in SETTINGS if isinstance(parameters.get(name), int | float)}
        self._add(
            "model",
            began,
            model=_model(call),
            input=[],
            input_refs=_ranges(sent),
            tools=[{"name": name, "description": "", "parameters": {}} for name in call["offered"] or ()],
            tool_choice="auto",
            config=settings if call["seed"] is None else {**settings, "seed": call["seed"]},
            output=output,
            error=call["error"],
            completed=call["at"],
            working_time=call["latency"],
            metadata={name: call[name] for name in ABOUT_CALL if call.get(name) not in (None, "", [], {})},
        )
        self.seconds += call["latency"]
        self.opening = self.opening or [self.pool[place] for place in sent]
        context = [*sent]
        if output["choices"]:
            self.output = output
            context.append(self._place(output["choices"][0]["message"]))
        for tool in tools:
            self._add("tool", call["at"], **tool["event"])
            context.append(self._place(tool["message"]))
        if name:
            self._conversations[name] = context
        self._read(context)
        if output.get("usage"):
            of_model = self.usage.setdefault(_model(call), {})
            for name, value in output["usage"].items():
                of_model[name] = of_model.get(name, 0) + value

    def _read(self, context: list[int]) -> None:
        known = 0
        while known < min(len(context), len(self._last)) and context[known] == self._last[known]:
            known += 1
        self.messages += [self.pool[place] for place in context[known:]]
        self._last = context

    def _place(self, message: Mapping[str, Any]) -> int:
        key = compact_json([message.get(name) for name in ("role", "content", "tool_calls", "tool_call_id")])
        if key not in self._places:
            self._places[key] = len(self.pool)
            self.pool.append(dict(message))
        return self._places[key]

    def _add(self, kind: str, at: datetime | str, **content: Any) -> None:
        self.events.append({"event": kind, "timestamp": at, "working_start": self.seconds, **content})


def _output(call: Data, tools: Sequence[Data]) -> Data:
    """Return a call's answer; without choices if there was none."""
    output: Data = {"model": call["answered_by"] or call["model"], "choices": [], "time": call["latency"]}
    if call["error"]:
        output["error"] = call["error"]
    if call["input_tokens"] is not None and call["output_tokens"] is not None:
        cached = call["cached_tokens"] or 0
        output["usage"] = {
            "input_tokens": call["input_tokens"] - cached,
            "output_tokens": call["output_tokens"],
            "total_tokens": call["input_tokens"] + call["output_tokens"],
            "input_tokens_cache_read": cached,
            **({} if call["cost"] is None else {"total_cost": float(call["cost"])}),
        }
    if call["error"] is None or call["error"] == "":
        message = {"role": "assistant", "content": call["answer"] or "", "source": "generate", "model": _model(call)}
        if tools:
            message["tool_calls"] = list(tools)
        output["choices"] = [{"message": message, "stop_reason": STOPS.get(call["stop"], "unknown")}]
        output["completion"] = message["content"]
    return output


def _tool(call: Data, number: int, tool: Data) -> dict[str, Data]:
    """Return a called tool as part of the model's answer, as an event, and as the message with its result."""
    name = f"{call['answering']}-{call['conversation']}-{call['try_number']}-{number}"
    try:
        arguments = json.loads(tool["arguments"] or "{}")
        problem = None if isinstance(arguments, dict) else "The arguments are no JSON object."
    except ValueError:
        problem = "The arguments are no JSON."
    about: Data = {"id": name, "function": tool["name"], "arguments": {} if problem else arguments}
    error = {"type": "parsing" if problem else "unknown", "message": tool["result"]} if tool["fault"] else None
    failed = {"error": error} if error else {}
    return {
        "call": {**about, "type": "function", **({"parse_error": problem} if problem else {})},
        "event": {**about, "type": "function", "result": tool["result"], "metadata": {"kind": tool["kind"]}, **failed},
        "message": {
            "role": "tool", "content": tool["result"], "function": tool["name"], "tool_call_id": name, **failed,
        },
    }  # fmt: skip


def _ranges(places: Sequence[int]) -> list[list[int]]:
    """Return places as [first, last + 1] of every run of neighbours."""
    runs: list[list[int]] = []
    for place in places:
        if runs and runs[-1][1] == place:
            runs[-1][1] += 1
        else:
            runs.append([place, place + 1])
    return runs
