"""A study on Prolific: made, published, watched and ended from the admin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST
from unfold.decorators import display

from audit.deeds import Deed
from marketplaces.kinds import Trouble
from marketplaces.models import Account, Recruitment
from marketplaces.prolific import publishing
from marketplaces.prolific.client import client_of, text_of
from marketplaces.prolific.differences import counted, differences
from marketplaces.prolific.forms import OfferForm, PlacesForm, RejectForm, suggestion
from marketplaces.prolific.models import Publication
from marketplaces.prolific.publishing import NotPossible
from marketplaces.prolific.rejecting import reject, rejectable
from payouts.models import LedgerRow
from rights import parts
from rights.admin import PartAdmin
from rights.roles import Role
from studies.models import Study

STATUS = Publication.Status
COLOURS = {
    STATUS.MAKING: "warning",
    STATUS.UNCERTAIN: "danger",
    STATUS.UNPUBLISHED: "info",
    STATUS.ACTIVE: "success",
    STATUS.PAUSED: "warning",
}


@admin.register(Publication)
class PublicationAdmin(PartAdmin):
    """Editors offer and pause; whoever spends the account's money needs an editor's part in it too."""

    list_display = ["study", "standing", "places", "account", "said_at"]
    list_select_related = ["study", "account"]
    actions = None
    view_on_site = False
    list_display_links = ["study"]

    @display(description=gettext_lazy("status"), ordering="status", label=COLOURS)
    def standing(self, publication: Publication) -> tuple[str, str]:
        return publication.status, publication.get_status_display()

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_urls(self) -> list[URLPattern]:
        deeds: dict[str, Callable[..., HttpResponse]] = {
            "pause": self.pause,
            "resume": self.resume,
            "stop": self.stop,
            "places": self.set_places,
            "find": self.find,
            "refresh": self.refresh,
            "forget": self.forget,
        }
        pages = {
            "of": ("of/<int:study_id>/", self.of_study),
            "publish": ("<int:object_id>/publish/", self.publish),
            "reject": ("<int:object_id>/reject/<int:enrolment>/", self.reject),
            **{name: (f"<int:object_id>/{name}/", require_POST(deed)) for name, deed in deeds.items()},
        }
        both = require_http_methods(["GET", "POST"])
        own = [
            path(route, self.admin_site.admin_view(both(view)), name=f"prolific_publication_{name}")
            for name, (route, view) in pages.items()
        ]
        return [*own, *super().get_urls()]

    # ---- making a draft at Prolific ------------------------------------------------------------------

    def of_study(self, request: HttpRequest, study_id: int) -> HttpResponse:
        """To the study's page here, or the form with which it comes to Prolific."""
        study = Study.objects.filter(pk=study_id).first()
        if study is None or not parts.may(request.user, study, role=Role.VIEWER):
            raise Http404
        publication = Publication.objects.filter(study=study).first()
        if publication is not None:
            return _page_of(publication)
        if not parts.may(request.user, study, role=Role.EDITOR):
            raise PermissionDenied
        try:
            _version, account = publishing.refuse_unready(study)
            projects = _projects(account)
        except (NotPossible, Trouble) as reason:
            return self._offer_page(request, study, problem=str(reason))
        self._refuse_without_account(request, account)
        posted = request.method == "POST"
        form = OfferForm(request.POST if posted else None, initial=suggestion(study), projects=projects)
        if posted and form.is_valid():
            return self._make(request, study, form)
        return self._offer_page(request, study, form=form, account=account)

    def _make(self, request: HttpRequest, study: Study, form: OfferForm) -> HttpResponse:
        address = request.build_absolute_uri(study.get_absolute_url())
        try:
            publication = publishing.make_draft(study, form.offer(), address=address)
        except (NotPossible, Trouble) as reason:
            kept = Publication.objects.filter(study=study).first()
            if kept is None:
                return self._offer_page(request, study, form=form, problem=str(reason))
            self.message_user(request, str(reason), messages.ERROR)
            return _page_of(kept)
        self.record_deed(request, publication, Deed.MADE, "Made a draft on Prolific.", {"places": publication.places})
        says = _("The draft is at Prolific. Choose there who may take part, if not everybody; then publish it here.")
        self.message_user(request, says, messages.SUCCESS)
        return _page_of(publication)

    def _offer_page(self, request: HttpRequest, study: Study, **about: Any) -> HttpResponse:
        version = publishing.version_of(study)
        recruitment = Recruitment.objects.filter(study=study).first()
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("Offer on Prolific: {title}").format(title=study),
            "study": study,
            "rule": publishing.rule_of(version) if version else None,
            "recruitment": recruitment,
            **about,
        }
        return TemplateResponse(request, "admin/prolific/publication/offer.html", context)

    # ---- its page ------------------------------------------------------------------------------------

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        publication = self.seen(request, object_id)
        if request.method not in ("GET", "HEAD"):
            raise PermissionDenied
        recruitment = Recruitment.objects.filter(study=publication.study_id).first()
        may = self._allowed(request, publication, Role.EDITOR)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("{title} on Prolific").format(title=publication.study),
            "publication": publication,
            "recruitment": recruitment,
            "colour": COLOURS.get(publication.status, ""),
            "counted": counted(publication),
            "differences": differences(publication) if recruitment else [],
            "rejectable": set(rejectable(publication)) if self._allowed(request, publication, Role.OWNER) else set(),
            "may": may,
            "may_spend": may and parts.may(request.user, publication.account, role=Role.EDITOR),
            "places": PlacesForm(initial={"places": publication.places + 1}),
            "link": f"{publication.address}{publishing.PARAMETERS}",
        }
        return TemplateResponse(request, "admin/prolific/publication/page.html", context)

    # ---- deeds ---------------------------------------------------------------------------------------

    def publish(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """What it costs, and on a post that means it, publish."""
        publication = self._spending(request, object_id)
        if publication.status != STATUS.UNPUBLISHED:
            self.message_user(request, _("It was published before."), messages.INFO)
            return _page_of(publication)
        if request.method == "POST":
            does = publishing.publish
            return self._do(request, publication, does, Deed.LAUNCHED, _("Published: workers see it on Prolific now."))
        problem, price = "", None
        try:
            publishing.refuse_unready(publication.study)
            price = publishing.price_of(publication)
        except (NotPossible, Trouble) as reason:
            problem = str(reason)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("Publish on Prolific: {title}").format(title=publication.study),
            "publication": publication,
            "price": price,
            "problem": problem,
            "real": publication.account.place == Account.Place.PRODUCTION,
        }
        return TemplateResponse(request, "admin/prolific/publication/publish.html", context)

    def pause(self, request: HttpRequest, object_id: int) -> HttpResponse:
        publication = self.seen(request, str(object_id), role=Role.EDITOR)
        says = _("Paused: nobody new begins on Prolific. Whoever has begun goes on.")
        return self._do(request, publication, publishing.pause, Deed.PAUSED, says)

    def resume(self, request: HttpRequest, object_id: int) -> HttpResponse:
        publication = self._spending(request, object_id)
        return self._do(request, publication, publishing.resume, Deed.RESUMED, _("Workers can begin again."))

    def stop(self, request: HttpRequest, object_id: int) -> HttpResponse:
        publication = self.seen(request, str(object_id), role=Role.OWNER)
        says = _("Stopped: it takes nobody on Prolific any more.")
        return self._do(request, publication, publishing.stop, Deed.STOPPED, says)

    def set_places(self, request: HttpRequest, object_id: int) -> HttpResponse:
        publication = self._spending(request, object_id)
        form = PlacesForm(request.POST)
        if not form.is_valid():
            self.message_user(request, _("Please say how many places there shall be in all."), messages.ERROR)
            return _page_of(publication)
        wanted = form.cleaned_data["places"]
        says = _("It has {places} places now.").format(places=wanted)
        return self._do(
            request,
            publication,
            lambda one: publishing.set_places(one, wanted),
            Deed.CHANGED,
            says,
            {"places": wanted},
        )

    def find(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Look for a study whose making was never answered."""
        publication = self.seen(request, str(object_id), role=Role.EDITOR)
        if publication.is_there:
            return _page_of(publication)
        study = publication.study
        try:
            found = publishing.find_again(publication)
        except (NotPossible, Trouble) as reason:
            self.message_user(request, str(reason), messages.ERROR)
            return _page_of(publication)
        if found:
            self.message_user(request, _("Found: the draft is at Prolific."), messages.SUCCESS)
            return _page_of(publication)
        self.message_user(request, _("It is not at Prolific: nothing was made. Offer it again."), messages.WARNING)
        return HttpResponseRedirect(reverse("admin:prolific_publication_of", args=[study.pk]))

    def refresh(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Ask what the study is at Prolific now."""
        publication = self.seen(request, str(object_id), role=Role.EDITOR)
        if publication.is_there:
            self._try(request, lambda: publishing.refresh(publication), _("This is what Prolific says now."))
        return _page_of(publication)

    def forget(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Forget a draft that was deleted at Prolific."""
        publication = self.seen(request, str(object_id), role=Role.OWNER)
        study, key = publication.study, publication.pk
        if not publication.is_there:
            return _page_of(publication)
        self._try(request, lambda: publishing.forget(publication), _("Forgotten: it can be offered again."))
        if Publication.objects.filter(pk=key).exists():
            return _page_of(publication)
        return HttpResponseRedirect(reverse("admin:prolific_publication_of", args=[study.pk]))

    def reject(self, request: HttpRequest, object_id: int, enrolment: int) -> HttpResponse:
        """Reject one submission, with a reason and never by itself."""
        publication = self.seen(request, str(object_id), role=Role.OWNER)
        person = rejectable(publication).get(enrolment)
        if person is None:
            self.message_user(request, _("There is no submission of theirs to be reviewed."), messages.WARNING)
            return _page_of(publication)
        self._refuse_without_account(request, publication.account)
        form = RejectForm(request.POST if request.method == "POST" else None)
        if form.is_bound and form.is_valid():
            given = {"category": form.cleaned_data["category"], "message": form.cleaned_data["message"]}
            try:
                reject(publication, person, **given)
            except (NotPossible, Trouble) as reason:
                self.message_user(request, str(reason), messages.ERROR)
            else:
                details = {"person": person.pseudonym, "category": given["category"]}
                self.record_deed(request, publication, Deed.CHANGED, "Rejected a submission.", details)
                self.message_user(request, _("Rejected: {person}.").format(person=person), messages.SUCCESS)
            return _page_of(publication)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("Reject the submission of {person}").format(person=person),
            "publication": publication,
            "person": person,
            "owed": LedgerRow.objects.filter(enrolment=person),
            "form": form,
        }
        return TemplateResponse(request, "admin/prolific/publication/reject.html", context)

    # ---- what deeds share ----------------------------------------------------------------------------

    def _spending(self, request: HttpRequest, object_id: int) -> Publication:
        """The publication, for whoever may spend its account's money."""
        publication: Publication = self.seen(request, str(object_id), role=Role.EDITOR)
        self._refuse_without_account(request, publication.account)
        return publication

    def _refuse_without_account(self, request: HttpRequest, account: Account) -> None:
        if not parts.may(request.user, account, role=Role.EDITOR):
            raise PermissionDenied

    def _do(
        self,
        request: HttpRequest,
        publication: Publication,
        does: Callable[[Publication], None],
        deed: Deed,
        says: str,
        details: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Do it where Prolific has the study, write it down, and show the page with what came of it."""
        if not publication.is_there:
            self.message_user(request, _("Prolific does not have it yet."), messages.ERROR)
        elif self._try(request, lambda: does(publication), says):
            told = {"account": publication.account.title, "places": publication.places, **(details or {})}
            self.record_deed(request, publication, deed, f"On Prolific: {deed.label}.", told)
        return _page_of(publication)

    def _try(self, request: HttpRequest, does: Callable[[], None], says: str) -> bool:
        try:
            does()
        except (NotPossible, Trouble) as reason:
            self.message_user(request, str(reason), messages.ERROR)
            return False
        self.message_user(request, says, messages.SUCCESS)
        return True


def _projects(account: Account) -> list[tuple[str, str]]:
    """The account's projects at Prolific as choices; the first is the default."""
    client = client_of(account)
    found = []
    for space in client.workspaces():
        for project in client.projects(text_of(space, "id")):
            found.append((text_of(project, "id"), f"{space.get('title', '')}: {project.get('title', '')}"))
    return found


def _page_of(publication: Publication) -> HttpResponseRedirect:
    return HttpResponseRedirect(reverse("admin:prolific_publication_change", args=[publication.pk]))
