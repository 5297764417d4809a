"""The versions of a study in a dataset: researchers' texts without anything that identifies people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from exports.alike import mask
from exports.csvsafe import cell
from plans.canonical import inside_hash, sha256_of
from plans.files import dumps, loads
from plans.plan import FORMAT
from plans.reading import BadPlan

if TYPE_CHECKING:  # models load only with the apps, which a verification needs not
    from exports.sources import FrozenVersion

FILE, CHANGES = "versions.json", "changes.json"
MEANING = (
    "The study as it was launched, version by version: its plan in canonical form, and the games' own instructions at "
    "that time. `sha256` is the hash of `content` as JSON (UTF-8, keys sorted, no spaces); a study's leaves out title, "
    "entry, analysis, quotas and weights. If parts of it were replaced by markers such as [e-mail], `replaced` lists "
    "them, `content_sha256` is the hash of the content here, and `sha256` the hash of the content as launched, which "
    "anyone with access to the study can compute."
)
CHANGES_MEANING = (
    "What was changed after the launch without a new version: title, quotas, weights, entry, planned analysis, each "
    "with its time."
)
PLAN_MEANING = "The plan of this version as YAML: the same as in versions.json, for reading, checking and importing."


def plan_file(number: int) -> str:
    """Return the name of the file with a version's plan as YAML."""
    return f"plan-v{number}.yaml"


def exported_version(version: FrozenVersion) -> dict[str, Any]:
    """Return a version for versions.json."""
    replaced: list[str] = []
    content = _masked(version.content, "", replaced)
    entry = {"number": version.number, "sha256": version.sha256, "games": dict(version.games)}
    if replaced:
        entry |= {"replaced": replaced, "content_sha256": _hash_of(content)}
    texts = {"instructions": _masked(version.texts, "", [])} if version.texts else {}
    return entry | texts | {"content": content}


def as_yaml(entry: Mapping[str, Any]) -> str | None:
    """Return the plan of an entry of versions.json as YAML; None if its matches were imported."""
    plan = _plan_in(entry["content"])
    return None if plan is None else dumps(plan)


def exported_change(change: Mapping[str, Any]) -> dict[str, Any]:
    """Return a change for changes.json."""
    return {name: cell(value) if name == "at" else _masked(value, "", []) for name, value in change.items()}


def exported_analysis(plan: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the planned analysis for the manifest."""
    if plan is None:
        return None
    texts = {name: _masked(plan[name], "", []) for name in ("hypotheses", "sample")}
    changes = [exported_change(change) for change in plan["changes"]]
    return {**plan, "frozen_at": cell(plan["frozen_at"]), **texts, "changes": changes}


def problem(entry: Mapping[str, Any]) -> str:
    """Return what is wrong with a version in versions.json, as its hash reveals; empty if nothing is."""
    expected_hash = entry["content_sha256"] if entry.get("replaced") else entry["sha256"]
    same = _hash_of(entry["content"]) == expected_hash
    return "" if same else f"the content of version {entry['number']} does not match its hash"


def yaml_problem(entry: Mapping[str, Any], text: str) -> str:
    """Return what is wrong with a version's plan as YAML; empty if it is the plan in versions.json."""
    try:
        same = loads(text) == _plan_in(entry["content"])
    except BadPlan as error:
        return f"the plan cannot be read: {error}"
    return "" if same else f"the plan is not that of version {entry['number']} in {FILE}"


def _plan_in(content: Mapping[str, Any]) -> Any:
    """Return the plan in the content of a version: a study's is the plan itself."""
    return content if _is_plan(content) else content.get("plan")


def _is_plan(content: Mapping[str, Any]) -> bool:
    return content.get("format") == FORMAT


def _hash_of(content: Mapping[str, Any]) -> str:
    return sha256_of(inside_hash(content) if _is_plan(content) else content)


def _masked(data: Any, path: str, replaced: list[str]) -> Any:
    """Return plain data without addresses, identifiers and keys; the places are added to `replaced`."""
    if isinstance(data, str):
        text = mask(data)
        if text != data:
            replaced.append(path)
        return text
    if isinstance(data, Mapping):
        entries = [(key, value, f"{path}.{mask(key)}".removeprefix(".")) for key, value in data.items()]
        return {
            _masked(key, entry_path, replaced): _masked(value, entry_path, replaced)
            for key, value, entry_path in entries
        }
    if isinstance(data, list | tuple):
        return [_masked(value, f"{path}.{i}", replaced) for i, value in enumerate(data)]
    return data
