"""The views behind the editor: saving, two people at once, files, earlier drafts, the checklist."""

from __future__ import annotations

import io
import json

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from audit.models import Record
from pages.files import MAX_IMAGE_BYTES, MAX_VIDEO_BYTES
from pages.models import Media
from plans import files, library
from plans.starting import COMPREHENSION, plan_for
from recruiters.models import LabCode
from rights.members import give
from rights.roles import Role
from studies.drafting import copy
from studies.models import Study
from studies.tests.kit import PNG, launched, new_study, with_image

pytestmark = pytest.mark.django_db
INVALID = "format: parley-study\ntitle: X\njourney:\n  - {stage: game, name: g, game: chess}\n  - {stage: dance}\n"


def page(name: str, *args) -> str:
    return reverse(f"admin:studies_study_{name}", args=args)


def sent(document, **fields):
    return {"document": io.BytesIO(json.dumps(document).encode()), **fields}


def named(content: str | bytes, name: str = "plan.yaml"):
    file = io.BytesIO(content.encode() if isinstance(content, str) else content)
    file.name = name
    return file


def test_a_draft_with_faults_is_saved_and_kept(client, boss):
    study = new_study(slug="s")
    before = study.draft
    answer = client.post(page("save", study.pk), sent({"title": "Unfinished"}, edit=0)).json()
    study.refresh_from_db()
    assert (answer["edit"], study.draft) == (1, {"title": "Unfinished"})
    assert [(draft.edit, draft.document) for draft in study.drafts.all()] == [(1, study.draft), (0, before)]


def test_an_older_edit_gets_both_texts_and_changes_nothing(client, boss):
    study = new_study(slug="s")
    client.post(page("save", study.pk), sent(study.draft | {"title": "First"}, edit=0))
    response = client.post(page("save", study.pk), sent(study.draft | {"title": "Second"}, edit=0))
    answer = response.json()
    assert response.status_code == 409
    assert (answer["edit"], answer["by"], answer["document"]["title"]) == (1, "boss", "First")
    study.refresh_from_db()
    assert study.title == "First"


def test_what_is_not_a_plan_is_refused_in_words(client, boss):
    study = new_study(slug="s")
    response = client.post(page("save", study.pk), {"edit": 0, "document": named("[1, 2]")})
    assert response.status_code == 400 and "list of named parts" in response.json()["error"]


def test_a_draft_can_be_renamed_and_a_launched_study_cannot(client, boss):
    study, other = new_study(slug="s"), launched(slug="t")
    assert client.post(page("save", study.pk), sent(study.draft, edit=0, slug="better")).status_code == 200
    taken = client.post(page("save", study.pk), sent(study.draft, edit=1, slug="t"))
    fixed = client.post(page("save", other.pk), sent(other.draft, edit=other.edit, slug="u"))
    study.refresh_from_db()
    assert study.slug == "better"
    assert (taken.status_code, fixed.status_code) == (400, 400)


def test_a_new_short_name_keeps_the_images_and_is_refused_once_codes_open_the_old_one(client, boss):
    study = with_image()
    assert client.post(page("save", study.pk), sent(study.draft, edit=0, slug="better")).status_code == 200
    assert Media.objects.get().study == "better"
    LabCode.objects.create(study="better", code="XYZ")
    answer = client.post(page("save", study.pk), sent(study.draft, edit=1, slug="best"))
    assert answer.status_code == 400 and "short name" in answer.json()["error"]
    assert not client.get(page("change", study.pk)).context["editor"]["may_rename"]


def test_viewers_look_and_do_not_save(client):
    study, user = new_study(slug="s"), User.objects.create_user("viewer", is_staff=True)
    give(study, user=user, role=Role.VIEWER, by=None)
    client.force_login(user)
    assert client.get(page("change", study.pk)).context["editor"]["readOnly"]
    assert client.post(page("check", study.pk), sent(study.draft)).status_code == 200
    assert client.post(page("save", study.pk), sent(study.draft, edit=0)).status_code == 403


def test_faults_name_place_factor_and_level(client, boss):
    study = new_study(slug="s", factors={"horizon": {"levels": ["short", "long"]}})
    document = study.draft
    document["journey"][1]["config"]["rounds"] = {"by": "horizon", "values": {"short": 1, "long": 0}}
    (fault,) = client.post(page("check", study.pk), sent(document)).json()["faults"]
    assert (fault["at"], fault["factors"]) == ("journey.1.config.rounds", {"horizon": "long"})


def test_cells_come_with_minutes_and_pay(client, boss):
    study = new_study(slug="s", base="2.00", average="1.00")
    answer = client.post(page("check", study.pk), sent(study.draft)).json()
    assert [(cell["quota"], cell["pay"]) for cell in answer["cells"]] == [(20, "$3.00")]
    assert [seat["role"] for seat in answer["seats"]["journey.1"]] == ["alice", "bob"]
    assert study.draft == Study.objects.get().draft


def test_changes_of_a_launched_study_are_told_in_words(client, boss):
    study = launched(slug="s", turn=60)
    document = json.loads(json.dumps(study.draft))
    document["cells"] = {"quota": 7}
    outside = client.post(page("check", study.pk), sent(document)).json()
    document["journey"][1]["timing"] = {"turn": 90}
    inside = client.post(page("check", study.pk), sent(document)).json()
    assert not outside["new_version"] and inside["new_version"]
    assert any("60 → 90 s" in change for change in inside["changes"])


def test_own_texts_begin_with_parleys(client, boss):
    study = new_study(slug="s")
    texts = [
        client.post(page("text", study.pk), sent(study.draft, at=at)).json()["text"]
        for at in ("journey.0.text", "journey.1.instructions")
    ]
    assert "You are invited" in texts[0] and "{{" in texts[1]


def test_an_image_is_stored_replaced_and_shown_by_its_address(client, boss):
    study = new_study(slug="s")
    first = client.post(page("media", study.pk), {"file": named(PNG, "dot.png"), "kind": "image"}).json()
    second = client.post(page("media", study.pk), {"file": named(PNG + b"2", "dot.png"), "kind": "image"}).json()
    assert first["name"] == second["name"] == "dot.png" and first["url"] != second["url"]
    assert client.get(second["url"]).content == PNG + b"2"
    assert client.get(page("change", study.pk)).context["editor"]["media"]["dot.png"] == second["url"]


@pytest.mark.parametrize(
    ("content", "kind", "reason"),
    [
        (PNG, "video", "MP4 or WebM"),
        (b"\x1a\x45\xdf\xa3", "image", "PNG, JPEG, WebP or GIF"),
        (b"<svg/>", "image", "PNG, JPEG, WebP or GIF"),
        (PNG + bytes(MAX_IMAGE_BYTES), "image", "limit is 5 MB"),
        (bytes(MAX_VIDEO_BYTES + 1), "video", "limit is 50 MB"),
    ],
)
def test_files_of_another_kind_or_too_large_are_refused_in_words(client, boss, content, kind, reason):
    study = new_study(slug="s")
    response = client.post(page("media", study.pk), {"file": named(content, "file"), "kind": kind})
    assert response.status_code == 400 and reason in response.json()["error"]
    assert not Media.objects.exists()


def test_a_study_with_images_is_downloaded_and_opened_with_them(client, boss):
    study = with_image()
    response = client.get(page("file", study.pk))
    assert "pictured.zip" in response["Content-Disposition"]
    other = new_study(slug="other")
    answer = client.post(page("read", other.pk), {"file": named(response.content, "pictured.zip")}).json()
    assert answer == {
        "document": study.draft,
        "faults": [],
        "media": {"dot.png": Media.objects.first().get_absolute_url()},
    }
    assert client.post(page("upload"), {"file": named(response.content, "pictured.zip")}).status_code == 302
    assert Media.objects.filter(name="dot.png").count() == 3


def test_download_and_upload_are_the_same_plan(client, boss):
    study = new_study(slug="s")
    text = client.get(page("file", study.pk)).content.decode()
    assert client.post(page("upload"), {"file": named(text)}).status_code == 302
    assert Study.objects.exclude(pk=study.pk).get().draft == study.draft == files.loads(text)


def test_a_file_with_faults_lists_them_all_and_makes_nothing(client, boss):
    response = client.post(page("upload"), {"file": named(INVALID)})
    assert "dance" in response.content.decode() and not Study.objects.exists()
    study = new_study(slug="s")
    answer = client.post(page("read", study.pk), {"file": named(INVALID)}).json()
    assert answer["faults"] and Study.objects.get().draft == study.draft


def test_an_empty_admin_offers_every_published_system(client, boss):
    text = client.get(page("changelist")).content.decode()
    assert all(preset.name in text for preset in library.ready_made("studies").values()) and "<svg" in text


@pytest.mark.parametrize("name", sorted(library.ready_made("studies")))
def test_a_copy_of_a_ready_made_study_opens_and_can_be_launched(client, boss, name):
    response = client.post(page("preset", name), follow=True)
    study = Study.objects.get()
    assert study.slug == name and study.draft == library.ready_made("studies")[name].document
    assert response.status_code == 200


def test_a_study_of_a_game_begins_with_one_click(client, boss):
    client.post(page("begin", "negotiation"))
    client.post(page("begin", "negotiation"))
    assert set(Study.objects.values_list("slug", flat=True)) == {"negotiation", "negotiation-2"}
    assert Study.objects.first().draft == plan_for("negotiation", stage={"comprehension": COMPREHENSION})
    assert client.post(page("begin", "chess")).status_code == 404


def test_copies_have_the_plan_and_a_name_of_their_own(boss):
    study = launched(slug="splitting", title="Splitting")
    copied = copy(study, by=boss)
    assert (copied.slug, copied.title, copied.status) == ("splitting-copy", "Splitting (copy)", "draft")
    assert copied.draft | {"title": study.title} == study.draft


def test_an_earlier_draft_is_listed_and_brought_back_as_unsaved_changes(client, boss):
    study = new_study(slug="s", turn=60)
    document = json.loads(json.dumps(study.draft))
    document["journey"][1]["timing"]["turn"] = 90
    client.post(page("save", study.pk), sent(document, edit=0))
    assert "60 → 90 s" in client.get(page("drafts", study.pk)).content.decode()
    editor = client.get(page("change", study.pk), {"edit": 0}).context["editor"]
    assert (editor["plan"], editor["edit"], editor["unsaved"]) == (study.draft, 1, True)


def test_a_point_of_the_checklist_is_done_until_what_it_concerns_changes(client, boss):
    study = new_study(slug="s", base="1.00")

    def done() -> set[str]:
        return {point.name for point in client.get(page("change", study.pk)).context["points"] if point.done}

    assert done() == {"agents", "words"}
    client.post(page("tick", study.pk), {"item": "pay"})
    assert done() == {"agents", "pay", "words"}
    assert Record.objects.filter(action="seen", details__point="pay").count() == 1
    client.post(page("save", study.pk), sent(study.draft | {"pay": {"base": "2.00"}}, edit=0))
    assert done() == {"agents", "words"}


def test_comparison_of_versions_is_in_words(client, boss):
    study = launched(slug="s", turn=60)
    document = json.loads(json.dumps(study.draft))
    document["journey"][1]["timing"]["turn"] = 90
    client.post(page("save", study.pk), sent(document, edit=study.edit))
    text = client.get(page("compare", study.pk)).content.decode()
    assert "90 s" in text and "new version" in text
