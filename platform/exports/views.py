"""The dataset as a download for researchers."""

from __future__ import annotations

from django.contrib.admin.views.decorators import staff_member_required
from django.contrib.auth.decorators import permission_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.views.decorators.http import require_POST

from collecting.models import Collection
from exports.packing import packed, sent
from studies.models import Study


@require_POST
@staff_member_required
@permission_required("studies.view_study", raise_exception=True)
def dataset(request: HttpRequest, slug: str) -> HttpResponse:
    """Export a study and send it as a zip."""
    return _sent(request, get_object_or_404(Study, slug=slug))


@require_POST
@staff_member_required
@permission_required("collecting.view_collection", raise_exception=True)
def dataset_of_collection(request: HttpRequest, slug: str) -> HttpResponse:
    """Export a collection and send it as a zip."""
    return _sent(request, get_object_or_404(Collection, slug=slug))


def _sent(request: HttpRequest, made: Study | Collection) -> HttpResponse:
    name = f"{made.slug}-{timezone.now():%Y%m%d-%H%M}"
    pack, _manifest = packed(made, name)
    return sent(request, pack, name)
