from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ApiConfig(AppConfig):
    name = "api"
    verbose_name = _("API")

    def ready(self) -> None:
        from api.models import Token
        from rights.parts import belongs
        from studies.models import Study

        belongs(Token, to=Study, by="study")
