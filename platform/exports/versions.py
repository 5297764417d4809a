"""The versions of a study in a dataset: researchers' texts without anything that identifies people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from exports.alike import mask
from exports.sources import FrozenVersion
from plans.canonical import sha256_of

FILE = "versions.json"
MEANING = (
    "The study as it was launched, version by version: texts, configurations, agents, pay rule. `sha256` is the hash "
    "of `content` as JSON (keys sorted, no spaces, other characters than ASCII escaped). If parts of it "
    "were replaced by markers such as [e-mail], `replaced` lists them, `content_sha256` is the hash of the content "
    "here, and `sha256` the hash of the content as launched, which anyone with access to the study can compute."
)


def exported_version(version: FrozenVersion) -> dict[str, Any]:
    """Return a version for versions.json."""
    replaced: list[str] = []
    content = _masked(version.content, "", replaced)
    entry = {"number": version.number, "sha256": version.sha256}
    if replaced:
        entry |= {"replaced": replaced, "content_sha256": sha256_of(content)}
    return entry | {"content": content}


def problems(entry: Mapping[str, Any]) -> Iterator[str]:
    """Return the problems of a version in versions.json that its hash reveals."""
    expected_hash = entry["content_sha256"] if entry.get("replaced") else entry["sha256"]
    if sha256_of(entry["content"]) != expected_hash:
        yield f"the content of version {entry['number']} does not match its hash"


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
