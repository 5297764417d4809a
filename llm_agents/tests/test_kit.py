"""The stand-in kit: which calls a planned fault hits, and what its options on the command line mean."""

from __future__ import annotations

import argparse
import urllib.error
import urllib.request

import pytest

from llm_agents.standins.http import HttpRequest
from llm_agents.standins.kit import Reply, Service, add_fault_options, data, plan_faults


class Counter(Service):
    """Counts its calls; a page has no faults."""

    count = 0

    def call_of(self, request: HttpRequest) -> str:
        return request.path if request.path != "/page" else ""

    def answer(self, request: HttpRequest) -> Reply:
        self.count += 1
        return data({"count": self.count})


def statuses(service: Counter, *paths: str) -> list[int]:
    found = []
    for path in paths:
        try:
            with urllib.request.urlopen(service.address + path, timeout=30) as answer:
                found.append(answer.status)
        except urllib.error.HTTPError as error:
            found.append(error.code)
    return found


def options_of(*typed: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_fault_options(parser)
    return parser.parse_args(typed)


def test_fault_hits_every_nth_call_whose_name_matches():
    with Counter() as service:
        plan_faults(service, options_of("--misbehave", "refused:/pay", "--every", "2"))
        assert statuses(service, "/pay", "/pay", "/page", "/look", "/look", "/pay", "/pay") == [
            200, 500, 200, 200, 200, 200, 500,
        ]  # fmt: skip
        assert service.count == 5, "a refused call has no effect"


def test_unknown_fault_is_refused_with_the_known_ones(capsys):
    with pytest.raises(SystemExit):
        options_of("--misbehave", "sulk")
    assert "use one of slow, cut" in capsys.readouterr().err
