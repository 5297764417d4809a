"""The dataset as a download for researchers."""

from __future__ import annotations

from django.contrib.admin.views.decorators import staff_member_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.views.decorators.http import require_POST

from audit import services as audit
from audit.deeds import Deed
from collecting.models import Collection
from exports.packing import packed, sent
from rights.parts import may, visible
from rights.roles import Role
from studies.models import Study


@require_POST
@staff_member_required
def dataset(request: HttpRequest, slug: str) -> HttpResponse:
    """Export a study and send it as a zip."""
    return _sent(request, get_object_or_404(visible(request.user, Study.objects.all()), slug=slug))


@require_POST
@staff_member_required
def dataset_of_collection(request: HttpRequest, slug: str) -> HttpResponse:
    """Export a collection and send it as a zip."""
    return _sent(request, get_object_or_404(visible(request.user, Collection.objects.all()), slug=slug))


def _sent(request: HttpRequest, made: Study | Collection) -> HttpResponse:
    if not may(request.user, made, role=Role.EDITOR):
        raise PermissionDenied
    name = f"{made.slug}-{timezone.now():%Y%m%d-%H%M}"
    pack, _manifest = packed(made, name)
    audit.record(deed=Deed.EXPORTED, who=request.user, target=made)
    return sent(request, pack, name)
