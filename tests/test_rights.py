"""Every URL of the admin gives every kind of visitor exactly what their role allows.

The URLs come from the resolver, so pages added later are tested too: with their entry in PAGES, or with the
minimum for any page (`UNKNOWN`).
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
from collecting.tests.kit import new_collection
from conftest import slow_except
from exports.models import Dataset
from exports.tests import building
from helping.models import Message
from marketplaces import kinds, modules
from marketplaces.models import Account, Recruitment
from matches.models import Match
from opponents.models import Call, Endpoint
from panels.models import Panel
from participants.models import ProblemReport
from piloting import services as pilots
from programs.models import Program
from recruiters.models import Delivery, Identity, LabCode, OtreeServer
from rights.members import give
from rights.roles import Role
from studies.models import Study
from studies.tests import kit
from surveys.models import Response

pytestmark = pytest.mark.django_db

VISITORS = ("anonymous", "staff", "viewer", "editor", "owner", "superuser")
LOGIN, NOT_FOUND, REFUSED, WRONG_METHOD, SERVED = "sent to the login", "not found", "refused", "wrong method", "served"
DENIED = frozenset({LOGIN, NOT_FOUND, REFUSED, WRONG_METHOD})

Expected = dict[str, frozenset[str]]
"""The correct outcomes, by visitor."""


def expect_outcomes(**outcomes: str | frozenset[str]) -> Expected:
    """Return the expectations of these visitors: anonymous, staff (no role), viewer, editor, owner, superuser."""
    return {visitor: frozenset({result}) if isinstance(result, str) else result for visitor, result in outcomes.items()}


def from_role(least: str, below: str, *, outside: str = NOT_FOUND) -> Expected:
    """Expect success for the role `least` and above, `below` for lower roles, `outside` for staff without a role."""
    members = VISITORS[2:]
    served = members[members.index(least) :] if least in members else ()
    return expect_outcomes(
        anonymous=LOGIN, staff=outside, **{visitor: SERVED if visitor in served else below for visitor in members}
    )


EVERYONE = dict.fromkeys(VISITORS, frozenset({SERVED}))
STAFF = expect_outcomes(anonymous=LOGIN, **dict.fromkeys(VISITORS[1:], SERVED))
NOBODY = expect_outcomes(anonymous=LOGIN, **dict.fromkeys(VISITORS[1:], frozenset({REFUSED, NOT_FOUND})))
BY_POST = expect_outcomes(anonymous=LOGIN, **dict.fromkeys(VISITORS[1:], WRONG_METHOD))
ALWAYS_WRONG_METHOD = expect_outcomes(**dict.fromkeys(VISITORS, WRONG_METHOD))
"""Expectations of URLs that refuse the method before they check the visitor."""
SUPERUSER_LISTS = from_role("superuser", REFUSED, outside=REFUSED)
SUPERUSER_OBJECTS = from_role("superuser", frozenset({REFUSED, NOT_FOUND}), outside=frozenset({REFUSED, NOT_FOUND}))
UNKNOWN = expect_outcomes(anonymous=LOGIN, staff=frozenset({NOT_FOUND, REFUSED, WRONG_METHOD}))
"""Expectations of pages about one object that PAGES does not list; viewers' posts must be refused too."""

TOP_LEVEL_MODELS = ("studies_study", "collecting_collection")
RECORDS = (
    "studies_version", "studies_placement", "participants_enrolment", "participants_problemreport", "matches_match",
    "helping_message",
    "checks_verdict", "surveys_response", "payouts_ledgerrow", "opponents_call", "collecting_item", "piloting_pilot",
    "recruiters_delivery", "marketplaces_offer", "marketplaces_submission",
)  # fmt: skip
OWNER_MODELS = ("audit_record", "api_token", "recruiters_otreeserver")
SUPERUSER_MODELS = ("auth_user", "recruiters_identity", "opponents_endpoint")


VIEWERS, EDITORS, OWNERS = (from_role(least, NOT_FOUND) for least in ("viewer", "editor", "owner"))
OPEN, READ = (STAFF, STAFF), (VIEWERS, ALWAYS_WRONG_METHOD)


def post_only(least: str) -> tuple[Expected, Expected]:
    return BY_POST, from_role(least, REFUSED)


def found_then_posted(least: str) -> tuple[Expected, Expected]:
    """Return the expectations of an action that depends on its object, which is looked up first."""
    return {**BY_POST, "staff": frozenset({NOT_FOUND})}, from_role(least, REFUSED)


def get_only(least: str) -> tuple[Expected, Expected]:
    return from_role(least, NOT_FOUND), BY_POST


def act(least: str) -> tuple[Expected, Expected]:
    """Return the expectations of a URL that refuses GET to anyone."""
    return ALWAYS_WRONG_METHOD, from_role(least, REFUSED)


def both(expected: Expected) -> tuple[Expected, Expected]:
    return expected, expected


def get_and_post(least: str) -> tuple[Expected, Expected]:
    return from_role(least, REFUSED), from_role(least, REFUSED)


def named(prefix: str, names: str, expected: tuple[Expected, Expected]) -> dict[str, tuple[Expected, Expected]]:
    return {f"{prefix}{name}": expected for name in names.split()}


PAGES: dict[str, tuple[Expected, Expected]] = {
    "index": OPEN,
    "login": (EVERYONE, EVERYONE),
    "logout": (
        expect_outcomes(anonymous=SERVED, **dict.fromkeys(VISITORS[1:], WRONG_METHOD)),
        expect_outcomes(**dict.fromkeys(VISITORS, frozenset({SERVED, LOGIN}))),
    ),
    **named("api_token_", "changelist add", OPEN),
    "api_token_change": (OWNERS, NOBODY),
    "api_token_delete": (NOBODY, NOBODY),
    "api_token_history": both(OWNERS),
    "api_token_revoke": (BY_POST, OWNERS),
    **named("programs_program_", "changelist add", OPEN),
    "programs_program_change": both(OWNERS),
    "programs_program_delete": (NOBODY, NOBODY),
    "programs_program_history": both(OWNERS),
    "programs_program_renew": (BY_POST, OWNERS),
    "audit_record_changelist": OPEN,
    **named("audit_record_", "add delete", (NOBODY, NOBODY)),
    "audit_record_change": (OWNERS, NOBODY),
    "audit_record_history": both(OWNERS),
    "auth_user_password_change": (SUPERUSER_OBJECTS, SUPERUSER_OBJECTS),
    **named("collecting_collection_", "start pause retry budget", post_only("editor")),
    **named("collecting_collection_", "progress file", (VIEWERS, BY_POST)),
    "collecting_collection_members": get_and_post("viewer"),
    "collecting_collection_set_member": post_only("owner"),
    "collecting_collection_prompts": get_only("viewer"),
    "erasing:erase": get_and_post("owner"),
    **named("marketplaces_account_", "changelist add", OPEN),
    "marketplaces_account_change": (VIEWERS, from_role("owner", REFUSED)),
    "marketplaces_account_delete": both(from_role("owner", REFUSED)),
    "marketplaces_account_history": both(VIEWERS),
    "marketplaces_account_try": post_only("editor"),
    "marketplaces_account_members": get_and_post("viewer"),
    "marketplaces_account_set_member": post_only("owner"),
    **named("marketplaces_recruitment_", "changelist add", OPEN),
    "marketplaces_recruitment_change": (VIEWERS, from_role("owner", REFUSED)),
    "marketplaces_recruitment_delete": both(from_role("owner", REFUSED)),
    "marketplaces_recruitment_history": both(VIEWERS),
    "marketplaces_recruitment_ask": post_only("editor"),
    "marketplaces_submission_worker": post_only("owner"),
    **named("marketplaces_submission_", "reject take_back ask_return pay_part", get_and_post("owner")),
    "marketplaces_offer_of": get_only("viewer"),
    "marketplaces_offer_offer": get_and_post("editor"),
    "marketplaces_offer_adopt": post_only("editor"),
    **named("marketplaces_offer_", "publish prolong places authenticity", get_and_post("editor")),
    **named("marketplaces_offer_", "again discard pause resume hooks", found_then_posted("editor")),
    "marketplaces_offer_dispose": get_and_post("owner"),
    **named("marketplaces_offer_", "stop forget", found_then_posted("owner")),
    **named("matches_match_", "step screen watch watch_now", get_only("viewer")),
    **named("monitoring:", "page now", READ),
    **named("monitoring:", "pause resume", act("editor")),
    **named("monitoring:", "write close_question", act("editor")),
    "monitoring:end_match": (
        ALWAYS_WRONG_METHOD,
        {**from_role("superuser", NOT_FOUND), **expect_outcomes(viewer=REFUSED, superuser=NOT_FOUND)},
    ),
    **named("notifying_recipient_", "changelist add", OPEN),
    **named("notifying_recipient_", "change delete history", both(EDITORS)),
    **named("opponents_endpoint_", "try retire", (BY_POST, SUPERUSER_OBJECTS)),
    **named("panels_panel_", "changelist add", OPEN),
    "panels_panel_change": (VIEWERS, from_role("editor", REFUSED)),
    "panels_panel_delete": both(from_role("owner", REFUSED)),
    "panels_panel_history": both(VIEWERS),
    **named("panels_panel_", "of lists", get_only("viewer")),
    **named("panels_panel_", "make download", post_only("owner")),
    **named("panels_panel_", "paid take_back", get_and_post("owner")),
    "sessions:page": (VIEWERS, from_role("editor", REFUSED)),
    **named("sessions:", "session now projector results", READ),
    **named("sessions:", "start call_off free", act("editor")),
    "sessions:receipts": act("owner"),
    **named("paydesk:", "page row", READ),
    "paydesk:finance": act("editor"),
    **named(
        "paydesk:",
        "ask do limit",
        (
            ALWAYS_WRONG_METHOD,
            {**from_role("superuser", REFUSED), **expect_outcomes(owner=NOT_FOUND, superuser=NOT_FOUND)},
        ),
    ),
    **named("paydesk:", "try resolve", act("owner")),
    "paydesk:reject": (from_role("owner", REFUSED), from_role("owner", REFUSED)),
    **named("piloting_pilot_", "begin stop remove", post_only("editor")),
    "piloting_pilot_progress": get_only("viewer"),
    **named("recruiters_otreeserver_", "changelist add", OPEN),
    **named(
        "recruiters_otreeserver_",
        "change delete history",
        both(OWNERS),
    ),
    **named("signin:", "second_factor verify", OPEN),
    "signin:choose_password": (EVERYONE, EVERYONE),  # without a valid link it only shows an error
    **named("studies_study_", "launch pause codes upload_codes delete_codes", post_only("editor")),
    **named("studies_study_", "close set_member", post_only("owner")),
    "studies_study_codes_file": get_and_post("editor"),
    "studies_study_all_codes": (from_role("editor", REFUSED), BY_POST),
    **named("studies_study_", "members prompts", get_and_post("viewer")),
    **named("studies_study_", "begin preset", (BY_POST, STAFF)),
    "studies_study_presets": (STAFF, BY_POST),
    **named("studies_study_", "file compare", get_only("viewer")),
    "studies_study_copy": post_only("viewer"),
    "walking:start": get_and_post("viewer"),  # a walk leaves no data
    **named("collecting_collection_", "check save text read", (BY_POST, STAFF)),
    **named("exports:", "page now preregistration page_of_collection now_of_collection", READ),
    **named("exports:", "write publish stop download", act("editor")),
    **named("exports:", "write_of_collection publish_of_collection", act("editor")),
    **named("exports:", "stop_of_collection download_of_collection", act("editor")),
    **named("reports:", "read read_of_collection", READ),
    **named("reports:", "analyse stop download", act("editor")),
    **named("reports:", "analyse_of_collection stop_of_collection download_of_collection", act("editor")),
    **named("judging:", "page now", READ),
    **named("judging:", "begin stop labels", act("editor")),
    **named("studies_study_", "check text", post_only("viewer")),
}
for _model in TOP_LEVEL_MODELS:
    PAGES |= {
        f"{_model}_changelist": OPEN,
        f"{_model}_add": OPEN,
        f"{_model}_change": (VIEWERS, from_role("editor", REFUSED, outside=frozenset({NOT_FOUND, REFUSED}))),
        f"{_model}_history": both(VIEWERS),
    }
PAGES |= {
    "studies_study_delete": (from_role("owner", REFUSED), from_role("owner", REFUSED)),
    "collecting_collection_delete": (NOBODY, NOBODY),
}
for _model in RECORDS:
    PAGES |= {
        f"{_model}_changelist": OPEN,
        f"{_model}_add": (NOBODY, NOBODY),
        f"{_model}_change": (VIEWERS, NOBODY),
        f"{_model}_delete": (NOBODY, NOBODY),
        f"{_model}_history": both(VIEWERS),
    }
for _model in ("matches_match", "collecting_collection", "piloting_pilot", "studies_study"):  # they save nothing
    PAGES[f"{_model}_change"] = both(VIEWERS)
for _model in SUPERUSER_MODELS:
    _adds = NOBODY if _model == "recruiters_identity" else SUPERUSER_LISTS
    _changes = NOBODY if _model == "recruiters_identity" else SUPERUSER_OBJECTS
    PAGES |= {
        f"{_model}_changelist": (SUPERUSER_LISTS, SUPERUSER_LISTS),
        f"{_model}_add": (_adds, _adds),
        f"{_model}_change": (SUPERUSER_OBJECTS, _changes),
        f"{_model}_delete": (_changes, _changes),
        f"{_model}_history": (SUPERUSER_OBJECTS, SUPERUSER_OBJECTS),
    }


@dataclass(frozen=True)
class AdminUrl:
    """One URL of the admin; `names_object`: whether it contains an object's key."""

    name: str
    route: str
    names_object: bool


def admin_urls() -> Iterator[AdminUrl]:
    """Yield all URLs that start with admin/, as the resolver lists them."""

    def walk(patterns: list[Any], prefix: str, namespace: str) -> Iterator[AdminUrl]:
        for pattern in patterns:
            route = prefix + (
                pattern.pattern._route if isinstance(pattern.pattern, RoutePattern) else f"~{pattern.pattern}"
            )
            if isinstance(pattern, URLResolver):
                names = f"{pattern.namespace}:" if pattern.namespace and pattern.namespace != "admin" else namespace
                yield from walk(pattern.url_patterns, route, names)
            elif isinstance(pattern, URLPattern) and route.startswith("admin/"):
                yield AdminUrl(f"{namespace}{pattern.name or ''}", route, "<" in route)

    yield from walk(get_resolver().url_patterns, "", "")


UNTESTED_URLS = {
    "": "an old address that redirects to the page itself",
    "app_list": "a list of the pages that the visitor may see",
    "view_on_site": "removed; see test_no_admin_url_leads_to_a_participants_page",
}


OTHER_URL_PARTS = {
    "code": "SEEN22", "cell": "1", "game": "bargaining", "edit": "1", "preset": "glee-human-bargaining",
    "uidb64": "MQ", "token": "untrue", "number": "1", "side": "after", "role": "alice",
    "name": "glee-human-bargaining",
}  # fmt: skip
"""Values of URL parts that do not identify a row."""


class SampleData:
    """A study and a collection with all kinds of related objects, and another of each that visitors must not see."""

    def __init__(self) -> None:
        self.user = {name: User.objects.create_user(f"the-{name}", is_staff=True) for name in VISITORS[1:-1]}
        self.user["superuser"] = User.objects.create_superuser("the-superuser")
        self.study, self.collection = self._create_study_and_collection("seen", "A1SEENWORKER")
        self.hidden, self.hidden_collection = self._create_study_and_collection("hidden", "A1HIDDENWORKER")
        self.account = Account.objects.create(title="seen account", kind="mturk", address="http://127.0.0.1:9")
        Account.objects.create(title="account that is hidden", kind="mturk", address="http://127.0.0.1:9")
        self.draft = kit.new_study("seen-draft", title="Seen draft")
        for role in Role:
            for target in (self.study, self.collection, self.draft, self.account):
                give(target, user=self.user[role], role=role, by=None)
        give(self.hidden, user=User.objects.create_user("somebody", is_staff=True), role=Role.OWNER, by=None)
        for owner, name in (("the-owner", "seen-program"), ("somebody", "hidden-program")):
            Program.objects.create(name=name, owner=User.objects.get(username=owner), digest=name)
        Endpoint.objects.create(name="kept", protocol="openai", base_url="http://127.0.0.1:9")
        person = self.hidden.versions.get().cells.get().placements.get().enrolment
        self.hidden_texts = [
            "Title that is hidden", "hidden-slug", person.pseudonym, person.token, person.completion_code,
            "A1HIDDENWORKER", "hiddencode", "words that are hidden",
            "notices.hidden@example.org", "hidden.example.org", "hidden-program", "program that is hidden",
            "account that is hidden", "account of hidden", "panel that is hidden", "task that is hidden",
            str(building.match_of(person).uid)[:8],
        ]  # fmt: skip

    def _create_study_and_collection(self, label: str, worker: str) -> tuple[Study, Collection]:
        study = building.new_study(slug=f"{label}-slug", title=f"Title that is {label}")
        person = building.complete(study, worker=worker, messages=[f"words that are {label}"])
        ProblemReport.objects.create(enrolment=person, text=f"words that are {label}")
        Message.objects.create(enrolment=person, audience="researchers", text=f"words that are {label}")
        LabCode.objects.create(study=study.slug, code=f"{label}code")
        Response.objects.create(
            enrolment=person,
            stage="after",
            before_game=False,
            questions=[{"name": "why", "text": "Why?"}],
            answers={"why": f"words that are {label}"},
        )
        Delivery.objects.create(enrolment=person)
        Panel.objects.create(
            study=study, preset="any_site", title=f"panel that is {label}", person="id",
            columns="id = person\namount = amount",
        )  # fmt: skip
        study.payment_lists.create(number=1)
        study.notice_recipients.create(address=f"notices.{label}@example.org")
        study.sessions.create(code=f"{label[:4]}22".upper(), places=1)
        OtreeServer.objects.create(study=study.slug, addresses=f"https://{label}.example.org")
        account = Account.objects.create(title=f"account of {label}", kind="mturk", address="http://127.0.0.1:9")
        Recruitment.objects.create(study=study, account=account)
        for role, user in self.user.items():
            if label == "seen" and role in Role.values:
                give(account, user=user, role=Role(role), by=None)
        other_account = Account.objects.create(title=f"other account of {label}", kind="prolific")
        for one, status, participant in ((account, "ordered", person), (other_account, "UNPUBLISHED", None)):
            offer = study.offers.create(
                account=one, name=f"task that is {label}", reference=f"{label} {one.kind}", status=status,
                remote_id=f"3{label}{one.kind}", reward=1, places=1, currency="USD", address="http://127.0.0.1:9/",
                terms_stored={"minutes": 1},
            )  # fmt: skip
            study.submissions.create(
                account=one, task=offer.remote_id, key=f"3A{label}{one.kind}", status="AWAITING REVIEW", whose="ours",
                enrolment=participant, submitted_at=timezone.now(),
            )  # fmt: skip
        for role, user in self.user.items():
            if label == "seen" and role in Role.values:
                give(other_account, user=user, role=Role(role), by=None)
        tomorrow = timezone.now() + timedelta(days=1)
        creator = self.user["superuser"]
        tokens.issue(study=study, name=f"program that is {label}", scopes=["read"], expires_at=tomorrow, by=creator)
        pilots.begin(study, people=1)
        building.save_call(building.match_of(person), messages=[{"role": "user", "content": f"words that are {label}"}])
        collection = new_collection(f"{label}-collection", title=f"Title that is {label}", agents=["script:fair"])
        match = building.match_of(person)
        match.pk, match.uid, match.purpose = None, uuid.uuid4(), Match.Purpose.COLLECTION
        match.save(force_insert=True)
        Item.objects.create(collection=collection, number=1, match=match)
        Dataset.objects.create(study=study, state=Dataset.State.READY)
        Dataset.objects.create(collection=collection, state=Dataset.State.READY)
        return study, collection

    def key(self, model: str, act: str = "") -> Any:
        """Return the primary key of a row of `model` (written as in page names) that belongs to the visible study.

        Args:
            act: an action that the row's marketplace has.
        """
        having = (k for k in kinds.keys() if act in {**modules.selling(k).ACTS, **modules.deciding(k).ACTS})
        kind = next(having, "mturk")
        finders: dict[str, Callable[[], Any]] = {
            "studies_study": lambda: self.study,
            "collecting_collection": lambda: self.collection,
            "collecting_item": lambda: self.collection.items.first(),
            "studies_version": lambda: self.study.versions.get(),
            "studies_placement": lambda: self._enrolment.placement,
            "participants_enrolment": lambda: self._enrolment,
            "participants_problemreport": lambda: self._enrolment.problem_reports.first(),
            "helping_message": lambda: self._enrolment.help_messages.first(),
            "matches_match": lambda: building.match_of(self._enrolment),
            "checks_verdict": lambda: self._enrolment.verdicts.first(),
            "payouts_ledgerrow": lambda: self._enrolment.ledger.first(),
            "opponents_call": lambda: Call.objects.get(match_uid=building.match_of(self._enrolment).uid),
            "surveys_response": lambda: self._enrolment.surveys.first(),
            "recruiters_delivery": lambda: self._enrolment.delivery,
            "recruiters_otreeserver": lambda: OtreeServer.objects.get(study=self.study.slug),
            "notifying_recipient": lambda: self.study.notice_recipients.get(),
            "panels_panel": lambda: self.study.panel,
            "marketplaces_account": lambda: self.account,
            "marketplaces_recruitment": lambda: self.study.recruitment,
            "marketplaces_offer": lambda: self.study.offers.get(account__kind=kind),
            "marketplaces_submission": lambda: self.study.submissions.get(account__kind=kind),
            "programs_program": lambda: Program.objects.get(name="seen-program"),
            "api_token": lambda: self.study.api_tokens.get(),
            "piloting_pilot": lambda: self.study.pilots.get(),
            "opponents_endpoint": lambda: Endpoint.objects.get(),
            "recruiters_identity": lambda: Identity.objects.get(enrolment=self._enrolment),
            "auth_user": lambda: self.user["staff"],
            "audit_record": lambda: Record.objects.filter(of_kind="studies.study", of_key=self.study.pk).first(),
        }
        find = finders.get(model)
        return find().pk if find else apps.get_model(*model.split("_", 1)).objects.values_list("pk", flat=True).first()

    @property
    def _enrolment(self) -> Any:
        return self.study.versions.get().cells.get().placements.get().enrolment

    def path(self, url: AdminUrl) -> str:
        """Return the URL with its parts filled in."""
        if url.name == "studies_study_delete":
            return f"/admin/studies/study/{self.draft.pk}/delete/"
        parts = url.route.split("/")
        model = f"{parts[1]}_{parts[2]}" if len(parts) > 2 else ""

        def part_value(match: re.Match[str]) -> str:
            name = match[1].split(":")[-1]
            if name == "slug":
                return "seen-collection" if "collection" in url.name else "seen-slug"
            if name == "enrolment":
                return str(self._enrolment.pk)
            if name == "uid" and url.name.startswith("paydesk:"):
                return str(self._enrolment.ledger.first().uid)
            if name in ("pk", "study_id"):
                return str(self.study.pk)
            if name == "collection_id":
                return str(self.collection.pk)
            if name == "uid":
                owner = {"collection": self.collection} if "collections" in parts else {"study": self.study}
                return str(Dataset.objects.get(**owner).uid)
            if name in ("object_id", "id"):
                return str(self.key(model, url.name.removeprefix(f"{model}_")))
            if name in OTHER_URL_PARTS:
                return OTHER_URL_PARTS[name]
            pytest.fail(f"No value for <{name}> in {url.route}: add one to SampleData.path.")

        return "/" + re.sub(r"<([^>]+)>", part_value, url.route)

    def client(self, visitor: str) -> Client:
        client = Client(raise_request_exception=True)
        if visitor != "anonymous":
            client.force_login(self.user[visitor])
        return client


@pytest.fixture
def sample(db) -> SampleData:
    return SampleData()


def outcome(response: HttpResponse) -> str:
    if response.status_code == 302 and "/admin/login/" in response["Location"]:
        return LOGIN
    return {403: REFUSED, 404: NOT_FOUND, 405: WRONG_METHOD, 200: SERVED, 302: SERVED, 400: SERVED}[
        response.status_code
    ]


def ask(client: Client, method: str, path: str) -> HttpResponse:
    """Send a request and undo all changes that it makes; return the response."""
    cookies = copy.deepcopy(client.cookies)
    with transaction.atomic():
        response = getattr(client, method)(path, {"post": "yes"} if method == "post" else {})
        if response.streaming:
            b"".join(response.streaming_content)
        transaction.set_rollback(True)
    client.cookies = cookies
    return response


def expected(url: AdminUrl, method: str) -> Expected:
    if url.name in PAGES:
        return PAGES[url.name][method == "post"]
    if not url.names_object:
        return expect_outcomes(anonymous=LOGIN)
    return {**UNKNOWN, **(expect_outcomes(viewer=DENIED) if method == "post" else {})}


@pytest.mark.parametrize("visitor", slow_except(VISITORS, ["anonymous", "viewer"]))
def test_pages_allow_exactly_what_the_role_allows(sample: SampleData, visitor: str):
    client = sample.client(visitor)
    mistakes = []
    request_count = 0
    for url in admin_urls():
        if url.name in UNTESTED_URLS or url.route.endswith("~(?P<url>.*)$"):
            continue
        path = sample.path(url)
        for method in ("get", "post"):
            response = ask(client, method, path)
            request_count += 1
            correct = expected(url, method).get(visitor)
            actual = outcome(response)
            if correct is not None and actual not in correct:
                mistakes.append(
                    f"{visitor}: {method} {path} ({url.name}): {actual}, not {' or '.join(sorted(correct))}"
                )
            if actual != SERVED or response.streaming:
                continue
            page = response.content.decode(errors="replace")
            if "(&#x27;" in page:
                mistakes.append(f"{visitor}: {method} {path} shows a Python tuple")
            if visitor != "superuser":
                mistakes += [
                    f"{visitor}: {method} {path} reveals “{text}”" for text in sample.hidden_texts if text in page
                ]
    assert not mistakes, "\n".join(mistakes)
    assert request_count > 150, "too few URLs were found"


@pytest.mark.parametrize("visitor", VISITORS[1:])
def test_lists_contain_only_own_studies(sample: SampleData, visitor: str):
    client = sample.client(visitor)
    for model in (*TOP_LEVEL_MODELS, *RECORDS, *OWNER_MODELS):
        model_class = apps.get_model(*model.split("_", 1))
        listed = {row.pk for row in client.get(f"/admin/{model.replace('_', '/', 1)}/").context["cl"].result_list}
        if visitor == "superuser":
            assert listed == set(model_class.objects.values_list("pk", flat=True)), model
        elif visitor == "staff" or (model in OWNER_MODELS and visitor != "owner"):
            assert not listed, model
        else:
            assert sample.key(model) in listed, model
            assert len(listed) < model_class.objects.count(), model


def test_only_superusers_see_superuser_pages_in_the_sidebar(sample: SampleData):
    page = sample.client("owner").get("/admin/").content.decode()
    assert "/admin/studies/study/" in page and "/admin/audit/record/" in page
    for model in SUPERUSER_MODELS:
        assert f"/admin/{model.replace('_', '/', 1)}/" not in page
        assert f"/admin/{model.replace('_', '/', 1)}/" in sample.client("superuser").get("/admin/").content.decode()


def test_no_admin_url_leads_to_a_participants_page(sample: SampleData):
    from django.contrib.contenttypes.models import ContentType

    person = sample._enrolment
    kind = ContentType.objects.get_for_model(person)
    for visitor in VISITORS:
        response = sample.client(visitor).get(f"/admin/r/{kind.pk}/{person.pk}/")
        assert person.token not in response.headers.get("Location", "")
        assert outcome(response) in {NOT_FOUND, LOGIN}


def test_owners_manage_members_but_one_owner_remains(sample: SampleData):
    owner, page = sample.client("owner"), f"/admin/studies/study/{sample.study.pk}/members/"
    staff = sample.user["staff"]
    assert owner.post(f"{page}set/", {"person": staff.pk, "role": "editor"}).status_code == 302
    assert sample.study.members.get(user=staff).role == Role.EDITOR
    assert sample.client("staff").get(page).status_code == 200
    owner.post(f"{page}set/", {"person": staff.pk, "role": ""})
    assert not sample.study.members.filter(user=staff).exists()
    for role in ("viewer", ""):
        response = owner.post(f"{page}set/", {"person": sample.user["owner"].pk, "role": role}, follow=True)
        assert "There must be an owner" in response.content.decode()
        assert sample.study.members.get(user=sample.user["owner"]).role == Role.OWNER
    for invalid in ({"person": "99999", "role": "editor"}, {"person": "x", "role": "viewer"}, {"role": "editor"}, {}):
        members_before = list(sample.study.members.values_list("user", "role"))
        owner.post(f"{page}set/", invalid)
        owner.post(f"{page}set/", {"person": staff.pk, "role": "king"})
        assert list(sample.study.members.values_list("user", "role")) == members_before
    records = Record.objects.filter(action="rights_changed", by="the-owner", of_key=sample.study.pk).order_by("pk")
    assert [record.details["role"] for record in records] == ["editor", None]


def test_deactivated_user_sees_nothing(sample: SampleData):
    client = sample.client("owner")
    User.objects.filter(pk=sample.user["owner"].pk).update(is_active=False)
    assert outcome(client.get(f"/admin/studies/study/{sample.study.pk}/change/")) == LOGIN
    User.objects.filter(pk=sample.user["owner"].pk).update(is_active=True, is_staff=False)
    assert outcome(client.post(f"/admin/exports/studies/{sample.study.pk}/write/")) == LOGIN
