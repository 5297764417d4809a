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
from marketplaces.prolific import codes
from marketplaces.prolific.client import client_of, hundredths, raise_invalid_response
from marketplaces.prolific.links import NAMES
from marketplaces.prolific.models import Publication
from marketplaces.prolific.publishing import PARAMETERS, refuse_unready, store_study, workspace_of
from payouts.rules import PayRule
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
    rule = version.pay()
    client = client_of(account)
    found = client.study(prolific_id)
    project = found["project"] if isinstance(found.get("project"), str) else ""
    workspace, currency = workspace_of(client, project)
    known, code_problems = codes.of_prolific(found.get("completion_codes"), rule)
    if wrong := [*_problems(found, rule, address=address, currency=currency), *code_problems]:
        raise UnsuitableSettings([*wrong, *_advice(found)])
    publication = Publication(
        study=study,
        account=account,
        internal_name=_unique_internal_name(found),
        name=str(found.get("name") or study.title)[:120],
        description=str(found.get("description") or "")[:5000],
        project=project[:40],
        workspace=workspace,
        places=_positive_integer(found, "total_available_places"),
        minutes=_positive_integer(found, "estimated_completion_time"),
        devices=[one for one in found.get("device_compatibility") or [] if isinstance(one, str)],
        reward=rule.base,
        currency=rule.currency,
        address=address,
        requires_signature=bool(found.get("is_external_study_url_secure")),
        codes=known,
    )
    with transaction.atomic():
        Study.objects.select_for_update().get(pk=study.pk)
        if Publication.objects.filter(study=study).exists():
            raise NotPossible(_("This study is already on Prolific."))
        if Publication.objects.filter(prolific_id=found["id"]).exists():
            raise NotPossible(_("This study on Prolific is already linked to another study here."))
        publication.save()
        store_study(publication, found)
    return publication


def _problems(found: Mapping[str, Any], rule: PayRule, *, address: str, currency: str) -> Iterator[str]:
    """Yield what to change on Prolific, apart from the codes."""
    if not _opens_study(found.get("external_study_url"), address):
        yield _("Its study URL does not lead here, or lacks a parameter. Set it to {link}").format(
            link=f"{address}{PARAMETERS}"
        )
    if found.get("prolific_id_option") != "url_parameters":
        yield _("Set Prolific to record participant IDs through URL parameters.")
    if currency != rule.currency:
        yield _(
            "Its workspace pays in {theirs}, but the study here pays in {ours}. The currencies must be the same."
        ).format(theirs=currency, ours=rule.currency)
    if found.get("reward") != hundredths(rule.base):
        yield _("Its reward differs from the study's base pay. Set it to {base} {currency}.").format(
            base=rule.base, currency=rule.currency
        )


def _advice(found: Mapping[str, Any]) -> Iterator[str]:
    if str(found["status"]).upper() != "UNPUBLISHED":
        yield _("Prolific doesn't allow these changes to a published study. Copy the study there and change the copy.")


def _opens_study(url: Any, address: str) -> bool:
    """Return whether a link opens the study's entry page and names participant, study and submission."""
    if not isinstance(url, str):
        return False
    given_url, expected_url = urlsplit(url), urlsplit(address)
    same = (given_url.scheme, given_url.netloc.lower()) == (expected_url.scheme, expected_url.netloc.lower())
    parameters = parse_qs(given_url.query)
    names = all(parameters.get(name) == [f"{{{{%{name}%}}}}"] for name in NAMES)
    return same and names and given_url.path.rstrip("/") == expected_url.path.rstrip("/")


def _unique_internal_name(found: Mapping[str, Any]) -> str:
    """Return its internal name on Prolific, made unique if another study here already has this name."""
    name = str(found.get("internal_name") or "")[:120]
    free = name and not Publication.objects.filter(internal_name=name).exists()
    return name if free else f"{name[:80]} {found['id']}".strip()


def _positive_integer(found: Mapping[str, Any], name: str) -> int:
    value = found.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 1:
        raise_invalid_response()
    return int(value)
