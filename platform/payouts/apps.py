from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class PayoutsConfig(AppConfig):
    name = "payouts"
    verbose_name = _("payouts")

    def ready(self) -> None:
        from audit import guard
        from matches import bonus
        from payouts import elsewhere, simulated, telling  # noqa: F401  (registers itself)
        from plans import pay as rules

        bonus.register(amount=rules.shown_bonus, line=rules.bonus_line, range=rules.bonus_range)
        guard.register("payouts_posting", "postings are never changed", "UPDATE", "DELETE")
        owed = "UPDATE OF id, uid, enrolment_id, reason, amount, currency"
        guard.register("payouts_ledgerrow", "amounts owed are never changed", owed, "DELETE")
        elsewhere.register()
        simulated.register_method()
