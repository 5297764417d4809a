from django.utils.translation import gettext_lazy as _

from panels.presets import Preset

PRESET = Preset(
    key="any_site",
    title=_("Any site"),
    about=_("A panel of your own, another provider, a mailing list: you say what its links carry and where people go."),
    person="id",
    link="?id=…",
    steps=(
        _("Name the fields of the link as your panel sends them."),
        _("Say how an arrival is checked. A signed link is the safest."),
        _("Say where each ending leads: an address at the panel's own site, or a code."),
    ),
)
