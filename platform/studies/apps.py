from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class StudiesConfig(AppConfig):
    name = "studies"
    verbose_name = _("studies")

    def ready(self) -> None:
        from audit import guard
        from opponents.uses import register
        from payouts import books
        from studies import endings, names, parts, recomputing, uses  # noqa: F401  (endings and names register themselves)

        parts.declare()
        register(uses.uses_of)
        books.register(recomputing.discrepancies)
        guard.register("studies_version", "a launched version is never changed", "UPDATE")
