from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class StudiesConfig(AppConfig):
    name = "studies"
    verbose_name = _("studies")

    def ready(self) -> None:
        from opponents.uses import register
        from payouts import books
        from studies import endings, names, parts, recomputing, uses  # noqa: F401  (endings and names register themselves)
        from studies.frozen import create_trigger

        parts.declare()
        register(uses.uses_of)
        books.register(recomputing.discrepancies)
        post_migrate.connect(create_trigger, sender=self, dispatch_uid="studies.frozen")
