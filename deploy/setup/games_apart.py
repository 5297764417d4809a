"""An import-linter contract: all folders of games/ that have rules are independent of each other, new ones included."""

from __future__ import annotations

from typing import Any

from grimp import ImportGraph
from importlinter import ContractCheck, fields
from importlinter.contracts.independence import IndependenceContract
from importlinter.domain.imports import ModuleExpression


class GamesApart(IndependenceContract):
    """Independence of the packages games.<key>, found by their `rules` module."""

    modules: Any = fields.SetField(subfield=fields.ModuleExpressionField(), required=False)

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        rules = graph.find_matching_modules("games.*.rules")
        self.modules = {ModuleExpression(module.removesuffix(".rules")) for module in rules}
        return super().check(graph, verbose)
