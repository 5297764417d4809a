"""Admin pages for a study on Prolific: create it there, publish it, monitor it and end it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST
from unfold.decorators import display

from audit.actions import Action
from marketplaces.desks import Desk, bound_form, current_base_pay
from marketplaces.kinds import MarketplaceError, NotPossible
from marketplaces.models import Account, Recruitment
from marketplaces.prolific import adopting, authenticity, deciding, hooks, publishing
from marketplaces.prolific.client import client_of, text_of
from marketplaces.prolific.differences import differences, status_counts
from marketplaces.prolific.filters import filters_of
from marketplaces.prolific.forms import OfferForm, PartForm, PlacesForm, RejectForm, ReturnForm, suggestion
from marketplaces.prolific.models import Hook, Publication
from marketplaces.rejecting import without_identifiers
from participants.models import Enrolment
from payouts.models import LedgerRow
from recruiters.uploads import LARGEST, BadFile
from rights import parts
from rights.admin import PartAdmin
from rights.roles import Role
from studies.models import Study

STATUS = Publication.Status
_ID = re.compile(r"[0-9a-f]{24}")
PLACEHOLDER_UID = UUID(int=0)
"""Placeholder for the identifier of a webhook that does not exist yet."""
COLOURS = {
    STATUS.MAKING: "warning",
    STATUS.UNCERTAIN: "danger",
    STATUS.UNPUBLISHED: "info",
    STATUS.ACTIVE: "success",
    STATUS.PAUSED: "warning",
}


@admin.register(Publication)
class PublicationAdmin(Desk, PartAdmin):
    """Editors offer and pause studies; spending the account's money also requires the editor role in the account."""

    desk_title = "Prolific"
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
        actions: dict[str, Callable[..., HttpResponse]] = {
            "pause": self.pause,
            "resume": self.resume,
            "stop": self.stop,
            "places": self.set_places,
            "find": self.find,
            "refresh": self.refresh,
            "forget": self.forget,
            "hooks": self.subscribe,
            "authenticity": self.import_authenticity,
        }
        pages = {
            "of": ("of/<int:study_id>/", self.of_study),
            "adopt": ("of/<int:study_id>/adopt/", require_POST(self.adopt)),
            "publish": ("<int:object_id>/publish/", self.publish),
            "reject": ("<int:object_id>/reject/<int:enrolment>/", self.reject),
            "pay_part": ("<int:object_id>/pay-part/<int:enrolment>/", self.pay_part),
            "ask_return": ("<int:object_id>/ask-return/<int:enrolment>/", self.ask_return),
            **{name: (f"<int:object_id>/{name}/", require_POST(action)) for name, action in actions.items()},
        }
        get_or_post = require_http_methods(["GET", "POST"])
        own_urls = [
            path(route, self.admin_site.admin_view(get_or_post(view)), name=f"prolific_publication_{name}")
            for name, (route, view) in pages.items()
        ]
        return [*own_urls, *super().get_urls()]

    # ---- creating a draft on Prolific ----------------------------------------------------------------

    def of_study(self, request: HttpRequest, study_id: int) -> HttpResponse:
        """Redirect to the study's page here, or show the form that offers it on Prolific."""
        study = self.study_of(request, study_id)
        publication = Publication.objects.filter(study=study).first()
        if publication is not None:
            return _page_of(publication)
        if not parts.may(request.user, study, role=Role.EDITOR):
            raise PermissionDenied
        try:
            _version, account = publishing.refuse_unready(study)
            self.refuse_without_account(request, account)
            projects, filters = _projects(account), filters_of(client_of(account))
        except (NotPossible, MarketplaceError) as reason:
            return self._offer_page(request, study, problem=str(reason))
        form = bound_form(OfferForm, request, initial=suggestion(study), projects=projects, filters=filters)
        if form.is_bound and form.is_valid():
            return self._create_draft(request, study, form)
        return self._offer_page(request, study, form=form, account=account)

    def adopt(self, request: HttpRequest, study_id: int) -> HttpResponse:
        """Link a study that was created on Prolific itself to this one."""
        study = self.study_of(request, study_id, role=Role.EDITOR)
        offer_page = HttpResponseRedirect(f"{reverse('admin:prolific_publication_of', args=[study.pk])}?made-there")
        requested_id = request.POST.get("prolific_id", "").strip().lower()
        address = request.build_absolute_uri(study.get_absolute_url())
        try:
            _version, account = publishing.refuse_unready(study)
            self.refuse_without_account(request, account)
            if not _ID.fullmatch(requested_id):
                raise NotPossible(
                    _("A study's ID on Prolific has 24 letters and digits, and is at the end of its address there.")
                )
            publication = adopting.adopt(study, prolific_id=requested_id, address=address)
        except adopting.UnsuitableSettings as unsuitable:
            self.message_user(request, _("Not imported. Please change this on Prolific:"), messages.ERROR)
            for change in unsuitable.changes:
                self.message_user(request, change, messages.WARNING)
            return offer_page
        except (NotPossible, MarketplaceError) as reason:
            self.message_user(request, _("Not imported: {reason}").format(reason=reason), messages.ERROR)
            return offer_page
        summary = "Imported a study that was created on Prolific."
        self.record_action(request, publication, Action.MADE, summary, {"places": publication.places})
        self.message_user(
            request, _("Imported: its participants can now enter the study and be paid here."), messages.SUCCESS
        )
        return _page_of(publication)

    def _create_draft(self, request: HttpRequest, study: Study, form: OfferForm) -> HttpResponse:
        address = request.build_absolute_uri(study.get_absolute_url())
        try:
            publication = publishing.create_draft(study, form.offer(), address=address)
        except (NotPossible, MarketplaceError) as reason:
            existing = Publication.objects.filter(study=study).first()
            if existing is None:
                return self._offer_page(request, study, form=form, problem=str(reason))
            self.message_user(request, str(reason), messages.ERROR)
            return _page_of(existing)
        self.record_action(
            request, publication, Action.MADE, "Created a draft on Prolific.", {"places": publication.places}
        )
        message = _("The draft is on Prolific. You can still change there who may take part. Then publish it here.")
        self.message_user(request, message, messages.SUCCESS)
        return _page_of(publication)

    def _offer_page(self, request: HttpRequest, study: Study, **extra: Any) -> HttpResponse:
        version = study.latest_version()
        recruitment = Recruitment.objects.filter(study=study).first()
        context = {
            "study": study,
            "rule": version.plan.pay.rule_for() if version else None,
            "recruitment": recruitment,
            "made_there": "made-there" in request.GET,
            "link": f"{request.build_absolute_uri(study.get_absolute_url())}{publishing.PARAMETERS}",
            **extra,
        }
        title = _("Offer on Prolific: {title}").format(title=study)
        return self.page(request, "admin/prolific/publication/offer.html", title, context)

    # ---- the page ------------------------------------------------------------------------------------

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        publication = self.seen(request, object_id)
        if request.method not in ("GET", "HEAD"):
            raise PermissionDenied
        recruitment = Recruitment.objects.filter(study=publication.study_id).first()
        may_edit = self._allowed(request, publication, Role.EDITOR)
        is_owner = self._allowed(request, publication, Role.OWNER)
        context = {
            "study": publication.study,
            "publication": publication,
            "recruitment": recruitment,
            "base": current_base_pay(publication.study),
            "colour": COLOURS.get(publication.status, ""),
            "counted": status_counts(publication),
            "differences": differences(publication) if recruitment else [],
            "rejectable": set(deciding.reviewable(publication)) if is_owner else set(),
            "payable_in_part": deciding.payable_in_part(publication) if is_owner else {},
            "without_return_request": deciding.without_return_request(publication) if is_owner else set(),
            "may": may_edit,
            "hook": Hook.objects.filter(account=publication.account, workspace=publication.workspace).first(),
            "flags": authenticity.flag_counts(publication),
            "may_spend": may_edit and parts.may(request.user, publication.account, role=Role.EDITOR),
            "places": PlacesForm(initial={"places": publication.places + 1}),
            "link": f"{publication.address}{publishing.PARAMETERS}",
        }
        title = _("{title} on Prolific").format(title=publication.study)
        return self.page(request, "admin/prolific/publication/page.html", title, context)

    # ---- actions ---------------------------------------------------------------------------------------

    def publish(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Show the cost and, on a confirmed POST, publish."""
        publication = self._publication_to_spend_on(request, object_id)
        if publication.status != STATUS.UNPUBLISHED:
            self.message_user(request, _("This study has already been published."), messages.INFO)
            return _page_of(publication)
        if request.method == "POST":
            return self._perform(
                request,
                publication,
                publishing.publish,
                Action.LAUNCHED,
                _("Published: participants can now see the study on Prolific."),
            )
        problem, price = "", None
        try:
            publishing.refuse_unready(publication.study)
            price = publishing.price_of(publication)
        except (NotPossible, MarketplaceError) as reason:
            problem = str(reason)
        context = {
            "study": publication.study,
            "publication": publication,
            "price": price,
            "problem": problem,
            "real": publication.account.place == Account.Place.PRODUCTION,
        }
        title = _("Publish on Prolific: {title}").format(title=publication.study)
        return self.page(request, "admin/prolific/publication/publish.html", title, context)

    def pause(self, request: HttpRequest, object_id: int) -> HttpResponse:
        publication = self.seen(request, str(object_id), role=Role.EDITOR)
        message = _("Paused: no new participants can start on Prolific. Participants who have started can finish.")
        return self._perform(request, publication, publishing.pause, Action.PAUSED, message)

    def resume(self, request: HttpRequest, object_id: int) -> HttpResponse:
        publication = self._publication_to_spend_on(request, object_id)
        return self._perform(
            request, publication, publishing.resume, Action.RESUMED, _("Resumed: new participants can start again.")
        )

    def stop(self, request: HttpRequest, object_id: int) -> HttpResponse:
        publication = self.seen(request, str(object_id), role=Role.OWNER)
        message = _("Stopped: no new participants can start on Prolific.")
        return self._perform(request, publication, publishing.stop, Action.STOPPED, message)

    def set_places(self, request: HttpRequest, object_id: int) -> HttpResponse:
        publication = self._publication_to_spend_on(request, object_id)
        form = PlacesForm(request.POST)
        if not form.is_valid():
            self.message_user(request, _("Please enter the total number of places."), messages.ERROR)
            return _page_of(publication)
        places = form.cleaned_data["places"]
        message = _("The study now has {places} places.").format(places=places)
        return self._perform(
            request,
            publication,
            lambda published: publishing.set_places(published, places),
            Action.CHANGED,
            message,
            {"places": places},
        )

    def find(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Look for a study whose creation was never confirmed."""
        publication = self.seen(request, str(object_id), role=Role.EDITOR)
        if publication.is_there:
            return _page_of(publication)
        study = publication.study
        try:
            is_found = publishing.find_created(publication)
        except (NotPossible, MarketplaceError) as reason:
            self.message_user(request, str(reason), messages.ERROR)
            return _page_of(publication)
        if is_found:
            self.message_user(request, _("Found: the draft is on Prolific."), messages.SUCCESS)
            return _page_of(publication)
        self.message_user(
            request, _("The study is not on Prolific: no draft was created. Create it again."), messages.WARNING
        )
        return HttpResponseRedirect(reverse("admin:prolific_publication_of", args=[study.pk]))

    def refresh(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Refresh the study's status from Prolific."""
        publication = self.seen(request, str(object_id), role=Role.EDITOR)
        if publication.is_there:
            self._attempt(request, lambda: publishing.refresh(publication), _("Updated from Prolific."))
        return _page_of(publication)

    def subscribe(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Subscribe to Prolific's notifications of changes."""
        publication = self._publication_to_spend_on(request, object_id)
        address = request.build_absolute_uri(reverse("prolific_hook", args=[PLACEHOLDER_UID])).removesuffix(
            f"{PLACEHOLDER_UID}/"
        )
        return self._perform(
            request,
            publication,
            lambda published: hooks.subscribe(published, address=address) and None,
            Action.CHANGED,
            _("Prolific now notifies Parley of changes. Parley still checks every minute."),
        )

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
        message = _(
            "Flags imported for participants: {taken}. Lines that match no participant of this study: {unknown}."
        ).format(**counts)
        self.record_action(request, publication, Action.CHANGED, "Imported authenticity flags.", dict(counts))
        self.message_user(request, message, messages.SUCCESS)
        return _page_of(publication)

    def forget(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Delete our record of a draft that was deleted on Prolific."""
        publication = self.seen(request, str(object_id), role=Role.OWNER)
        study, key = publication.study, publication.pk
        if not publication.is_there:
            return _page_of(publication)
        self._attempt(
            request,
            lambda: publishing.forget(publication),
            _("The deleted draft was removed here. You can create a new one."),
        )
        if Publication.objects.filter(pk=key).exists():
            return _page_of(publication)
        return HttpResponseRedirect(reverse("admin:prolific_publication_of", args=[study.pk]))

    def reject(self, request: HttpRequest, object_id: int, enrolment: int) -> HttpResponse:
        """Reject one submission, with a reason; this never happens automatically."""
        publication, person = self._publication_and_person(request, object_id, enrolment)
        if person is None:
            return _page_of(publication)
        form = bound_form(RejectForm, request)
        if form.is_bound and form.is_valid():
            values = {"category": form.cleaned_data["category"], "message": form.cleaned_data["message"]}
            details = {"person": person.pseudonym, **values, "message": without_identifiers(values["message"], person)}
            self._attempt(
                request,
                lambda: deciding.reject(
                    publication,
                    person,
                    **values,
                    user=request.user,
                    record=lambda: self.record_action(
                        request, publication, Action.REJECTED, "Asked Prolific to reject a submission.", details
                    ),
                ),
                _("Rejected: {person}.").format(person=person),
            )
            return _page_of(publication)
        consequence = _(
            "Participants are not paid for a rejected submission, and a rejection counts against them on Prolific. "
            "Payments that are due to them are written off. If you ask them to return their submission instead, that "
            "does not count against them."
        )
        return self.confirmation_page(
            request,
            publication.study,
            title=_("Reject the submission of {person}").format(person=person),
            back=_address_of(publication),
            about=_status_in_parley(person),
            sentences=[consequence],
            warnings=[_promised_amounts(person)],
            form=form,
            button=_("Reject"),
            harmful=True,
        )

    def ask_return(self, request: HttpRequest, object_id: int, enrolment: int) -> HttpResponse:
        """Have Prolific ask a participant to return their submission."""
        publication, person = self._publication_and_person(request, object_id, enrolment)
        if person is None:
            return _page_of(publication)
        form = bound_form(ReturnForm, request)
        if form.is_bound and form.is_valid():
            reasons = form.chosen_reasons()
            details = {
                "person": person.pseudonym,
                "reasons": [without_identifiers(reason, person) for reason in reasons],
            }
            self._attempt(
                request,
                lambda: deciding.ask_return(
                    publication,
                    person,
                    reasons=reasons,
                    record=lambda: self.record_action(
                        request, publication, Action.RETURN_ASKED, "Asked Prolific to request a return.", details
                    ),
                ),
                _("Prolific has asked {person} to return their submission.").format(person=person),
            )
            return _page_of(publication)
        consequence = _(
            "Prolific sends them your reasons. If they return their submission, they are not paid, it does not count "
            "against them, and their place is free again. If they decline, approve or reject the submission."
        )
        return self.confirmation_page(
            request,
            publication.study,
            title=_("Ask {person} to return their submission").format(person=person),
            back=_address_of(publication),
            about=_status_in_parley(person),
            sentences=[consequence],
            warnings=[_promised_amounts(person)],
            form=form,
            button=_("Send request"),
        )

    def pay_part(self, request: HttpRequest, object_id: int, enrolment: int) -> HttpResponse:
        """Pay part of the reward to a participant who ended early."""
        publication: Publication = self.seen(request, str(object_id), role=Role.OWNER)
        person = deciding.payable_in_part(publication).get(enrolment)
        if person is None:
            self.message_user(
                request, _("This participant cannot, or can no longer, be paid part of the reward."), messages.WARNING
            )
            return _page_of(publication)
        self.refuse_without_account(request, publication.account)
        form = bound_form(PartForm, request)
        if form.is_bound and form.is_valid():
            values = form.cleaned_data
            details = {**values, "person": person.pseudonym, "message": without_identifiers(values["message"], person)}
            self._attempt(
                request,
                lambda: deciding.pay_part(
                    publication,
                    person,
                    **values,
                    record=lambda: self.record_action(
                        request, publication, Action.CHANGED, "Asked Prolific to pay part of the reward.", details
                    ),
                ),
                _("Prolific pays {person} {percent} percent of the reward.").format(
                    percent=values["percent"], person=person
                ),
            )
            return _page_of(publication)
        consequence = _(
            "Prolific completes their submission and pays them this percentage of {amount} {currency}. This can't be "
            "undone. The ledger records the payment as paid elsewhere."
        ).format(amount=publication.reward, currency=publication.currency)
        return self.confirmation_page(
            request,
            publication.study,
            title=_("Pay {person} part of the reward").format(person=person),
            back=_address_of(publication),
            about=_status_in_parley(person),
            sentences=[consequence],
            warnings=[],
            form=form,
            button=_("Pay"),
        )

    # ---- shared by actions -----------------------------------------------------------------------------

    def _publication_to_spend_on(self, request: HttpRequest, object_id: int) -> Publication:
        """Return the publication if the user may spend its account's money; refuse otherwise."""
        publication: Publication = self.seen(request, str(object_id), role=Role.EDITOR)
        self.refuse_without_account(request, publication.account)
        return publication

    def _publication_and_person(
        self, request: HttpRequest, object_id: int, enrolment: int
    ) -> tuple[Publication, Enrolment | None]:
        """Return a publication whose submissions the user may decide on, and the participant if theirs awaits
        review.
        """
        publication: Publication = self.seen(request, str(object_id), role=Role.OWNER)
        person = deciding.reviewable(publication).get(enrolment)
        if person is None:
            self.message_user(request, _("This participant has no submission that awaits review."), messages.WARNING)
        else:
            self.refuse_without_account(request, publication.account)
        return publication, person

    def _perform(
        self,
        request: HttpRequest,
        publication: Publication,
        act: Callable[[Publication], None],
        action: Action,
        message: str,
        details: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Perform the action if Prolific has the study, record it, and show the page with the result."""
        if not publication.is_there:
            self.message_user(request, _("The study is not on Prolific yet."), messages.ERROR)
        elif self._attempt(request, lambda: act(publication), message):
            all_details = {"account": publication.account.title, "places": publication.places, **(details or {})}
            self.record_action(request, publication, action, f"On Prolific: {action.label}.", all_details)
        return _page_of(publication)

    def _attempt(self, request: HttpRequest, act: Callable[[], None], message: str) -> bool:
        try:
            act()
        except (NotPossible, MarketplaceError) as reason:
            self.message_user(request, str(reason), messages.ERROR)
            return False
        self.message_user(request, message, messages.SUCCESS)
        return True


def _projects(account: Account) -> list[tuple[str, str]]:
    """Return the account's projects on Prolific as choices; the first is the default."""
    client = client_of(account)
    choices = []
    for workspace in client.workspaces():
        for project in client.projects(text_of(workspace, "id")):
            choices.append((text_of(project, "id"), f"{workspace.get('title', '')}: {project.get('title', '')}"))
    return choices


def _status_in_parley(person: Enrolment) -> str:
    return _("{person}'s status in Parley: {state}").format(person=person, state=person.get_state_display())


def _promised_amounts(person: Enrolment) -> str:
    """Return a warning with the amounts that their last page promised; empty if nothing is owed."""
    rows = LedgerRow.objects.filter(enrolment=person).order_by("reason")
    amounts = ", ".join(f"{row.amount} {row.currency} ({row.reason})" for row in rows)
    return _("Their last page promised them {amounts}.").format(amounts=amounts) if amounts else ""


def _address_of(publication: Publication) -> str:
    return reverse("admin:prolific_publication_change", args=[publication.pk])


def _page_of(publication: Publication) -> HttpResponseRedirect:
    return HttpResponseRedirect(_address_of(publication))
