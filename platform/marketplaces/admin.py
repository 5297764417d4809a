"""Admin pages for marketplace accounts, and for choosing the account through which a study recruits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from unfold.decorators import display

from audit import services as audit
from audit.actions import Action
from marketplaces import comparing, kinds, modules, syncing
from marketplaces.desks import Desk
from marketplaces.kinds import MarketplaceError
from marketplaces.models import Account, Recruitment, Submission, credentials_of
from marketplaces.offering import desk_address
from participants.admin import ReadOnlyAdmin
from payouts.models import LedgerRow
from recruiters.models import Identity
from rights import parts
from rights.admin import MembersPage, PartAdmin, at
from rights.admin.secrets import secret_field
from rights.roles import Role
from studies.acts import Act
from studies.models import Study

_CREDENTIAL = "credential_"
_FIELDS = ["title", "kind", "place", "address"]


class AccountForm(forms.ModelForm):
    """Form for an account. Credentials are write-only and depend on the marketplace."""

    class Meta:
        model = Account
        fields = _FIELDS

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        for credential in self._credentials():
            advice = str(credential.help) or _("Stored encrypted and never shown. Leave empty to keep the saved value.")
            field = secret_field(str(credential.label), advice, longest=400)
            self.fields[f"{_CREDENTIAL}{credential.name}"] = field

    def _credentials(self) -> tuple[kinds.Credential, ...]:
        return kinds.get(self.instance.kind).credentials if self.instance.pk else ()

    @sensitive_variables()
    def entered_credentials(self) -> dict[str, str]:
        """Return the credentials entered in this form."""
        entered = {
            credential.name: self.cleaned_data.get(f"{_CREDENTIAL}{credential.name}", "")
            for credential in self._credentials()
        }
        return {name: value for name, value in entered.items() if value}

    @sensitive_variables()
    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        rehearsal = cleaned.get("place") == Account.Place.REHEARSAL
        if rehearsal and not cleaned.get("address"):
            self.add_error("address", _("Enter the stand-in's address, for example http://127.0.0.1:8100."))
        if not rehearsal and cleaned.get("address"):
            self.add_error("address", _("Only rehearsals have their own address."))
        kind = self.instance.kind if self.instance.pk else cleaned.get("kind")
        place = cleaned.get("place")
        if kind and place and not rehearsal and place not in kinds.get(kind).addresses:
            self.add_error("place", _("This marketplace does not have this environment."))
        changed_place = {"place", "address"} & set(self.changed_data)
        if self.instance.pk and changed_place and self.instance.sealed_credentials:
            missing = {credential.name for credential in self._credentials()} - set(self.entered_credentials())
            for name in missing:
                self.add_error(
                    f"{_CREDENTIAL}{name}",
                    _("The saved value belongs to the previous environment. Please enter it again."),
                )
        return cleaned


@admin.register(Account)
@method_decorator(sensitive_post_parameters(), name="changeform_view")
class AccountAdmin(MembersPage):
    """List of marketplace accounts. Editors recruit and pay with an account; only owners change it."""

    sees, changes, deletes = Role.VIEWER, Role.OWNER, Role.OWNER
    form = AccountForm
    list_display = ["title", "kind", "place_label", "signs_in"]
    actions = None
    view_on_site = False
    change_form_outer_before_template = "admin/marketplaces/account/before.html"

    @display(
        description=gettext_lazy("environment"), label={"production": "danger", "sandbox": "info", "rehearsal": "info"}
    )
    def place_label(self, account: Account) -> tuple[str, str]:
        return account.place, account.get_place_display()

    @display(description=gettext_lazy("can sign in"), boolean=True)
    def signs_in(self, account: Account) -> bool:
        return credentials_of(account) is not None

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return parts.is_staff_member(request.user)

    def get_fieldsets(self, request: HttpRequest, obj: Account | None = None) -> Any:
        fieldsets = [(None, {"fields": _FIELDS})]
        if obj is None or not self.has_change_permission(request, obj):
            return fieldsets
        names = [f"{_CREDENTIAL}{credential.name}" for credential in kinds.get(obj.kind).credentials]
        return [*fieldsets, (gettext_lazy("Credentials"), {"fields": names})] if names else fieldsets

    def get_form(self, request: HttpRequest, obj: Account | None = None, change: bool = False, **kwargs: Any) -> Any:
        """Return the form class; the form itself adds the fields for the marketplace's credentials."""
        fields = [name for name in kwargs.get("fields") or _FIELDS if not name.startswith(_CREDENTIAL)]
        return super().get_form(request, obj, change=change, **{**kwargs, "fields": fields})

    def get_readonly_fields(self, request: HttpRequest, obj: Account | None = None) -> list[str]:
        """Make the marketplace read-only once credentials are stored for it, and the environment once studies recruit
        there.
        """
        if obj is None:
            return []
        return ["kind", "place", "address"] if obj.recruitments.exists() else ["kind"]

    def form_context(self, request: HttpRequest, obj: Account | None) -> dict[str, Any]:
        return {"account": obj, "may_try": obj is not None and self._allowed(request, obj, Role.EDITOR)}

    @sensitive_variables()
    def save_model(self, request: HttpRequest, obj: Account, form: Any, change: bool) -> None:
        if not change:
            obj.created_by_id = request.user.pk
        if entered := form.entered_credentials():
            stored_credentials = {} if {"place", "address"} & set(form.changed_data) else credentials_of(obj) or {}
            obj.keep_credentials({**stored_credentials, **entered})
        super().save_model(request, obj, form, change)

    def response_add(self, request: HttpRequest, obj: Account, post_url_continue: str | None = None) -> HttpResponse:
        """Redirect to the page where the account's credentials are entered."""
        message = _("Now enter the account's credentials and test the connection.")
        return self.leave_to(request, self.url_of("change", obj.pk), message, messages.INFO)

    @at("<path:object_id>/try/", "POST", name="try")
    def test_connection(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Send one request to the marketplace's API that changes nothing there."""
        account = self.seen(request, object_id, role=Role.EDITOR)
        try:
            message, level = modules.client(account.kind).check(account), messages.SUCCESS
        except MarketplaceError as error:
            message, level = str(error), messages.ERROR
        self.record_action(request, account, Action.TRIED, message, {"answered": level == messages.SUCCESS})
        return self.leave_to(request, self.url_of("change", account.pk), message, level)


class RecruitmentForm(forms.ModelForm):
    """Form for choosing a study and the marketplace account through which its participants arrive."""

    class Meta:
        model = Recruitment
        fields = ("study", "account")

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        account = self.fields.get("account")
        if isinstance(account, forms.ModelChoiceField):
            message = _("Accounts are added under {link}.")
            if account.queryset is not None and not account.queryset.exists():
                message = _("There is no account that you may use. Add one under {link}, then choose it here.")
            link = format_html('<a href="{}">{}</a>', reverse("admin:marketplaces_account_changelist"), _("Accounts"))
            account.help_text = format_html(message, link=link)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        study = cleaned.get("study") or (self.instance.study if self.instance.pk else None)
        account = cleaned.get("account")
        if study and account and account.kind not in (study.entry, study.draft.get("entry", {}).get("via")):
            message = _(
                "Participants enter this study in another way. Change “who may enter” in the study, or choose another "
                "account."
            )
            self.add_error("account", message)
        return cleaned


@admin.register(Recruitment)
class RecruitmentAdmin(PartAdmin):
    """Pages for the account through which a study recruits and pays, and the marketplace's last response."""

    sees, changes, deletes = Role.VIEWER, Role.OWNER, Role.OWNER
    form = RecruitmentForm
    fields = ["study", "account"]
    list_display = ["study", "account", "asked_at", "answered_at", "status_label"]
    list_select_related = ["study", "account"]
    actions = None
    view_on_site = False
    change_form_outer_before_template = "admin/marketplaces/recruitment/before.html"

    @display(description=gettext_lazy("connection"), label={"no": "danger", "yes": "success", "new": "info"})
    def status_label(self, recruitment: Recruitment) -> tuple[str, str]:
        if recruitment.problem:
            return "no", recruitment.problem
        return ("yes", _("working")) if recruitment.answered_at else ("new", _("not updated yet"))

    def get_readonly_fields(self, request: HttpRequest, obj: Recruitment | None = None) -> list[str]:
        """Make the study read-only, and the account as well once someone has arrived through it."""
        if obj is None:
            return []
        return ["study", "account"] if obj.has_arrivals else ["study"]

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Offer the user's own studies that recruit through a marketplace, and the accounts that they may use."""
        choices: dict[str, QuerySet[Any]] = {
            "study": parts.visible(
                request.user,
                Study.objects.filter(draft__entry__via__in=kinds.keys(), recruitment=None),
                role=Role.OWNER,
            ),
            "account": parts.visible(request.user, Account.objects.all(), role=Role.EDITOR),
        }
        return super().formfield_for_foreignkey(db_field, request, queryset=choices[db_field.name], **kwargs)

    def form_context(self, request: HttpRequest, obj: Recruitment | None) -> dict[str, Any]:
        return {"recruitment": obj, "may_ask": obj is not None and self._allowed(request, obj, Role.EDITOR)}

    @at("<path:object_id>/ask/", "POST", name="ask")
    def sync_now(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Sync this study's participants from the marketplace now."""
        recruitment = self.seen(request, object_id, role=Role.EDITOR)
        syncing.sync(recruitment)
        recruitment.refresh_from_db()
        message = recruitment.problem or _("Updated from the marketplace.")
        level = messages.ERROR if recruitment.problem else messages.SUCCESS
        return self.leave_to(request, self.url_of("change", recruitment.pk), message, level)


@admin.register(Submission)
class SubmissionAdmin(Desk, ReadOnlyAdmin):
    """Work that participants submitted on a marketplace: members see it; owners decide about it, one at a time."""

    list_display = ["who", "study", "status_label", "whose", "started_at", "submitted_at", "auto_approval_at"]
    list_select_related = ["study", "enrolment"]
    list_filter = ["status", "whose"]
    fields = [
        "who", "study", "account", "status_text", "decisions", "whose", "code", "return_asked", "authenticity",
        "started_at", "submitted_at", "auto_approval_at", "taken_back_at",
    ]  # fmt: skip
    readonly_fields = fields

    @display(description=gettext_lazy("participant"))
    def who(self, submission: Submission) -> str:
        return str(submission)

    @display(
        description=gettext_lazy("status"),
        ordering="status",
        label={"AWAITING REVIEW": "warning", "APPROVED": "success", "REJECTED": "danger"},
    )
    def status_label(self, submission: Submission) -> tuple[str, str]:
        return submission.status, submission.status_label

    @display(description=gettext_lazy("status"))
    def status_text(self, submission: Submission) -> str:
        return submission.status_label

    @display(description=gettext_lazy("decisions of an owner"))
    def decisions(self, submission: Submission) -> str:
        return format_html_join(" · ", '<a href="{1}">{0} …</a>', comparing.actions_on(submission)) or "–"

    def act_names(self) -> Iterable[str]:
        return dict.fromkeys(name for key in kinds.keys() for name in modules.deciding(key).ACTS)

    def acts_of(self, target: Submission) -> Mapping[str, Act]:
        return modules.deciding(target.account.kind).ACTS

    def back_of(self, target: Submission) -> str:
        return desk_address(target.study)

    def desk_of(self, target: Submission) -> str:
        return target.marketplace

    def about_of(self, target: Submission) -> str:
        if target.enrolment is None:
            return str(target)
        state = target.enrolment.get_state_display()
        return _("{person}'s status in Parley: {state}").format(person=target, state=state)

    def facts_of(self, target: Submission) -> Sequence[str]:
        """Return when it was submitted, and when the marketplace will approve it automatically."""
        facts = []
        if target.submitted_at is not None:
            at = date_format(target.submitted_at, "Y-m-d H:i")
            facts.append(_("Submitted at {at} (UTC).").format(at=at))
        if target.status == Submission.Status.SUBMITTED and target.auto_approval_at is not None:
            until = date_format(target.auto_approval_at, "Y-m-d H:i")
            sentence = _("{marketplace} will approve it automatically at {until} (UTC).")
            facts.append(sentence.format(marketplace=target.marketplace, until=until))
        return facts

    def warnings_of(self, target: Submission) -> Sequence[str]:
        """Return the amounts that their last page promised."""
        rows = LedgerRow.objects.filter(enrolment=target.enrolment_id or 0).order_by("reason")
        amounts = ", ".join(f"{row.amount} {row.currency} ({row.reason})" for row in rows)
        return [_("Their last page promised them {amounts}.").format(amounts=amounts)] if amounts else []

    @at("of/<int:study_id>/worker/", "POST")
    def worker(self, request: HttpRequest, study_id: int) -> HttpResponse:
        """Show an owner a participant's ID, for example to write to them; the audit log records it."""
        study = self.study_of(request, study_id, role=Role.OWNER)
        key = request.POST.get("enrolment", "")
        arrivals = Identity.objects.filter(study=study.slug, recruiter__in=kinds.keys()).select_related("enrolment")
        identity = arrivals.filter(enrolment=int(key)).first() if key.isascii() and key.isdigit() else None
        if identity is None:
            message = _("This participant does not exist or has been deleted.")
            return self.leave_to(
                request, reverse("admin:studies_study_change", args=[study.pk]), message, messages.ERROR
            )
        audit.record(action=Action.IDENTITY_SHOWN, user=request.user, target=identity.enrolment, of=study)
        kind = kinds.get(identity.recruiter)
        context = {"identity": identity, "study": study, "desk_title": kind.title}
        context["desk"] = desk_address(study)
        title = _("Participant's ID on {marketplace}").format(marketplace=kind.title)
        return self.page(request, "admin/marketplaces/worker.html", title, context)
