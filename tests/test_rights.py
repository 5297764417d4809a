"""Every URL of the admin, for every kind of visitor: what their role allows, and nothing without a role.

The URLs are read from the resolver, so a page added later is tested too: with its entry in PAGES, or
else with the minimum for any page (`UNKNOWN`).
"""

from __future__ import annotations

import copy
import re
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.resolvers import RoutePattern
from django.utils import timezone

from api import tokens
from audit.models import Record
from collecting.models import Collection, Item
from collecting.planning import Plan, make_collection
from conftest import by_day
from exports.models import Dataset
from exports.tests import building
from marketplaces.models import Account, Recruitment
from marketplaces.mturk.models import Hit
from marketplaces.prolific.models import Publication
from matches.models import Match
from opponents.models import Call, Endpoint
from panels.models import Panel
from participants.models import ProblemReport
from piloting import services as pilots
from recruiters.models import Delivery, Identity, LabCode, OtreeServer
from rights.members import give
from rights.roles import Role
from studies.models import Study
from surveys.models import Response

pytestmark = pytest.mark.django_db

VISITORS = ("anonymous", "staff", "viewer", "editor", "owner", "superuser")
LOGIN, GONE, REFUSED, WRONG_METHOD, SERVED = "sent to the login", "not found", "refused", "wrong method", "served"
KEPT_AWAY = frozenset({LOGIN, GONE, REFUSED, WRONG_METHOD})

Expected = dict[str, frozenset[str]]
"""By visitor, the outcomes above that are correct."""


def by(**outcomes: str | frozenset[str]) -> Expected:
    """Return expectations from those of `anonymous`, `staff` (no role), `viewer`, `editor`, `owner`, `superuser`."""
    return {who: frozenset({what}) if isinstance(what, str) else what for who, what in outcomes.items()}


def from_on(least: str, below: str, *, outside: str = GONE) -> Expected:
    """Expect success for `least` and above; `below` under that; `outside` for staff without a role."""
    members = VISITORS[2:]
    served = members[members.index(least) :] if least in members else ()
    return by(anonymous=LOGIN, staff=outside, **{who: SERVED if who in served else below for who in members})


ANYBODY = dict.fromkeys(VISITORS, frozenset({SERVED}))
STAFF = by(anonymous=LOGIN, **dict.fromkeys(VISITORS[1:], SERVED))
NOBODY = by(anonymous=LOGIN, **dict.fromkeys(VISITORS[1:], frozenset({REFUSED, GONE})))
BY_POST = by(anonymous=LOGIN, **dict.fromkeys(VISITORS[1:], WRONG_METHOD))
ONLY_OTHERWISE = by(**dict.fromkeys(VISITORS, WRONG_METHOD))
"""For URLs that refuse the method before they check the visitor."""
SUPERUSERS = from_on("superuser", REFUSED, outside=REFUSED)
SUPERUSERS_THINGS = from_on("superuser", frozenset({REFUSED, GONE}), outside=frozenset({REFUSED, GONE}))
UNKNOWN = by(anonymous=LOGIN, staff=frozenset({GONE, REFUSED, WRONG_METHOD}))
"""For a page about one object that PAGES does not list; a viewer's posts are refused too."""

WHOLES = ("studies_study", "collecting_collection")
RECORDS = (
    "studies_version", "studies_placement", "participants_enrolment", "participants_problemreport", "matches_match",
    "checks_verdict", "surveys_response", "payouts_ledgerrow", "opponents_call", "collecting_item", "piloting_pilot",
    "recruiters_delivery", "mturk_hit", "mturk_assignment",
)  # fmt: skip
FOR_OWNERS = ("audit_record", "api_token", "recruiters_otreeserver")
FOR_SUPERUSERS = ("auth_user", "recruiters_identity", "opponents_endpoint")


def action(least: str) -> tuple[Expected, Expected]:
    return BY_POST, from_on(least, REFUSED)


def shown(least: str) -> tuple[Expected, Expected]:
    return from_on(least, GONE), BY_POST


def look(least: str) -> tuple[Expected, Expected]:
    return from_on(least, REFUSED), from_on(least, REFUSED)


PAGES: dict[str, tuple[Expected, Expected]] = {
    "index": (STAFF, STAFF),
    "login": (ANYBODY, ANYBODY),
    "logout": (
        by(anonymous=SERVED, **dict.fromkeys(VISITORS[1:], WRONG_METHOD)),
        by(**dict.fromkeys(VISITORS, frozenset({SERVED, LOGIN}))),
    ),
    "studies_study_launch": action("editor"),
    "studies_study_pause": action("editor"),
    "studies_study_close": action("owner"),
    "studies_study_codes": action("editor"),
    "studies_study_codes_file": look("editor"),
    "studies_study_all_codes": (from_on("editor", REFUSED), BY_POST),
    "studies_study_upload_codes": action("editor"),
    "studies_study_delete_codes": action("editor"),
    "studies_study_members": look("viewer"),
    "studies_study_set_member": action("owner"),
    "collecting_collection_size": (BY_POST, STAFF),
    "collecting_collection_start": action("editor"),
    "collecting_collection_pause": action("editor"),
    "collecting_collection_retry": action("editor"),
    "collecting_collection_budget": action("editor"),
    "collecting_collection_progress": (from_on("viewer", GONE), BY_POST),
    "collecting_collection_content": (from_on("viewer", GONE), BY_POST),
    "collecting_collection_members": look("viewer"),
    "collecting_collection_set_member": action("owner"),
    "opponents_endpoint_try": (BY_POST, SUPERUSERS_THINGS),
    "auth_user_password_change": (SUPERUSERS_THINGS, SUPERUSERS_THINGS),
    **{
        f"exports:{name}{of}": expected
        for of in ("", "_of_collection")
        for name, expected in {
            "page": (from_on("viewer", GONE), ONLY_OTHERWISE),
            "now": (from_on("viewer", GONE), ONLY_OTHERWISE),
            **dict.fromkeys(("write", "publish", "stop", "download"), (ONLY_OTHERWISE, from_on("editor", REFUSED))),
        }.items()
    },
    **{
        f"reports:{name}{of}": expected
        for of in ("", "_of_collection")
        for name, expected in {
            "read": (from_on("viewer", GONE), ONLY_OTHERWISE),
            **dict.fromkeys(("analyse", "stop", "download"), (ONLY_OTHERWISE, from_on("editor", REFUSED))),
        }.items()
    },
    **dict.fromkeys(("judging:page", "judging:now"), (from_on("viewer", GONE), ONLY_OTHERWISE)),
    **dict.fromkeys(("judging:begin", "judging:stop", "judging:labels"), (ONLY_OTHERWISE, from_on("editor", REFUSED))),
    "audit_record_changelist": (STAFF, STAFF),
    "audit_record_add": (NOBODY, NOBODY),
    "audit_record_change": (from_on("owner", GONE), NOBODY),
    "audit_record_delete": (NOBODY, NOBODY),
    "audit_record_history": (from_on("owner", GONE), from_on("owner", GONE)),
    "erasing:erase": look("owner"),
    "studies_study_presets": (STAFF, BY_POST),
    "studies_study_preset": (BY_POST, STAFF),
    "studies_study_copy": action("viewer"),
    "studies_study_compare": shown("viewer"),
    "studies_study_add_live_preview": (BY_POST, STAFF),
    "studies_study_live_preview": action("editor"),
    "studies_study_add_prompts": (NOBODY, STAFF),
    "studies_study_prompts": look("viewer"),
    "collecting_collection_add_prompts": (BY_POST, STAFF),
    "collecting_collection_prompts": shown("viewer"),
    "matches_match_step": shown("viewer"),
    "matches_match_screen": shown("viewer"),
    "matches_match_watch": shown("viewer"),
    "matches_match_watch_now": shown("viewer"),
    "paydesk:page": (from_on("viewer", GONE), ONLY_OTHERWISE),
    "paydesk:row": (from_on("viewer", GONE), ONLY_OTHERWISE),
    "paydesk:finance": (ONLY_OTHERWISE, from_on("editor", REFUSED)),
    "paydesk:ask": (ONLY_OTHERWISE, {**from_on("superuser", REFUSED), **by(owner=GONE, superuser=GONE)}),
    "paydesk:do": (ONLY_OTHERWISE, {**from_on("superuser", REFUSED), **by(owner=GONE, superuser=GONE)}),
    "paydesk:try": (ONLY_OTHERWISE, from_on("owner", REFUSED)),
    "paydesk:limit": (ONLY_OTHERWISE, {**from_on("superuser", REFUSED), **by(owner=GONE, superuser=GONE)}),
    "paydesk:resolve": (ONLY_OTHERWISE, from_on("owner", REFUSED)),
    "monitoring:page": (from_on("viewer", GONE), ONLY_OTHERWISE),
    "monitoring:now": (from_on("viewer", GONE), ONLY_OTHERWISE),
    "monitoring:pause": (ONLY_OTHERWISE, from_on("editor", REFUSED)),
    "monitoring:resume": (ONLY_OTHERWISE, from_on("editor", REFUSED)),
    "monitoring:end_match": (ONLY_OTHERWISE, {**from_on("superuser", GONE), **by(viewer=REFUSED, superuser=GONE)}),
    "piloting_pilot_begin": action("editor"),
    "piloting_pilot_progress": shown("viewer"),
    "piloting_pilot_stop": action("editor"),
    "piloting_pilot_remove": action("editor"),
    "api_token_changelist": (STAFF, STAFF),
    "api_token_add": (STAFF, STAFF),
    "api_token_change": (from_on("owner", GONE), NOBODY),
    "api_token_delete": (NOBODY, NOBODY),
    "api_token_history": (from_on("owner", GONE), from_on("owner", GONE)),
    "api_token_revoke": (BY_POST, from_on("owner", GONE)),
    "recruiters_otreeserver_changelist": (STAFF, STAFF),
    "recruiters_otreeserver_add": (STAFF, STAFF),
    "recruiters_otreeserver_change": (from_on("owner", GONE), from_on("owner", GONE)),
    "recruiters_otreeserver_delete": (from_on("owner", GONE), from_on("owner", GONE)),
    "recruiters_otreeserver_history": (from_on("owner", GONE), from_on("owner", GONE)),
    "marketplaces_account_changelist": (STAFF, STAFF),
    "marketplaces_account_add": (STAFF, STAFF),
    "marketplaces_account_change": (from_on("viewer", GONE), from_on("owner", REFUSED, outside=GONE)),
    "marketplaces_account_delete": (from_on("owner", REFUSED, outside=GONE), from_on("owner", REFUSED, outside=GONE)),
    "marketplaces_account_history": (from_on("viewer", GONE), from_on("viewer", GONE)),
    "marketplaces_account_try": action("editor"),
    "marketplaces_account_members": look("viewer"),
    "marketplaces_account_set_member": action("owner"),
    "marketplaces_recruitment_changelist": (STAFF, STAFF),
    "marketplaces_recruitment_add": (STAFF, STAFF),
    "marketplaces_recruitment_change": (from_on("viewer", GONE), from_on("owner", REFUSED, outside=GONE)),
    "marketplaces_recruitment_delete": (
        from_on("owner", REFUSED, outside=GONE),
        from_on("owner", REFUSED, outside=GONE),
    ),
    "marketplaces_recruitment_history": (from_on("viewer", GONE), from_on("viewer", GONE)),
    "marketplaces_recruitment_ask": action("editor"),
    "panels_panel_changelist": (STAFF, STAFF),
    "panels_panel_add": (STAFF, STAFF),
    "panels_panel_change": (from_on("viewer", GONE), from_on("editor", REFUSED, outside=GONE)),
    "panels_panel_delete": (from_on("owner", REFUSED, outside=GONE), from_on("owner", REFUSED, outside=GONE)),
    "panels_panel_history": (from_on("viewer", GONE), from_on("viewer", GONE)),
    "panels_panel_of": shown("viewer"),
    "panels_panel_lists": shown("viewer"),
    "panels_panel_make": action("owner"),
    "panels_panel_download": action("owner"),
    "panels_panel_paid": look("owner"),
    "panels_panel_take_back": look("owner"),
    "mturk_hit_of_study": (from_on("viewer", GONE), from_on("viewer", GONE)),
    "mturk_hit_publish": look("editor"),
    "mturk_hit_adopt": action("editor"),
    "mturk_hit_worker": action("owner"),
    "mturk_hit_again": (BY_POST, from_on("editor", REFUSED)),
    "mturk_hit_extend": look("editor"),
    "mturk_hit_prolong": look("editor"),
    "mturk_hit_expire": look("editor"),
    "mturk_hit_dispose": look("owner"),
    "mturk_assignment_reject": look("owner"),
    "mturk_assignment_take_back": look("owner"),
    "prolific_publication_changelist": (STAFF, STAFF),
    "prolific_publication_add": (NOBODY, NOBODY),
    "prolific_publication_change": (from_on("viewer", GONE), from_on("nobody", REFUSED)),
    "prolific_publication_delete": (NOBODY, NOBODY),
    "prolific_publication_history": (from_on("viewer", GONE), from_on("viewer", GONE)),
    "prolific_publication_of": (from_on("viewer", GONE), from_on("viewer", GONE)),
    "prolific_publication_publish": look("editor"),
    "prolific_publication_pause": action("editor"),
    "prolific_publication_resume": action("editor"),
    "prolific_publication_stop": action("owner"),
    "prolific_publication_places": action("editor"),
    "prolific_publication_find": action("editor"),
    "prolific_publication_refresh": action("editor"),
    "prolific_publication_forget": action("owner"),
    "prolific_publication_hooks": action("editor"),
    "prolific_publication_authenticity": action("editor"),
    "prolific_publication_adopt": action("editor"),
    "prolific_publication_reject": look("owner"),
    "prolific_publication_ask_return": look("owner"),
    "prolific_publication_pay_part": look("owner"),
    "signin:second_factor": (STAFF, STAFF),
    "signin:choose_password": (ANYBODY, ANYBODY),  # without a valid link it only shows an error
    "signin:verify": (STAFF, STAFF),
}
for _model in WHOLES:
    PAGES |= {
        f"{_model}_changelist": (STAFF, STAFF),
        f"{_model}_add": (STAFF, STAFF),
        f"{_model}_change": (from_on("viewer", GONE), from_on("editor", REFUSED, outside=frozenset({GONE, REFUSED}))),
        f"{_model}_history": (from_on("viewer", GONE), from_on("viewer", GONE)),
    }
PAGES |= {
    "studies_study_delete": (from_on("owner", REFUSED), from_on("owner", REFUSED)),
    "collecting_collection_delete": (NOBODY, NOBODY),
}
for _model in RECORDS:
    PAGES |= {
        f"{_model}_changelist": (STAFF, STAFF),
        f"{_model}_add": (NOBODY, NOBODY),
        f"{_model}_change": (from_on("viewer", GONE), NOBODY),
        f"{_model}_delete": (NOBODY, NOBODY),
        f"{_model}_history": (from_on("viewer", GONE), from_on("viewer", GONE)),
    }
for _model in ("matches_match", "collecting_collection", "piloting_pilot"):  # read-only pages of their own
    PAGES[f"{_model}_change"] = (from_on("viewer", GONE), from_on("viewer", GONE))
for _model in FOR_SUPERUSERS:
    _adds = NOBODY if _model == "recruiters_identity" else SUPERUSERS
    _changes = NOBODY if _model == "recruiters_identity" else SUPERUSERS_THINGS
    PAGES |= {
        f"{_model}_changelist": (SUPERUSERS, SUPERUSERS),
        f"{_model}_add": (_adds, _adds),
        f"{_model}_change": (SUPERUSERS_THINGS, _changes),
        f"{_model}_delete": (_changes, _changes),
        f"{_model}_history": (SUPERUSERS_THINGS, SUPERUSERS_THINGS),
    }


@dataclass(frozen=True)
class Address:
    """One URL of the admin; `about` is whether it names an object."""

    name: str
    route: str
    about: bool


def addresses() -> Iterator[Address]:
    """Yield all URLs that start with admin/, as the resolver lists them."""

    def walk(patterns: list[Any], before: str, space: str) -> Iterator[Address]:
        for one in patterns:
            route = before + (one.pattern._route if isinstance(one.pattern, RoutePattern) else f"~{one.pattern}")
            if isinstance(one, URLResolver):
                names = f"{one.namespace}:" if one.namespace and one.namespace != "admin" else space
                yield from walk(one.url_patterns, route, names)
            elif isinstance(one, URLPattern) and route.startswith("admin/"):
                yield Address(f"{space}{one.name or ''}", route, "<" in route)

    yield from walk(get_resolver().url_patterns, "", "")


NOT_OURS = {
    "": "an old address that leads on to the page itself",
    "app_list": "a list of the pages that one may see",
    "view_on_site": "taken away, see test_no_url_leads_to_a_participants_page",
}


OTHER_PARTS = {"uidb64": "MQ", "token": "untrue", "number": "1", "side": "after", "role": "alice", "name": "glee-human"}
"""Values of URL parts that name no row."""


class House:
    """A study and a collection with everything that belongs to them, and others in which nobody has a role."""

    def __init__(self) -> None:
        self.user = {name: User.objects.create_user(f"the-{name}", is_staff=True) for name in VISITORS[1:-1]}
        self.user["superuser"] = User.objects.create_superuser("the-superuser")
        self.study, self.collection = self._furnish("seen", "A1SEENWORKER")
        self.hidden, self.hidden_collection = self._furnish("hidden", "A1HIDDENWORKER")
        self.account = Account.objects.create(title="seen account", kind="mturk", address="http://127.0.0.1:9")
        Account.objects.create(title="account that is hidden", kind="mturk", address="http://127.0.0.1:9")
        self._offer(self.study, self.account)
        self._offer(self.hidden, self.account)
        self.draft = Study.objects.create(title="Seen draft", slug="seen-draft", game="bargaining")
        for role in Role:
            for thing in (self.study, self.collection, self.draft, self.account):
                give(thing, user=self.user[role], role=role, by=None)
        give(self.hidden, user=User.objects.create_user("somebody", is_staff=True), role=Role.OWNER, by=None)
        Endpoint.objects.create(name="kept", protocol="openai", base_url="http://127.0.0.1:9")
        person = self.hidden.versions.get().cells.get().placements.get().enrolment
        self.untold = [
            "Title that is hidden", "hidden-slug", person.pseudonym, person.token, person.completion_code,
            "A1HIDDENWORKER", "hiddencode", "words that are hidden",
            "hidden.example.org", "program that is hidden",
            "account that is hidden", "account of hidden", "panel that is hidden", "task that is hidden",
            str(building.match_of(person).uid)[:8],
        ]  # fmt: skip

    def _furnish(self, word: str, worker: str) -> tuple[Study, Collection]:
        study = building.new_study(slug=f"{word}-slug", title=f"Title that is {word}")
        person = building.complete(study, worker=worker, messages=[f"words that are {word}"])
        ProblemReport.objects.create(enrolment=person, text=f"words that are {word}")
        LabCode.objects.create(study=study.slug, code=f"{word}code")
        Response.objects.create(
            enrolment=person,
            survey="after",
            questions=[{"key": "why", "prompt": "Why?"}],
            answers={"why": f"words that are {word}"},
        )
        Delivery.objects.create(enrolment=person)
        Panel.objects.create(
            study=study, preset="any_site", title=f"panel that is {word}", person="id",
            columns="id = person\namount = amount",
        )  # fmt: skip
        study.payment_lists.create(number=1)
        OtreeServer.objects.create(study=study.slug, addresses=f"https://{word}.example.org")
        account = Account.objects.create(title=f"account of {word}", kind="mturk", address="http://127.0.0.1:9")
        Recruitment.objects.create(study=study, account=account)
        for role, user in self.user.items():
            if word == "seen" and role in Role.values:
                give(account, user=user, role=Role(role), by=None)
        task = Hit.objects.create(
            study=study, account=account, title=f"task that is {word}", hit_id=f"3{word}", reward=1, assignments=1,
            lifetime=60, duration=60, auto_approval=60,
        )  # fmt: skip
        task.submitted.create(
            assignment_id=f"3A{word}", status="Submitted", whose="ours", identity=person.identity,
            submitted_at=timezone.now(),
        )  # fmt: skip
        tomorrow = timezone.now() + timedelta(days=1)
        maker = self.user["superuser"]
        tokens.issue(study=study, name=f"program that is {word}", scopes=["read"], expires_at=tomorrow, by=maker)
        pilots.begin(study, people=1)
        building.save_call(building.match_of(person), messages=[{"role": "user", "content": f"words that are {word}"}])
        collection = make_collection(
            Plan(
                title=f"Title that is {word}", slug=f"{word}-collection", game="bargaining",
                configurations=[{}], agents=["script:fair"],
            )
        )  # fmt: skip
        match = building.match_of(person)
        match.pk, match.uid, match.purpose = None, uuid.uuid4(), Match.Purpose.COLLECTION
        match.save(force_insert=True)
        Item.objects.create(collection=collection, number=1, match=match)
        Dataset.objects.create(study=study, state=Dataset.State.READY)
        Dataset.objects.create(collection=collection, state=Dataset.State.READY)
        return study, collection

    def _offer(self, study: Study, account: Account) -> None:
        Publication.objects.create(
            study=study, account=account, internal_name=f"name of {study.slug}", prolific_id=f"id-of-{study.slug}",
            status="UNPUBLISHED", name=study.title, description=study.title, places=1, minutes=1, reward=1,
            currency="USD", address="http://127.0.0.1:9/",
            codes={"completed": "A", "screened_out": "B", "returned": "C"},
        )  # fmt: skip

    def key(self, model: str) -> Any:
        """Return the primary key of the row of `model` (as in page names) that belongs to the visible study."""
        found: dict[str, Callable[[], Any]] = {
            "studies_study": lambda: self.study,
            "collecting_collection": lambda: self.collection,
            "collecting_item": lambda: self.collection.items.first(),
            "studies_version": lambda: self.study.versions.get(),
            "studies_placement": lambda: self._person.placement,
            "participants_enrolment": lambda: self._person,
            "participants_problemreport": lambda: self._person.problem_reports.first(),
            "matches_match": lambda: building.match_of(self._person),
            "checks_verdict": lambda: self._person.verdicts.first(),
            "payouts_ledgerrow": lambda: self._person.ledger.first(),
            "opponents_call": lambda: Call.objects.get(match_uid=building.match_of(self._person).uid),
            "surveys_response": lambda: self._person.surveys.first(),
            "recruiters_delivery": lambda: self._person.delivery,
            "recruiters_otreeserver": lambda: OtreeServer.objects.get(study=self.study.slug),
            "panels_panel": lambda: self.study.panel,
            "prolific_publication": lambda: self.study.publication,
            "marketplaces_account": lambda: self.account,
            "marketplaces_recruitment": lambda: self.study.recruitment,
            "mturk_hit": lambda: self.study.hits.get(),
            "mturk_assignment": lambda: self.study.hits.get().submitted.get(),
            "api_token": lambda: self.study.api_tokens.get(),
            "piloting_pilot": lambda: self.study.pilots.get(),
            "opponents_endpoint": lambda: Endpoint.objects.get(),
            "recruiters_identity": lambda: Identity.objects.get(enrolment=self._person),
            "auth_user": lambda: self.user["staff"],
            "audit_record": lambda: Record.objects.filter(of_kind="studies.study", of_key=self.study.pk).first(),
        }
        made = found.get(model)
        return made().pk if made else apps.get_model(*model.split("_", 1)).objects.values_list("pk", flat=True).first()

    @property
    def _person(self) -> Any:
        return self.study.versions.get().cells.get().placements.get().enrolment

    def path(self, address: Address) -> str:
        """Return the URL with its parts filled in."""
        if address.name == "studies_study_delete":
            return f"/admin/studies/study/{self.draft.pk}/delete/"
        parts = address.route.split("/")
        model = f"{parts[1]}_{parts[2]}" if len(parts) > 2 else ""

        def filled(found: re.Match[str]) -> str:
            name = found[1].split(":")[-1]
            if name == "slug":
                return "seen-collection" if "collection" in address.name else "seen-slug"
            if name == "enrolment":
                return str(self._person.pk)
            if name == "uid" and address.name.startswith("paydesk:"):
                return str(self._person.ledger.first().uid)
            if address.name.startswith(("monitoring:", "paydesk:")) or name == "study_id":
                return str(self.study.pk)
            if name == "collection_id":
                return str(self.collection.pk)
            if name == "uid":
                mine = {"collection": self.collection} if "collections" in parts else {"study": self.study}
                return str(Dataset.objects.get(**mine).uid)
            if name in ("object_id", "id"):
                return str(self.key(model))
            if name in OTHER_PARTS:
                return OTHER_PARTS[name]
            pytest.fail(f"No value for <{name}> in {address.route}: add one to House.path.")

        return "/" + re.sub(r"<([^>]+)>", filled, address.route)

    def client(self, visitor: str) -> Client:
        client = Client(raise_request_exception=True)
        if visitor != "anonymous":
            client.force_login(self.user[visitor])
        return client


@pytest.fixture
def house(db) -> House:
    return House()


def outcome(response: HttpResponse) -> str:
    if response.status_code == 302 and "/admin/login/" in response["Location"]:
        return LOGIN
    return {403: REFUSED, 404: GONE, 405: WRONG_METHOD, 200: SERVED, 302: SERVED}[response.status_code]


def ask(client: Client, method: str, path: str) -> HttpResponse:
    """Return the response, then undo all changes."""
    cookies = copy.deepcopy(client.cookies)
    with transaction.atomic():
        response = getattr(client, method)(path, {"post": "yes"} if method == "post" else {})
        if response.streaming:
            b"".join(response.streaming_content)
        transaction.set_rollback(True)
    client.cookies = cookies
    return response


def expected(address: Address, method: str) -> Expected:
    if address.name in PAGES:
        return PAGES[address.name][method == "post"]
    if not address.about:
        return by(anonymous=LOGIN)
    return {**UNKNOWN, **(by(viewer=KEPT_AWAY) if method == "post" else {})}


@pytest.mark.parametrize("visitor", by_day(VISITORS, VISITORS[:-1]))
def test_every_page_allows_what_the_visitors_role_allows(house: House, visitor: str):
    client = house.client(visitor)
    wrong = []
    tried = 0
    for address in addresses():
        if address.name in NOT_OURS or address.route.endswith("~(?P<url>.*)$"):
            continue
        path = house.path(address)
        for method in ("get", "post"):
            response = ask(client, method, path)
            tried += 1
            right = expected(address, method).get(visitor)
            came = outcome(response)
            if right is not None and came not in right:
                wrong.append(f"{visitor}: {method} {path} ({address.name}): {came}, not {' or '.join(sorted(right))}")
            if visitor != "superuser" and came == SERVED and not response.streaming:
                page = response.content.decode(errors="replace")
                wrong += [f"{visitor}: {method} {path} reveals “{text}”" for text in house.untold if text in page]
    assert not wrong, "\n".join(wrong)
    assert tried > 150, "the admin has many more URLs than that"


@pytest.mark.parametrize("visitor", VISITORS[1:])
def test_lists_contain_only_the_visitors_studies(house: House, visitor: str):
    client = house.client(visitor)
    for model in (*WHOLES, *RECORDS, *FOR_OWNERS):
        cls = apps.get_model(*model.split("_", 1))
        listed = {row.pk for row in client.get(f"/admin/{model.replace('_', '/', 1)}/").context["cl"].result_list}
        if visitor == "superuser":
            assert listed == set(cls.objects.values_list("pk", flat=True)), model
        elif visitor == "staff" or (model in FOR_OWNERS and visitor != "owner"):
            assert not listed, model
        else:
            assert house.key(model) in listed, model
            assert len(listed) < cls.objects.count(), model


def test_superuser_pages_are_in_no_other_side_bar(house: House):
    page = house.client("owner").get("/admin/").content.decode()
    assert "/admin/studies/study/" in page and "/admin/audit/record/" in page
    for model in FOR_SUPERUSERS:
        assert f"/admin/{model.replace('_', '/', 1)}/" not in page
        assert f"/admin/{model.replace('_', '/', 1)}/" in house.client("superuser").get("/admin/").content.decode()


def test_no_url_leads_to_a_participants_page(house: House):
    from django.contrib.contenttypes.models import ContentType

    person = house._person
    kind = ContentType.objects.get_for_model(person)
    for visitor in VISITORS:
        response = house.client(visitor).get(f"/admin/r/{kind.pk}/{person.pk}/")
        assert person.token not in response.headers.get("Location", "")
        assert outcome(response) in {GONE, LOGIN}


def test_owners_add_and_remove_members_but_one_owner_stays(house: House):
    owner, page = house.client("owner"), f"/admin/studies/study/{house.study.pk}/members/"
    staff = house.user["staff"]
    assert owner.post(f"{page}set/", {"person": staff.pk, "role": "editor"}).status_code == 302
    assert house.study.members.get(user=staff).role == Role.EDITOR
    assert house.client("staff").get(page).status_code == 200
    owner.post(f"{page}set/", {"person": staff.pk, "role": ""})
    assert not house.study.members.filter(user=staff).exists()
    for role in ("viewer", ""):
        response = owner.post(f"{page}set/", {"person": house.user["owner"].pk, "role": role}, follow=True)
        assert "There must be an owner" in response.content.decode()
        assert house.study.members.get(user=house.user["owner"]).role == Role.OWNER
    for nonsense in ({"person": "99999", "role": "editor"}, {"person": "x", "role": "viewer"}, {"role": "editor"}, {}):
        before = list(house.study.members.values_list("user", "role"))
        owner.post(f"{page}set/", nonsense)
        owner.post(f"{page}set/", {"person": staff.pk, "role": "king"})
        assert list(house.study.members.values_list("user", "role")) == before
    told = Record.objects.filter(action="rights_changed", by="the-owner", of_key=house.study.pk).order_by("pk")
    assert [record.details["role"] for record in told] == ["editor", None]


def test_deactivated_user_sees_nothing(house: House):
    client = house.client("owner")
    User.objects.filter(pk=house.user["owner"].pk).update(is_active=False)
    assert outcome(client.get(f"/admin/studies/study/{house.study.pk}/change/")) == LOGIN
    User.objects.filter(pk=house.user["owner"].pk).update(is_active=True, is_staff=False)
    assert outcome(client.post(f"/admin/exports/studies/{house.study.pk}/write/")) == LOGIN
