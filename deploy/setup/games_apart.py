"""Import-linter contracts that know the folders of games/ and platform/ by themselves, new ones included."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from grimp import ImportGraph
from importlinter import ContractCheck, fields
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.independence import IndependenceContract
from importlinter.domain.imports import ModuleExpression

PLATFORM = Path(__file__).parents[2] / "platform"


class GamesApart(IndependenceContract):
    """Independence of the packages games.<key>, found by their `rules` module."""

    modules: Any = fields.SetField(subfield=fields.ModuleExpressionField(), required=False)

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        rules = graph.find_matching_modules("games.*.rules")
        self.modules = {ModuleExpression(module.removesuffix(".rules")) for module in rules}
        return super().check(graph, verbose)


class GamesAlone(ForbiddenContract):
    """Games import nothing of llm_agents and of the apps in platform/, whether the layers name these or not."""

    source_modules: Any = fields.SetField(subfield=fields.ModuleExpressionField(), required=False)
    forbidden_modules: Any = fields.SetField(subfield=fields.ModuleExpressionField(), required=False)

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        self.source_modules = {ModuleExpression("games")}
        apps = {path.parent.name for path in PLATFORM.glob("*/__init__.py")}
        self.forbidden_modules = {ModuleExpression(name) for name in apps | {"llm_agents"}}
        return super().check(graph, verbose)
