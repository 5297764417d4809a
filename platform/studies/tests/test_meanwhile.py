"""Two people edit one study's form: the second save shows what the first changed, and nothing is lost."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from opponents.agents import agents_from_specs
from studies.models import Study
from tests.forms import form_data
from tests.visitors import launched_study, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return launched_study(base="2.00", instructions="# Rules\n\nDivide the money.")


def researcher(name: str) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser(name))
    return client


@pytest.fixture
def robin() -> Client:
    return researcher("robin")


@pytest.fixture
def kim() -> Client:
    return researcher("kim")


def page(study: Study) -> str:
    return reverse("admin:studies_study_change", args=[study.pk])


def save(client: Client, study: Study, opened, **changes):
    return client.post(page(study), form_data(opened, **changes))


def opened_by(client: Client, study: Study):
    return client.get(page(study))


def rows(response) -> dict[str, tuple[str, str, bool]]:
    assert response.status_code == 200
    changed = response.context["adminform"].form.changed_meanwhile
    return {row.name: (row.theirs, row.mine, row.taken) for row in changed}


def test_second_save_is_shown_what_changed_and_both_changes_survive(robin, kim, study):
    before = {client: opened_by(client, study) for client in (robin, kim)}
    agents = json.dumps(agents_from_specs("script:fair", "script:haggler"))
    assert save(kim, study, before[kim], base="3.00", agents=agents, title="Kim's").status_code == 302

    refused = save(robin, study, before[robin], quota="7", title="Robin's")
    assert Study.objects.get().title == "Kim's", "nothing is saved before Robin has seen it"
    assert rows(refused)["base"] == ("3", "2", True)
    assert rows(refused)["title"] == ("Kim's", "Robin's", False)
    assert set(rows(refused)) == {"title", "base", "agents"}
    text = text_of(refused)
    assert "kim saved this study on" in text and "Take what others saved" in text
    assert "script:haggler" in text

    assert save(robin, study, refused).status_code == 302
    saved = Study.objects.get()
    assert (saved.title, saved.base, saved.quota, len(saved.agents)) == ("Robin's", 3, 7, 2)


def test_others_value_may_be_taken_field_by_field(robin, kim, study):
    before = opened_by(robin, study)
    save(kim, study, opened_by(kim, study), title="Kim's", instructions="# Rules\n\nShare the money.")
    refused = save(robin, study, before, title="Robin's", instructions="# Rules\n\nKeep the money.")
    (line,) = [row.lines for row in refused.context["adminform"].form.changed_meanwhile if row.lines]
    assert [part.text for part in line if part.kind == "removed"] == ["Keep the money."]
    assert save(robin, study, refused, take_theirs=["instructions"]).status_code == 302
    saved = Study.objects.get()
    assert (saved.title, saved.instructions) == ("Robin's", "# Rules\n\nShare the money.")


def test_a_third_save_in_between_is_shown_too(robin, kim, study):
    before = opened_by(robin, study)
    save(kim, study, opened_by(kim, study), quota="11")
    refused = save(robin, study, before, quota="12")
    save(kim, study, opened_by(kim, study), quota="13")
    refused = save(robin, study, refused)
    assert rows(refused) == {"quota": ("13", "12", False)}
    assert save(robin, study, refused).status_code == 302
    assert Study.objects.get().quota == 12


def test_same_values_and_an_untouched_study_ask_nothing(robin, kim, study):
    before = opened_by(robin, study)
    save(kim, study, opened_by(kim, study), quota="11")
    assert save(robin, study, before, quota="11").status_code == 302
    assert save(robin, study, opened_by(robin, study), title="Later").status_code == 302


def test_previews_while_typing_do_not_mention_it(robin, kim, study):
    before = opened_by(robin, study)
    save(kim, study, opened_by(kim, study), quota="11")
    address = reverse("admin:studies_study_live_preview", args=[study.pk])
    assert robin.post(address, form_data(before)).json()["errors"] == {}


@pytest.mark.parametrize("game", ["social_dilemma", "task_allocation"])
def test_untouched_fields_of_any_game_are_not_reported(robin, kim, game):
    study = Study.objects.create(title="T", slug="t", game=game)
    before = opened_by(robin, study)
    response = save(kim, study, opened_by(kim, study), title="Kim's")
    assert response.status_code == 302, response.context["adminform"].form.errors
    assert set(rows(save(robin, study, before, slug="other"))) == {"title"}
