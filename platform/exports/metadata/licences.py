"""Addresses and full names of the licences that a dataset can have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Licence:
    """A licence by its SPDX name."""

    spdx: str
    name: str
    url: str


LICENCES: Mapping[str, Licence] = {
    licence.spdx: licence
    for licence in (
        Licence("CC0-1.0", "CC0 1.0 Universal", "https://creativecommons.org/publicdomain/zero/1.0/"),
        Licence("CC-BY-4.0", "Creative Commons Attribution 4.0", "https://creativecommons.org/licenses/by/4.0/"),
        Licence(
            "CC-BY-SA-4.0",
            "Creative Commons Attribution-ShareAlike 4.0",
            "https://creativecommons.org/licenses/by-sa/4.0/",
        ),
        Licence(
            "CC-BY-NC-4.0",
            "Creative Commons Attribution-NonCommercial 4.0",
            "https://creativecommons.org/licenses/by-nc/4.0/",
        ),
        Licence("ODC-By-1.0", "Open Data Commons Attribution 1.0", "https://opendatacommons.org/licenses/by/1-0/"),
        Licence("ODbL-1.0", "Open Database License 1.0", "https://opendatacommons.org/licenses/odbl/1-0/"),
    )
}
