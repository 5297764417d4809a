"""Link a study that was created on Prolific itself, so that its participants are admitted and paid here.

Parley changes nothing on Prolific. If the settings there are unsuitable, the researcher is told what to change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.db import transaction
from django.utils.translation import gettext as _

from marketplaces.kinds import NotPossible
from marketplaces.offers import listing_of, pay_of
from marketplaces.prolific import codes
from marketplaces.prolific.client import client_of, hundredths, raise_invalid_response
from marketplaces.prolific.links import NAMES
from marketplaces.prolific.models import Publication
from marketplaces.prolific.publishing import PARAMETERS, refuse_unready, store_study, workspace_of
from plans.pay import PayRule
from studies.models import Study


class UnsuitableSettings(NotPossible):
    """The study on Prolific has unsuitable settings; `changes` says what to change there."""

    def __init__(self, changes: list[str]) -> None:
        super().__init__(" ".join(changes))
        self.changes = changes


def adopt(study: Study, *, prolific_id: str, address: str) -> Publication:
    """Link the study to the one on Prolific that has this identifier.

    Args:
        address: the study's entry page, as participants' browsers reach it.

    Raises:
        NotPossible: this study is already on Prolific, or that one belongs to another study.
        UnsuitableSettings
        MarketplaceError
    """
    version, account = refuse_unready(study)
    rule = pay_of(version)
    client = client_of(account)
    data = client.study(prolific_id)
    project = data["project"] if isinstance(data.get("project"), str) else ""
    workspace, currency = workspace_of(client, project)
    completion_codes, code_problems = codes.of_prolific(data.get("completion_codes"), rule)
    if problems := [*_problems(data, rule, address=address, currency=currency), *code_problems]:
        raise UnsuitableSettings([*problems, *_advice(data)])
    publication = Publication(
        study=study,
        account=account,
        internal_name=_unique_internal_name(data),
        name=str(data.get("name") or listing_of(study, version).title)[:120],
        description=str(data.get("description") or "")[:5000],
        project=project[:40],
        workspace=workspace,
        places=_positive_integer(data, "total_available_places"),
        minutes=_positive_integer(data, "estimated_completion_time"),
        devices=[device for device in data.get("device_compatibility") or [] if isinstance(device, str)],
        reward=rule.base,
        currency=rule.currency,
        address=address,
        requires_signature=bool(data.get("is_external_study_url_secure")),
        codes=completion_codes,
    )
    with transaction.atomic():
        Study.objects.select_for_update().get(pk=study.pk)
        if Publication.objects.filter(study=study).exists():
            raise NotPossible(_("This study is already on Prolific."))
        if Publication.objects.filter(prolific_id=data["id"]).exists():
            raise NotPossible(_("This study on Prolific is already linked to another study here."))
        publication.save()
        store_study(publication, data)
    return publication


def _problems(data: Mapping[str, Any], rule: PayRule, *, address: str, currency: str) -> Iterator[str]:
    """Yield what to change on Prolific, apart from the codes."""
    if not _opens_study(data.get("external_study_url"), address):
        yield _("Its study URL does not lead here, or lacks a parameter. Set it to {link}").format(
            link=f"{address}{PARAMETERS}"
        )
    if data.get("prolific_id_option") != "url_parameters":
        yield _("Set Prolific to record participant IDs through URL parameters.")
    if currency != rule.currency:
        yield _(
            "Its workspace pays in {theirs}, but the study here pays in {ours}. The currencies must be the same."
        ).format(theirs=currency, ours=rule.currency)
    if data.get("reward") != hundredths(rule.base):
        yield _("Its reward differs from the study's base pay. Set it to {base} {currency}.").format(
            base=rule.base, currency=rule.currency
        )


def _advice(data: Mapping[str, Any]) -> Iterator[str]:
    if str(data["status"]).upper() != "UNPUBLISHED":
        yield _("Prolific doesn't allow these changes to a published study. Copy the study there and change the copy.")


def _opens_study(url: Any, address: str) -> bool:
    """Return whether a link opens the study's entry page and names participant, study and submission."""
    if not isinstance(url, str):
        return False
    given_url, expected_url = urlsplit(url), urlsplit(address)
    same_page = (given_url.scheme, given_url.netloc.lower()) == (expected_url.scheme, expected_url.netloc.lower())
    parameters = parse_qs(given_url.query)
    has_parameters = all(parameters.get(name) == [f"{{{{%{name}%}}}}"] for name in NAMES)
    return same_page and has_parameters and given_url.path.rstrip("/") == expected_url.path.rstrip("/")


def _unique_internal_name(data: Mapping[str, Any]) -> str:
    """Return its internal name on Prolific, made unique if another study here already has this name."""
    name = str(data.get("internal_name") or "")[:120]
    is_free = name and not Publication.objects.filter(internal_name=name).exists()
    return name if is_free else f"{name[:80]} {data['id']}".strip()


def _positive_integer(data: Mapping[str, Any], name: str) -> int:
    value = data.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 1:
        raise_invalid_response()
    return int(value)
