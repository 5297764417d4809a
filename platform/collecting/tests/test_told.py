"""The command `told`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command


def told(capsys: Any, *arguments: str) -> dict[str, Any]:
    call_command("told", *arguments, "--json")
    return json.loads(capsys.readouterr().out)


def test_names_the_mode_and_what_is_sent(capsys: Any):
    answer = told(capsys, "econevals-procurement", "--agents", "openai:a,openai:b", "--turns", "2")
    assert (answer["preset"], answer["mode"]) == ("econevals-procurement", "published")
    (seat,) = answer["environments"][0]["seats"]
    assert seat["agent"] == "openai:a" and seat["settings"]["tries"] == 4 and seat["settings"]["restarts"] == 9
    assert [turn["turn"] for turn in seat["turns"]] == [1, 2]
    assert set(seat["turns"][0]["results"]) >= {"get_budget", "read_notes"}
    assert {tool["name"] for tool in seat["turns"][0]["tools"]} >= {"submit_purchase_plan"}


def test_a_name_may_stand_for_several_collections(capsys: Any):
    answer = told(capsys, "glee-llm", "--config", '{"buyer_type": "myopic"}')
    assert [environment["game"] for environment in answer["environments"]] == ["persuasion"]


@pytest.mark.parametrize(
    "arguments", [["nothing"], ["coopeval-none", "--seat", "p9"], ["coopeval-none", "--turns", "0"]]
)
def test_refuses_what_does_not_exist(arguments: list[str]):
    with pytest.raises(CommandError) as refused:
        call_command("told", *arguments)
    assert refused.value.returncode == 2
