"""Payment of participants from panels: by the panel itself, or through lists that researchers give to the panel."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from panels.models import KIND, Panel
from payouts import payers
from payouts.payers import PaymentMethod


def panel_pays(study: str, reason: str) -> bool:
    """Return whether the panel of the study with this short name pays for this reason itself."""
    pays = Panel.objects.filter(study__slug=study).values_list("pays", flat=True).first()
    return pays == Panel.Pays.PANEL or (pays == Panel.Pays.BONUSES and reason == "base")


payers.register(KIND, PaymentMethod(title=_("a panel"), elsewhere=panel_pays, lists="admin:panels_panel_lists"))
