"""Admin pages for a study on Prolific: create it there, publish it, monitor it and end it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST
from unfold.decorators import display

from audit.actions import Action
from marketplaces.desks import Desk
from marketplaces.kinds import MarketplaceError, NotPossible
from marketplaces.models import Account, Recruitment
from marketplaces.prolific import authenticity, hooks, publishing
from marketplaces.prolific.client import client_of, text_of
from marketplaces.prolific.forms import OfferForm, PlacesForm, suggestion
from marketplaces.prolific.models import KIND, Hook, Publication
from recruiters.uploads import LARGEST, BadFile
from rights import parts
from rights.admin import PartAdmin
from rights.roles import Role
from studies.acts import Act, Given
from studies.admin.acts import bound_form
from studies.models import Study

STATUS = Publication.Status
PLACEHOLDER_UID = UUID(int=0)
"""Placeholder for the identifier of a webhook that does not exist yet."""
COLOURS = {
    STATUS.MAKING: "warning",
    STATUS.UNCERTAIN: "danger",
    STATUS.UNPUBLISHED: "info",
    STATUS.ACTIVE: "success",
    STATUS.PAUSED: "warning",
}


def _not_there(publication: Publication) -> str:
    return "" if publication.is_there else _("The study is not on Prolific yet.")


def _published_before(publication: Publication) -> str:
    is_draft = publication.status == STATUS.UNPUBLISHED
    return _not_there(publication) if is_draft else _("This study has already been published.")


def _has_status(*statuses: str) -> Callable[[Publication], bool]:
    return lambda publication: publication.status in statuses


def _offered(given: Given) -> dict[str, Any]:
    publication = given.target
    return {"account": publication.account.title, "places": publication.places}


def _subscribe(given: Given) -> None:
    own_address = given.request.build_absolute_uri(reverse("prolific_hook", args=[PLACEHOLDER_UID]))
    hooks.subscribe(given.target, address=own_address.removesuffix(f"{PLACEHOLDER_UID}/"))


def _find(given: Given) -> None:
    """Look for a study whose creation was never confirmed."""
    if not given.target.is_there and not publishing.find_created(given.target):
        raise NotPossible(_("The study is not on Prolific: no draft was created. Create it again."))


def _on_study(title: Any, act: Callable[[Publication], None], done: Any, log: Action | None = None, **more: Any) -> Act:
    """Return an action on a study that Prolific has."""
    options = {"hindrance": _not_there, "details": _offered, **more}
    return Act(title, lambda given: act(given.target), done, log=log, **options)


@admin.register(Publication)
class PublicationAdmin(Desk, PartAdmin):
    """Editors offer and pause studies; spending the account's money also requires the editor role in the account."""

    kind, desk_title = KIND, "Prolific"
    id_field, id_pattern = "prolific_id", re.compile(r"[0-9a-f]{24}", re.IGNORECASE)
    id_rule = gettext_lazy(
        "A study's ID on Prolific has 24 letters and digits, and is at the end of its address there."
    )
    adopted = gettext_lazy("Imported: its participants can now enter the study and be paid here.")
    list_display = ["study", "status_label", "places", "account", "said_at"]
    list_select_related = ["study", "account"]
    actions = None
    view_on_site = False
    list_display_links = ["study"]

    @display(description=gettext_lazy("status"), ordering="status", label=COLOURS)
    def status_label(self, publication: Publication) -> tuple[str, str]:
        return publication.status, publication.get_status_display()

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_urls(self) -> list[URLPattern]:
        study_pages = {"of": ("", self.of_study), "adopt": ("adopt/", require_POST(self.adopt))}
        upload = self.admin_site.admin_view(require_POST(self.import_authenticity))
        upload_url = path("<int:object_id>/authenticity/", upload, name="prolific_publication_authenticity")
        return [*self.urls_of("prolific_publication", study_pages), upload_url, *super().get_urls()]

    def back_of(self, target: Publication) -> str:
        """Return the publication's page; if it was deleted here, the page that creates another."""
        if Publication.objects.filter(pk=target.pk).exists():
            return _address_of(target)
        return reverse("admin:prolific_publication_of", args=[target.study_id])

    # ---- creating a draft on Prolific ----------------------------------------------------------------

    def of_study(self, request: HttpRequest, study_id: int) -> HttpResponse:
        """Redirect to the study's page here, or show the form that offers it on Prolific."""
        study = self.study_of(request, study_id)
        if (publication := Publication.objects.filter(study=study).first()) is not None:
            return _page_of(publication)
        if not parts.may(request.user, study, role=Role.EDITOR):
            raise PermissionDenied
        address = request.build_absolute_uri(study.get_absolute_url())
        recruitment = Recruitment.objects.select_related("account").filter(study=study).first()
        version, form, problem = study.latest_version(), None, ""
        try:
            _version, _rule, account = publishing.refuse_unready(study)
            self.refuse_without_account(request, account)
            choices = {"projects": _projects(account), "filters": client_of(account).rows("/filters/")}
            form = bound_form(OfferForm, request, initial=suggestion(study), **choices)
            if form.is_bound and form.is_valid():
                publication = publishing.create_draft(study, address=address, **form.cleaned_data)
                summary, details = "Created a draft on Prolific.", {"places": publication.places}
                self.record_action(request, publication, Action.MADE, summary, details)
                done = _(
                    "The draft is on Prolific. You can still change there who may take part. Then publish it here."
                )
                self.message_user(request, done, messages.SUCCESS)
                return _page_of(publication)
        except self.refusals as reason:
            problem = str(reason)
            if (publication := Publication.objects.filter(study=study).first()) is not None:
                self.message_user(request, problem, messages.ERROR)
                return _page_of(publication)
        context = {
            "study": study, "rule": version.plan.pay.rule_for() if version else None, "recruitment": recruitment,
            "form": form, "problem": problem, "made_there": "made-there" in request.GET,
            "link": f"{address}{publishing.PARAMETERS}",
        }  # fmt: skip
        title = _("Offer on Prolific: {title}").format(title=study)
        return self.page(request, "admin/prolific/publication/offer.html", title, context)

    def adopting_page(self, study: Study) -> str:
        return f"{super().adopting_page(study)}?made-there"

    # ---- the page ------------------------------------------------------------------------------------

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        publication = self.seen(request, object_id)
        if request.method not in ("GET", "HEAD"):
            raise PermissionDenied
        may_edit = self._allowed(request, publication, Role.EDITOR)
        context = {
            **self.context_of(request, publication.study),
            "publication": publication,
            "colour": COLOURS.get(publication.status, ""),
            "buttons": self.buttons_of(request, publication),
            "may": may_edit,
            "hook": Hook.objects.filter(account=publication.account, workspace=publication.workspace).first(),
            "flags": authenticity.flag_counts(publication),
            "may_spend": may_edit and parts.may(request.user, publication.account, role=Role.EDITOR),
            "places": PlacesForm(initial={"places": publication.places + 1}),
            "link": f"{publication.address}{publishing.PARAMETERS}",
        }
        title = _("{title} on Prolific").format(title=publication.study)
        return self.page(request, "admin/prolific/publication/page.html", title, context)

    def publish_page(self, request: HttpRequest, publication: Publication) -> HttpResponse:
        """Show what publishing costs before it is confirmed."""
        problem, price = "", None
        try:
            publishing.refuse_unready(publication.study)
            price = publishing.price_of(publication)
        except (NotPossible, MarketplaceError) as reason:
            problem = str(reason)
        study = publication.study
        context = {"study": study, "publication": publication, "price": price, "problem": problem}
        title = _("Publish on Prolific: {title}").format(title=study)
        return self.page(request, "admin/prolific/publication/publish.html", title, context)

    def import_authenticity(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Import the results of Prolific's authenticity check from a file."""
        publication = self.seen(request, str(object_id), role=Role.EDITOR)
        upload = request.FILES.get("flags")
        try:
            counts = authenticity.import_flags(publication, upload.read(LARGEST + 1) if upload else b"")
        except BadFile as error:
            for problem in error.problems[:10]:
                location = _("Line {line}: ").format(line=problem.line) if problem.line else ""
                self.message_user(request, f"{location}{problem.reason}", messages.ERROR)
            return _page_of(publication)
        self.record_action(request, publication, Action.CHANGED, "Imported authenticity flags.", dict(counts))
        message = _(
            "Flags imported for participants: {taken}. Lines that match no participant of this study: {unknown}."
        )
        self.message_user(request, message.format(**counts), messages.SUCCESS)
        return _page_of(publication)

    acts: Mapping[str, Act] = {
        "find": Act(
            gettext_lazy("find"),
            _find,
            gettext_lazy("Found: the draft is on Prolific."),
            button=gettext_lazy("Find on Prolific"),
            icon="search",
            spends=False,
            offered=lambda publication: not publication.is_there,
        ),
        "publish": _on_study(
            gettext_lazy("publish"),
            publishing.publish,
            gettext_lazy("Published: participants can now see the study on Prolific."),
            Action.LAUNCHED,
            icon="campaign",
            hindrance=_published_before,
            page=publish_page,
        ),
        "pause": _on_study(
            gettext_lazy("pause"),
            publishing.pause,
            gettext_lazy("Paused: no new participants can start on Prolific. Those who have started can finish."),
            Action.PAUSED,
            icon="pause",
            offered=_has_status(STATUS.ACTIVE),
            spends=False,
        ),
        "resume": _on_study(
            gettext_lazy("resume"),
            publishing.resume,
            gettext_lazy("Resumed: new participants can start again."),
            Action.RESUMED,
            icon="play_arrow",
            offered=_has_status(STATUS.PAUSED),
        ),
        "stop": _on_study(
            gettext_lazy("stop"),
            publishing.stop,
            gettext_lazy("Stopped: no new participants can start on Prolific."),
            Action.STOPPED,
            icon="stop",
            asks=gettext_lazy("Stop the study on Prolific? You can't reopen it there."),
            offered=_has_status(STATUS.ACTIVE, STATUS.PAUSED),
            role=Role.OWNER,
            spends=False,
        ),
        "places": Act(
            gettext_lazy("more places"),
            lambda given: publishing.set_places(given.target, given.values["places"]),
            gettext_lazy("The study now has {places} places."),
            log=Action.CHANGED,
            details=_offered,
            form=PlacesForm,
            hindrance=_not_there,
        ),
        "refresh": _on_study(
            gettext_lazy("refresh"),
            publishing.refresh,
            gettext_lazy("Updated from Prolific."),
            icon="sync",
            spends=False,
        ),
        "hooks": Act(
            gettext_lazy("notifications"),
            _subscribe,
            gettext_lazy("Prolific now notifies Parley of changes. Parley still checks every minute."),
            button=gettext_lazy("Receive notifications from Prolific"),
            icon="notifications",
            note=gettext_lazy(
                "Returned places become free at once instead of within a minute. This renews the workspace's secret."
            ),
            log=Action.CHANGED,
            details=_offered,
            hindrance=_not_there,
        ),
        "forget": _on_study(
            gettext_lazy("start over"),
            publishing.forget,
            gettext_lazy("The deleted draft was removed here. You can create a new one."),
            icon="restart_alt",
            note=gettext_lazy("First delete the draft on Prolific."),
            offered=_has_status(STATUS.UNPUBLISHED),
            role=Role.OWNER,
            spends=False,
        ),
    }


def _projects(account: Account) -> list[tuple[str, str]]:
    """Return the account's projects on Prolific as choices; the first is the default."""
    client = client_of(account)
    choices = []
    for workspace in client.rows("/workspaces/"):
        for project in client.rows(f"/workspaces/{text_of(workspace, 'id')}/projects/"):
            choices.append((text_of(project, "id"), f"{workspace.get('title', '')}: {project.get('title', '')}"))
    return choices


def _address_of(publication: Publication) -> str:
    return reverse("admin:prolific_publication_change", args=[publication.pk])


def _page_of(publication: Publication) -> HttpResponseRedirect:
    return HttpResponseRedirect(_address_of(publication))
