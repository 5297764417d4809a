"""Plans with as many cells as possible: each part is read, checked and hashed once per combination that matters."""

from __future__ import annotations

import json
import time
from collections import Counter

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from plans import canonical, checking, reading
from plans.checking import check
from studies.models import Cell
from studies.tests.kit import launch_again, new_study


def plan_of_many_cells(number: int = 5000) -> dict:
    """Return a plan in which a text, a page, a parameter, an agent, the opponent, pay and a condition vary."""
    wordings = [f"word_{i}" for i in range(number // 500)]
    texts = {word: f"You {word} {{{{ stakes }}}}. " + "Read this. " * 40 for word in wordings}
    stakes = {f"stake_{i}": {"money": 100 * (i + 1), "average": f"{0.1 * (i + 1):.2f}"} for i in range(10)}
    scripts = ["haggler", "fair", "equilibrium", "random"]
    talk = {
        "stage": "game",
        "name": "talk",
        "game": "bargaining",
        "config": {"rounds": {"by": "horizon", "values": {"short": 1, "long": 12}}, "money": {"by": "stakes.money"}},
        "seats": {"alice": "person", "bob": {"by": "opponent"}},
    }
    return {
        "format": "parley-study",
        "title": "Many cells",
        "factors": {
            "wording": {"levels": wordings},
            "stakes": {"levels": stakes},
            "delay": {"levels": list(range(10))},
            "opponent": {"levels": ["slow", *scripts]},
            "horizon": {"levels": ["short", "long"], "within": "games"},
        },
        "agents": {
            "slow": {"script": "fair", "delay": {"by": "delay"}},
            **{each: {"script": each} for each in scripts},
        },
        "journey": [
            {"stage": "consent"},
            {"stage": "page", "name": "opening", "text": {"by": "wording", "values": texts}},
            {"stage": "block", "name": "games", "of": [talk]},
            {"stage": "page", "name": "after", "text": "So?", "show_if": "wording == 'word_1' or talk.short.agreement"},
        ],
        "pay": {"bonus": {"average": {"by": "stakes.average"}}},
    }


@pytest.fixture
def calls(monkeypatch) -> Counter:
    """Count the calls that read, check and hash parts."""
    counted: Counter = Counter()
    for module, name in ((reading, "_parsed"), (checking, "_stage_problems"), (checking, "_check")):
        called = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *a, _n=name, _f=called: (counted.update([_n]), _f(*a))[1])
    hashed = canonical.sha256_of
    monkeypatch.setattr(canonical, "sha256_of", lambda part: (counted.update(["hash"]), hashed(part))[1])
    return counted


def test_checking_a_plan_reads_each_part_once_per_combination(calls):
    checked = check(plan_of_many_cells())
    assert (len(checked.cells), checked.matches, checked.faults) == (5000, 5000 * 20 * 2, [])
    assert calls["_parsed"] < 200
    assert calls["_stage_problems"] < 2000


@pytest.mark.django_db
class TestStudies:
    def save(self, client, study, **changes):
        study.refresh_from_db()
        document = json.dumps({**plan_of_many_cells(), **changes}).encode()
        sent = {"edit": study.edit, "slug": study.slug, "document": SimpleUploadedFile("plan.json", document)}
        response = client.post(reverse("admin:studies_study_save", args=[study.pk]), sent)
        assert response.status_code == 200

    @pytest.mark.slow
    def test_saving_in_the_editor_checks_the_plan_once(self, admin_client, calls):
        self.save(admin_client, new_study(), title="Saved once")
        assert calls["_check"] == 1

    @pytest.mark.slow
    def test_saving_5000_cells_takes_less_than_two_seconds(self, admin_client):
        study = new_study()
        self.save(admin_client, study, title="Warm")
        began = time.process_time()
        self.save(admin_client, study, title="Timed")
        assert time.process_time() - began < 2

    def test_launching_hashes_parts_that_cells_share_once(self, calls):
        launch_again(new_study(plan=plan_of_many_cells(1000)))
        assert Cell.objects.count() == 1000
        assert calls["hash"] < 2 * 1000 + 500
