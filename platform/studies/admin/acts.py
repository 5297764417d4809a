"""What an admin page makes of its table of actions (`studies.acts`).

The address of each, its page that asks for confirmation, its checks of rights, its entry in the audit log and its
messages about the outcome.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.urls import URLPattern, path
from django.utils.functional import Promise
from django.utils.text import capfirst

from rights.admin import NO_STORE, PartAdmin, trail
from rights.roles import Role
from studies.acts import Act, Given, Text
from studies.models import Study


@dataclass(frozen=True)
class Button:
    """The button of an action on the page of its object; `opens` the page that asks, or acts at once."""

    act: Act
    address: str
    opens: bool

    @property
    def text(self) -> str:
        text = capfirst(str(self.act.title if self.opens else self.act.button or self.act.title))
        return f"{text} …" if self.opens else text


class Desk(PartAdmin):
    """An admin page with actions.

    Attributes:
        desk_title: what breadcrumbs call the page that the actions start from.
        acts: the actions on one object, by name.
        refusals: what actions raise when they are not possible or fail.
    """

    desk_title: Text = ""
    acts: Mapping[str, Act] = {}
    refusals: tuple[type[Exception], ...] = ()

    def back_of(self, target: Any) -> str:
        """Return the address of the page that an action on this object leads back to."""
        raise NotImplementedError

    def acts_of(self, target: Any) -> Mapping[str, Act]:
        """Return the actions on this object, by name."""
        return self.acts

    def about_of(self, target: Any) -> str:
        """Return the heading of an action's page: the object or person concerned."""
        return str(target)

    def facts_of(self, target: Any) -> Sequence[str]:
        """Return sentences about the object for an action's page."""
        return ()

    def warnings_of(self, target: Any) -> Sequence[str]:
        """Return what to read before confirming an action."""
        return ()

    def refuse_user(self, request: HttpRequest, target: Any, act: Act) -> None:
        """Raise PermissionDenied for a user who has the role in the study, but lacks another right."""

    def words_of(self, refusal: Exception) -> str:
        """Return what to tell the user about one of the `refusals`."""
        return str(refusal)

    def study_of(self, request: HttpRequest, study_id: int, *, role: Role | None = None) -> Study:
        """Return the study in the address if the user has this role in it (default: the lowest role that sees it).

        Raises:
            Http404, PermissionDenied
        """
        study: Study = self.admin_site.get_model_admin(Study).seen(request, str(study_id), role=role)
        return study

    def page(  # type: ignore[override]
        self, request: HttpRequest, template: str, title: str, context: dict[str, Any], **response: Any
    ) -> HttpResponse:
        """Return an admin page that browsers do not store.

        Args:
            context: with a "study", the page has breadcrumbs, where "desk" is the previous page.
        """
        if "study" in context:
            desk = context.get("desk", request.path)
            study_crumbs = [(context.get("desk_title", self.desk_title), desk)] if desk != request.path else []
            context = {**context, **trail(context["study"], *study_crumbs, here=title)}
        return super().page(request, template, title, context, headers=NO_STORE, **response)

    # ---- actions ---------------------------------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        urls = [
            path(f"<int:object_id>/{name}/", view(partial(self.perform, name=name)), name=self.named(name))
            for name in self.act_names()
        ]
        return [*urls, *super().get_urls()]

    def act_names(self) -> Iterable[str]:
        """Return the names of all actions on any object."""
        return self.acts

    def buttons_of(
        self, request: HttpRequest, target: Any, may: dict[tuple[Role, bool], bool] | None = None
    ) -> list[Button]:
        """Return the buttons of the actions on an object that this user may do now.

        An action that asks for something without a page of its own has its form on the object's page instead.

        Args:
            may: the user's rights as found so far, by role and whether it spends; shared by objects with the same ones.
        """
        buttons, may = [], {} if may is None else may
        for name, act in self.acts_of(target).items():
            opens = act.explains is not None or act.page is not None
            if (act.form and not opens) or not act.offered(target) or act.hindrance(target):
                continue
            right = act.role, act.spends
            if right not in may:
                may[right] = self._may(request, target, act)
            if may[right]:
                buttons.append(Button(act, self.url_of(name, target.pk), opens))
        return buttons

    def _may(self, request: HttpRequest, target: Any, act: Act) -> bool:
        try:
            self.refuse_user(request, target, act)
        except PermissionDenied:
            return False
        return bool(self._allowed(request, target, act.role))

    def perform(self, request: HttpRequest, object_id: int, *, name: str) -> HttpResponse:
        """Ask for confirmation of an action, do it once confirmed, and say what came of it."""
        if (act := self.acts_of(self.seen(request, str(object_id))).get(name)) is None:
            raise Http404
        has_page = act.explains is not None or act.page is not None
        if request.method != "POST" and not (has_page and request.method == "GET"):
            return HttpResponseNotAllowed(["GET", "POST"] if has_page else ["POST"])
        target = self.seen(request, str(object_id), role=act.role)
        self.refuse_user(request, target, act)
        return self.carry_out(request, target, act)

    def carry_out(self, request: HttpRequest, target: Any, act: Act) -> HttpResponse:
        """Ask for confirmation of an action that this user may do, or do it once confirmed."""
        if hindrance := act.hindrance(target):
            return self.leave_to(request, self.back_of(target), hindrance, messages.ERROR)
        form = bound_form(act.form, request, initial=act.initial()) if act.form else None
        confirmed = request.method == "POST" and (form is None or form.is_valid())
        problem = ""
        if confirmed:
            given = Given(target, request, form.cleaned_data if form else {})
            record = partial(self._log, act, given)
            try:
                if act.log_first:
                    record()
                message = act.does(replace(given, record=record)) or str(act.done).format(**given.values)
            except self.refusals as reason:
                problem = self.words_of(reason)
            else:
                if not (act.log_first or act.log_itself):
                    record()
                return self.leave_to(request, self.back_of(target), message)
        if act.page is not None and not problem:
            return act.page(self, request, target)
        if act.explains is None:
            errors = problem or " ".join(
                str(text) for texts in (form.errors if form else {}).values() for text in texts
            )
            return self.leave_to(request, self.back_of(target), errors, messages.ERROR)
        return self._confirmation(request, act, target, form, problem)

    def _log(self, act: Act, given: Given) -> None:
        if act.log is not None:
            summary = f"{self.desk_of(given.target)}: {act.title}."
            self.record_action(given.request, given.target, act.log, summary, act.details(given))

    def desk_of(self, target: Any) -> str:
        """Return what the log and breadcrumbs call the place of an object."""
        return str(self.desk_title)

    def _confirmation(self, request: HttpRequest, act: Act, target: Any, form: Any, problem: str) -> HttpResponse:
        """Return the page that asks for confirmation; its button posts to the page's own address."""
        told = act.explains(target) if callable(act.explains) else act.explains
        explanation = [told] if isinstance(told, str | Promise) else list(told or ())
        back, title = self.back_of(target), str(act.title)
        context = {
            "study": target.study, "desk": back, "desk_title": self.desk_of(target), "back": back,
            "button": act.button or title, "about": self.about_of(target), "form": form,
            "harmful": act.harmful, "problem": problem, "sentences": [*explanation, *self.facts_of(target)],
            "warnings": [text for text in self.warnings_of(target) if text],
        }  # fmt: skip
        return self.page(request, "admin/studies/ask.html", title, context)


def bound_form(form: type[forms.Form], request: HttpRequest, **options: Any) -> forms.Form:
    """Return the form bound to posted data, or an unbound form if nothing was posted."""
    return form(*((request.POST, request.FILES) if request.method == "POST" else ()), **options)
