"""What only Prolific's pages have: a draft that is published, paused and stopped, and found or forgotten."""

from __future__ import annotations

import pytest
from django.test import Client

from audit.models import Record
from marketplaces.models import Offer
from marketplaces.prolific.standin import TOKEN
from rights.roles import Role
from tests.visitors import text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(desk) -> Client:
    return desk.sign_in(Role.OWNER, account=Role.EDITOR)


def test_study_is_offered_published_and_stopped(desk, owner):
    form = text_of(owner.get(desk.offering))
    assert "Create draft" in form and "1.00 USD" in form
    page = owner.post(desk.offering, {**desk.form, "project": desk.market.project}, follow=True)
    assert "is a draft on Prolific" in text_of(page)
    price = text_of(owner.get(desk.act("publish")))
    assert "28.00 USD" in price and "10000.00 USD" in price and "nobody is paid" in price
    assert desk.offered.status == "UNPUBLISHED"
    for name, typed, expected_text in (
        ("publish", {}, "can find it now"),
        ("pause", {}, "More places …"),
        ("resume", {}, "new participants can start there again"),
        ("places", {"places": "25"}, "There are 25 places now"),
        ("places", {"places": "3"}, "can only add places"),
        ("stop", {}, "stopped for good: no new participants"),
    ):
        assert expected_text in text_of(owner.post(desk.act(name), typed, follow=True))
    expected = ["made", "published", "paused", "resumed", "extended", "stopped"]
    actions = Record.objects.filter(of_kind="studies.study").order_by("pk").values_list("action", flat=True)
    assert [action for action in actions if action in expected] == expected


def test_invalid_form_is_reported_and_creates_nothing(desk, owner):
    page = text_of(owner.post(desk.offering, {**desk.form, "places": "0", "devices": []}))
    assert "greater than or equal to 1" in page and "This field is required" in page
    assert not desk.offers and not Offer.objects.exists()


def test_editors_can_neither_stop_nor_forget(desk):
    editor = desk.sign_in(Role.EDITOR, account=Role.EDITOR)
    desk.publish()
    assert {editor.post(desk.act(name)).status_code for name in ("stop", "forget")} == {403}


def test_page_offers_what_this_user_can_do_now(desk, owner):
    desk.publish()
    editor = desk.sign_in(Role.EDITOR, account=Role.VIEWER)

    def offered(client: Client) -> list[str]:
        return [button.text for button in client.get(desk.page).context["offers"][0]["buttons"]]

    flags = "Import authenticity flags …"
    all_now = ["Pause", "More places …", "Stop", flags, "Receive notifications from Prolific"]
    assert offered(owner) == all_now
    assert offered(editor) == ["Pause", flags], "stopping is the owner's, the rest the account's"
    owner.post(desk.act("pause"))
    assert offered(owner)[:3] == ["Resume", "More places …", "Stop"] and "Resume" not in offered(editor)


def test_actions_are_only_posted_to(desk, owner):
    desk.draft()
    for name in ("pause", "resume", "stop", "forget"):
        assert owner.get(desk.act(name)).status_code == 405
    assert owner.post(desk.page, {"places": 5}).status_code == 405


@pytest.mark.parametrize("kind", ["cut", "refused", "garbage", "rate"])
def test_error_of_an_action_is_shown_and_can_be_retried(desk, owner, kind):
    desk.draft()
    steps = [("publish", {}), ("pause", {}), ("resume", {}), ("places", {"places": "30"})]
    for name, typed in steps:
        desk.standin.misbehave(kind, ".", times=3)
        page = owner.post(desk.act(name), typed, follow=True)
        assert page.status_code == 200 and "Prolific" in text_of(page), name
        desk.standin.behave()
        owner.post(desk.act(name), typed)
    assert desk.offered.status == "ACTIVE" and desk.offered.places == 30
    desk.standin.misbehave(kind, ".", times=1)
    assert owner.get(desk.act("publish")).status_code in (200, 302)


def test_draft_deleted_on_prolific_can_be_created_again(desk, owner):
    desk.draft()
    assert "still on Prolific" in text_of(owner.post(desk.act("forget"), follow=True))
    desk.market.studies.clear()
    assert "can create a new one" in text_of(owner.post(desk.act("forget"), follow=True))
    assert not Offer.objects.exists()


def test_pages_show_no_identifier_or_token(desk, owner):
    desk.publish()
    workers = [desk.worker() for _i in range(3)]
    workers[0].work()
    workers[1].arrive()
    workers[2].submit()
    desk.sync()
    recruitment = f"/admin/marketplaces/recruitment/{desk.recruitment.pk}/change/"
    for address in (desk.page, "/admin/marketplaces/offer/", recruitment):
        page = owner.get(address).content.decode()
        assert TOKEN not in page
        for worker in workers:
            assert worker.participant not in page and worker.key not in page
