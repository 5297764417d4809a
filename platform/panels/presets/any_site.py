from django.utils.translation import gettext_lazy as _

from panels.presets import Preset

PRESET = Preset(
    key="any_site",
    title=_("Any site"),
    about=_(
        "Your own panel, another provider or a mailing list. You enter the fields of its links and where participants "
        "return to."
    ),
    person="id",
    link="?id=…",
    steps=(
        _("Enter the names of the link's fields as your panel sends them."),
        _("Choose how arrivals are checked. A signed link is the safest."),
        _("Enter where each ending leads: an address on the panel's own site, or a code."),
    ),
)
