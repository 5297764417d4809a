"""What a researcher says of their datasets."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from exports.alike import cut
from exports.models import Publication


class PublicationForm(forms.ModelForm):
    """Title, authors, licence and citation."""

    class Meta:
        model = Publication
        fields = ("title", "authors", "licence", "own_licence", "citation")
        widgets = {"citation": forms.Textarea(attrs={"rows": 3})}
        help_texts = {
            "title": _("Empty: the study's own title."),
            "authors": _("As they are to be named, parted by semicolons."),
            "citation": _("Empty: made of authors, title and date."),
        }

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        own = cleaned.get("licence") == Publication.Licence.OWN
        if own and not cleaned.get("own_licence"):
            self.add_error("own_licence", _("Please write which licence it is, or choose one from the list."))
        if not own:
            cleaned["own_licence"] = ""
        for name, text in list(cleaned.items()):
            if cut(text) != text:
                self.add_error(name, _("No dataset holds an e-mail address; name a page or an ORCID instead."))
        return cleaned
