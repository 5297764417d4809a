"""Programs: each user sees and changes their own; a secret is shown once."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.decorators import display

from audit.actions import Action
from programs.models import Program
from programs.tokens import new_secret
from rights import parts
from rights.admin import NO_STORE, PartAdmin, at
from rights.roles import Role


@admin.register(Program)
class ProgramAdmin(PartAdmin):
    list_display = ["name", "state", "owner", "seen_at", "created_at"]
    list_select_related = ["owner"]
    search_fields = ["name"]
    fields = ["name", "enabled"]
    change_form_outer_before_template = "admin/programs/program/top.html"
    list_fullwidth = True
    actions = None
    view_on_site = False

    @display(description=gettext_lazy("state"), label={"enabled": "success", "disabled": "warning"})
    def state(self, program: Program) -> tuple[str, str]:
        return ("enabled", _("enabled")) if program.enabled else ("disabled", _("disabled"))

    # ---- rights: a program belongs to its owner, not to a study --------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return Program.seen_by(request.user)

    def _allowed(self, request: HttpRequest, obj: Model | None, role: Role) -> bool:
        user = request.user
        if not parts.is_staff_member(user):
            return False
        return obj is None or user.is_superuser or (isinstance(obj, Program) and obj.owner_id == user.pk)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: programs are disabled, not deleted, so that nobody else takes their name in a study."""
        return False

    # ---- the form and the secret -----------------------------------------------------------------------------

    def get_readonly_fields(self, request: HttpRequest, obj: Program | None = None) -> Any:
        return ["name"] if obj else []

    def save_model(self, request: HttpRequest, obj: Program, form: Any, change: bool) -> None:
        if not change:
            obj.owner = parts.user_of(request)
            vars(request)["new_secret"] = new_secret(obj)
        obj.save()

    def response_add(self, request: HttpRequest, obj: Program, post_url_continue: str | None = None) -> HttpResponse:
        return self._show_secret(request, obj, vars(request)["new_secret"])

    @at("<path:object_id>/renew/", "POST")
    def renew(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Replace the secret; the old one opens nothing any longer."""
        program = self.seen(request, object_id, role=Role.EDITOR)
        with transaction.atomic():
            secret = new_secret(program)
            program.save(update_fields=["digest"])
            self.record_action(request, program, Action.CHANGED, "New secret.")
        return self._show_secret(request, program, secret)

    def _show_secret(self, request: HttpRequest, program: Program, secret: str) -> HttpResponse:
        """Return the only page that shows the secret; no message, session or URL contains it."""
        context = {
            "notice": _(
                "Copy the secret now: it is not stored and will not be shown again. Anyone who has it plays as this "
                "program, so keep it as secret as a password."
            ),
            "secret": secret,
            "command": f'curl -H "Authorization: Bearer SECRET" {request.build_absolute_uri("/api/v1/")}seats',
            "back": self.url_of("changelist"),
            "back_title": _("All programs"),
        }
        title = _("Secret of program “{name}”").format(name=program.name)
        return self.page(request, "admin/parley_secret.html", title, context, headers=NO_STORE)

    def form_context(self, request: HttpRequest, obj: Program | None) -> dict[str, Any]:
        return {"program": obj, "show_save_and_add_another": False, "show_save_and_continue": False}
