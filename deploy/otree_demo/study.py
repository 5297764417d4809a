"""Parley's part of the demonstration: the study that the oTree experiment sends participants to."""

from __future__ import annotations

from recruiters import otree
from recruiters.models import OtreeServer
from studies.launching import launch
from studies.models import Study

SLUG = "otree-demo"


def make_study(address: str, rest_key: str, *, purpose: str = "demo") -> dict[str, str]:
    """Create and launch the study once; allow the oTree server at `address` to send people and get results."""
    study, is_new = Study.objects.get_or_create(
        slug=SLUG,
        defaults={
            "title": "Dividing money, inside an oTree experiment",
            "game": "bargaining",
            "purpose": purpose,
            "roles": ["alice", "bob"],
            "agents": {"fair": {"spec": "script:fair"}},
            "entry": Study.Entry.OTREE,
            "quota": 1000,
            "most_participations": None,
        },
    )
    if is_new:
        launch(study)
    server, _is_new = OtreeServer.objects.update_or_create(study=SLUG, defaults={"addresses": address})
    server.keep_rest_key(rest_key)
    server.save()
    return {"link_keys": f"{SLUG}:{otree.link_key(server)}"}
