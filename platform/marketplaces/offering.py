"""The admin pages of what studies offer on marketplaces: draft, publish at a price, follow, end, and import."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.decorators import display

from audit.actions import Action
from marketplaces import comparing, kinds, modules, recruiting
from marketplaces.desks import Desk
from marketplaces.fields import MOST_PLACES, number
from marketplaces.kinds import NotPossible
from marketplaces.models import Offer, Recruitment
from marketplaces.offers import Price
from participants.admin import ReadOnlyAdmin
from rights import parts
from rights.admin import at
from rights.roles import Role
from studies.acts import Act, Given
from studies.models import Study
from studies.recruiting import ACTIONS


@admin.register(Offer)
class OfferAdmin(Desk, ReadOnlyAdmin):
    """Editors offer studies; spending the account's money also requires the editor's role in the account."""

    list_display = ["name", "study", "account", "status_label", "reward", "places", "heard_at"]
    list_select_related = ["study", "account"]
    list_filter = ["account__kind"]

    @display(description=gettext_lazy("status"), ordering="status", label=True)
    def status_label(self, offer: Offer) -> str:
        return offer.status_label

    def act_names(self) -> Iterable[str]:
        return dict.fromkeys(name for key in kinds.keys() for name in modules.selling(key).ACTS)

    def acts_of(self, target: Offer) -> Mapping[str, Act]:
        return modules.selling(target.account.kind).ACTS

    def back_of(self, target: Offer) -> str:
        return desk_address(target.study)

    def desk_of(self, target: Offer) -> str:
        return target.account.get_kind_display()

    def facts_of(self, target: Offer) -> Sequence[str]:
        facts = modules.selling(target.account.kind).facts_of(target)[:3]
        return [target.status_label, *(f"{title}: {value}" for title, value in facts)]

    def change_view(self, request: HttpRequest, object_id: str, *_form: Any, **_more: Any) -> HttpResponse:
        offer = self.seen(request, object_id)
        if request.method not in ("GET", "HEAD"):
            raise PermissionDenied
        return HttpResponseRedirect(self.back_of(offer))

    # ---- a study's pages -------------------------------------------------------------------------------

    @at("of/<int:study_id>/", "GET", name="of")
    def of_study(self, request: HttpRequest, study_id: int) -> HttpResponse:
        """Show what the study offers, everyone who came through it, and where both sides differ.

        An offer published before the last launch may have another reward than the base pay.
        """
        study = self.study_of(request, study_id)
        kind, context = _place_of(study)
        if not kind:
            return self._study_page(request, "desk", study, context)
        desk, version, recruitment = modules.selling(kind), study.latest_version(), context["recruitment"]
        base = version.plan.pay.base if version is not None else None
        rights: defaultdict[int, dict[tuple[Role, bool], bool]] = defaultdict(dict)
        link = f"{request.build_absolute_uri(study.get_absolute_url())}{desk.LINK}"
        context |= {
            "base": base,
            "importing": str(desk.IMPORT).format(link=link),
            "may_change": parts.may(request.user, study, role=Role.EDITOR),
            "may_offer": desk.MANY or not study.offers.exists(),
            "offers": [
                {
                    "offer": one, "colour": desk.COLOURS.get(one.status, ""), "facts": desk.facts_of(one),
                    "note": desk.note_on(one), "differs": one.reward != base and desk.recruits(one),
                    "buttons": self.buttons_of(request, one, rights[one.account_id]),
                }
                for one in Offer.objects.filter(study=study, account__kind=kind).select_related("account", "study")
            ],
        }  # fmt: skip
        if recruitment is not None:
            context |= {
                "counted": comparing.status_counts(study),
                "lines": comparing.lines_of(study, recruitment.account),
                "may_decide": parts.may(request.user, study, role=Role.OWNER),
            }
        return self._study_page(request, "desk", study, context)

    @at("of/<int:study_id>/offer/")
    def offer(self, request: HttpRequest, study_id: int) -> HttpResponse:
        """Show the form for an offer, and make a draft of it."""
        study = self.study_of(request, study_id, role=Role.EDITOR)
        kind, context = _place_of(study)
        address = request.build_absolute_uri(study.get_absolute_url())
        last = study.offers.first()
        try:
            if not kind:
                raise NotPossible(_("Participants enter this study in another way."))
            version, rule, account = modules.recruiting(kind).ready(study)
            self.refuse_without_account(request, account)
            form = modules.selling(kind).form_of(request, study, version, account, address)
            context |= {"form": form, "rule": rule}
            if form.is_bound and form.is_valid():
                draft = modules.recruiting(kind).create(study, address=address, by=request.user, **form.offer())
                summary = f"Created a draft on {kinds.get(kind).title}."
                self.record_action(request, draft, Action.MADE, summary, {"places": draft.places})
                message = _("The draft is ready. Nothing is offered until you publish it.")
                return self.leave_to(request, desk_address(study), message)
        except self.refusals as reason:
            context["problem"] = str(reason)
            if study.offers.first() != last:
                return self.leave_to(request, desk_address(study), reason, messages.ERROR)
        return self._study_page(request, "form", study, context)

    @at("of/<int:study_id>/adopt/", "POST")
    def adopt(self, request: HttpRequest, study_id: int) -> HttpResponse:
        """Link what was created on the marketplace itself to the study."""
        study = self.study_of(request, study_id, role=Role.EDITOR)
        kind, context = _place_of(study)
        address = request.build_absolute_uri(study.get_absolute_url())
        if context["recruitment"] is not None:
            self.refuse_without_account(request, context["account"])
        try:
            typed = request.POST.get("remote_id", "").strip()
            imported = recruiting.adopt(study, kind, typed=typed, address=address, by=request.user)
        except self.refusals as reason:
            message = _("Not imported: {reason}").format(reason=reason)
            return self.leave_to(request, desk_address(study), message, messages.ERROR)
        summary = f"Imported what was created on {kinds.get(kind).title} itself."
        self.record_action(request, imported, Action.MADE, summary, {"account": imported.account.title})
        message = _("Imported: its participants can now enter the study and be paid here.")
        return self.leave_to(request, desk_address(study), message)

    def publish_page(self, request: HttpRequest, offer: Offer) -> HttpResponse:
        """Show what publishing costs before it is confirmed."""
        _kind, context = _place_of(offer.study)
        try:
            price = price_if_ready(offer)
            context |= {"price": price, "problem": _too_expensive(price)}
        except self.refusals as reason:
            context["problem"] = str(reason)
        return self._study_page(request, "publish", offer.study, {**context, "offer": offer})

    def _study_page(self, request: HttpRequest, name: str, study: Study, context: dict[str, Any]) -> HttpResponse:
        titles = {"form": _("Offer {study} on {there}"), "publish": _("Publish {study} on {there}")}
        title = titles.get(name, _("{study} on {there}")).format(study=study, there=context["there"])
        context = {**context, "study": study, "desk": desk_address(study), "desk_title": context["there"]}
        return self.page(request, f"admin/marketplaces/offer/{name}.html", title, context)


def _place_of(study: Study) -> tuple[str, dict[str, Any]]:
    """Return the marketplace where a study recruits, "" if on none, and what all pages show of it."""
    recruitment = Recruitment.objects.select_related("account").filter(study=study).first()
    kind = recruitment.account.kind if recruitment is not None else study.entry
    is_there = kind in kinds.keys()
    context = {
        "recruitment": recruitment,
        "account": recruitment.account if recruitment is not None else None,
        "there": str(kinds.get(kind).title) if is_there else _("a marketplace"),
        "notice": modules.selling(kind).NOTICE if is_there else "",
    }
    return kind if is_there else "", context


def desk_address(study: Study) -> str:
    return reverse("admin:marketplaces_offer_of", args=[study.pk])


# ---- actions that all have -------------------------------------------------------------------------


def price_if_ready(offer: Offer) -> Price:
    """Return what publishing a draft costs. Raise NotPossible, MarketplaceError."""
    there = modules.recruiting(offer.account.kind)
    there.ready(offer.study)
    return there.price_of(offer)


def _too_expensive(price: Price) -> str:
    if not price.missing:
        return ""
    message = _("The account's balance is {balance} {currency}, {missing} {currency} too little.")
    return message.format(balance=price.balance, currency=price.currency, missing=price.missing)


def _publish(given: Given) -> None:
    if problem := _too_expensive(price_if_ready(given.target)):
        raise NotPossible(problem)
    modules.recruiting(given.target.account.kind).publish(given.target)


def details_of(given: Given) -> dict[str, Any]:
    offer = given.target
    return {"account": offer.account.title, "places": offer.places, "reward": str(offer.reward)}


def unconfirmed(offer: Offer) -> str:
    """Return why nothing can be done with an offer that may not exist there."""
    return "" if offer.remote_id is not None else _("Not done: it is not known yet whether it exists there.")


def on_offer(title: Any, does: Callable[..., Any], done: Any, log: Action | None = None, **more: Any) -> Act:
    """Return an action on an offer that exists there; `does` gets the offer and the form's values."""

    def act(given: Given) -> None:
        does(given.target, **given.values)

    return Act(title, act, done, log=log, **{"hindrance": unconfirmed, "details": details_of, **more})


def publishing_act(hindrance: Callable[[Offer], str], **more: Any) -> Act:
    """Return the action that publishes a draft; its entry comes first, because its outcome may remain unknown."""
    return Act(
        gettext_lazy("publish"),
        _publish,
        gettext_lazy("Published: participants can find it now."),
        log=Action.PUBLISHED,
        log_first=True,
        icon="campaign",
        hindrance=hindrance,
        details=details_of,
        page=OfferAdmin.publish_page,
        **more,
    )


class PlacesForm(forms.Form):
    places = number(gettext_lazy("Total places"), 1, MOST_PLACES)


def _set_places(given: Given) -> None:
    offer, places = given.target, given.values["places"]
    if places <= offer.places:
        raise NotPossible(_("There are {places} places already; you can only add places.").format(places=offer.places))
    given.record()
    modules.recruiting(offer.account.kind).set_places(offer, places)


def more_places(explains: Any, offered: Callable[[Offer], bool]) -> Act:
    """Return the action that adds places; repeating it adds none, because its form asks for their total."""
    return Act(
        gettext_lazy("More places"),
        _set_places,
        gettext_lazy("There are {places} places now."),
        button=gettext_lazy("Add places"),
        explains=explains,
        form=PlacesForm,
        log=Action.EXTENDED,
        log_itself=True,
        offered=offered,
        hindrance=unconfirmed,
        details=details_of,
    )


def _follows(status: Study.Status, title: Any, icon: str, **more: Any) -> Act:
    """Return the action that opens, pauses or closes one offer, as it follows when the study's status changes."""

    def does(given: Given) -> str:
        there = modules.recruiting(given.target.account.kind)
        there.change(given.target, status)
        return _(there.CHANGES[status][0]).format(number=1)

    return Act(
        title,
        does,
        icon=icon,
        log=ACTIONS[status],
        offered=lambda offer: modules.recruiting(offer.account.kind).is_due(offer, status),
        hindrance=unconfirmed,
        details=details_of,
        **more,
    )


FOLLOWING: Mapping[str, Act] = {
    "pause": _follows(Study.Status.PAUSED, gettext_lazy("pause"), "pause", spends=False),
    "resume": _follows(Study.Status.LAUNCHED, gettext_lazy("resume"), "play_arrow"),
    "stop": _follows(
        Study.Status.CLOSED,
        gettext_lazy("stop"),
        "stop",
        asks=gettext_lazy("Stop it for good? It can't be reopened there."),
        role=Role.OWNER,
        spends=False,
    ),
}
"""By name; a marketplace takes those that it has."""
