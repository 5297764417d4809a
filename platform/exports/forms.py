"""Form for the publication details of datasets."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from exports.alike import mask
from exports.models import Publication

_DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>]+")
_DOI_ADDRESS = re.compile(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", re.IGNORECASE)


class PublicationForm(forms.ModelForm):
    """Title, authors, licence, citation and other publication details."""

    class Meta:
        model = Publication
        fields = ("title", "authors", "licence", "own_licence", "citation", "doi", "description", "limitations")
        widgets = {name: forms.Textarea(attrs={"rows": 3}) for name in ("citation", "description", "limitations")}
        help_texts = {
            "title": _("If empty, the study's title."),
            "authors": _("Family name, given name; separated by semicolons. An ORCID may follow in brackets."),
            "citation": _("If empty, generated from authors, title and date."),
            "doi": _("For example 10.5281/zenodo.123. Leave empty until there is one."),
            "description": _("A few sentences for catalogues. If empty, generated from game, players and counts."),
            "limitations": _("What users of the data should know: biases, who is missing, what failed."),
        }

    def clean_doi(self) -> str:
        doi: str = _DOI_ADDRESS.sub("", self.cleaned_data["doi"].strip())
        if doi and not _DOI.fullmatch(doi):
            raise forms.ValidationError(_("A DOI looks like 10.5281/zenodo.123."))
        return doi

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        has_own_licence = cleaned.get("licence") == Publication.Licence.OWN
        if has_own_licence and not cleaned.get("own_licence"):
            self.add_error("own_licence", _("Enter the licence, or choose one from the list."))
        if not has_own_licence:
            cleaned["own_licence"] = ""
        for name, text in list(cleaned.items()):
            if mask(text) != text:
                message = _(
                    "Datasets contain no e-mail addresses or phone numbers; give a web page or an ORCID instead."
                )
                self.add_error(name, message)
        return cleaned
