from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class PayoutsConfig(AppConfig):
    name = "payouts"
    verbose_name = _("payouts")

    def ready(self) -> None:
        from audit import guard
        from payouts import payers, simulated, telling  # noqa: F401  (registers itself)
        from recruiters import otree

        guard.register("payouts_posting", "postings are never changed", "UPDATE", "DELETE")
        owed = "UPDATE OF id, uid, enrolment_id, reason, amount, currency"
        guard.register("payouts_ledgerrow", "amounts owed are never changed", owed, "DELETE")
        payers.register(otree.KIND, payers.PaymentMethod(title=_("oTree"), elsewhere=lambda study, reason: True))
        simulated.register_method()
