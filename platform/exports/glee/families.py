"""The families that can be read and written; adding one takes one file and one line."""

from __future__ import annotations

from collections.abc import Mapping

from exports.glee import bargaining, negotiation, persuasion
from exports.glee.adapters import Adapter

ADAPTERS: Mapping[str, Adapter] = {
    module.ADAPTER.family: module.ADAPTER for module in (bargaining, negotiation, persuasion)
}
