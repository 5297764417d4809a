"""Parley's part of the demonstration: the study that the oTree experiment sends participants to."""

from __future__ import annotations

from collections.abc import Mapping

from games.interface import Json
from plans.starting import COMPREHENSION, plan_for
from recruiters import otree
from recruiters.models import OtreeServer
from studies.launching import launch
from studies.models import Study

SLUG = "otree-demo"


def make_study(
    address: str, rest_key: str, *, purpose: str = "demo", stage: Mapping[str, Json] | None = None
) -> dict[str, str]:
    """Create and launch the study once; allow the oTree server at `address` to send people and get results.

    Args:
        stage: the game's stage, if not with questions before play.
    """
    plan = plan_for(
        "bargaining",
        title="Dividing money, inside an oTree experiment",
        config={},
        agents={"fair": {"script": "fair"}},
        stage=stage or {"comprehension": {**COMPREHENSION, "failed": "continue"}},
        purpose=purpose,
        cells={"quota": 1000},
        entry={"via": Study.Entry.OTREE.value, "participations": None},
    )
    study, is_new = Study.objects.get_or_create(slug=SLUG, defaults={"draft": plan})
    if is_new:
        launch(study)
    server, _is_new = OtreeServer.objects.update_or_create(study=SLUG, defaults={"addresses": address})
    server.keep_rest_key(rest_key)
    server.save()
    return {"link_keys": f"{SLUG}:{otree.link_key(server)}"}
