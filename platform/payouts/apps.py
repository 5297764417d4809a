from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class PayoutsConfig(AppConfig):
    name = "payouts"
    verbose_name = _("payouts")

    def ready(self) -> None:
        from audit.guard import register
        from matches import bonus
        from payouts import elsewhere, guard, simulated, telling  # noqa: F401  (registers itself)
        from plans import pay as rules

        bonus.register(amount=rules.shown_bonus, line=rules.bonus_line, range=rules.bonus_range)
        register(install=guard.install, remove=guard.remove)
        elsewhere.register()
        simulated.register_method()
        post_migrate.connect(guard.install_after_migrating, sender=self)
