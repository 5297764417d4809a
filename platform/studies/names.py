"""What hangs on a study's short name: links that were given out, and the codes, servers and limits that name it."""

from __future__ import annotations

from django.db.models.signals import post_delete
from django.dispatch import receiver

from payouts.models import Limit
from recruiters.models import LabCode, OtreeServer
from studies.models import Study

NAMED = (LabCode, OtreeServer, Limit)
"""Rows that know their study by its short name."""


def together_with(slug: str) -> str:
    """The short name of the demonstration in which two people play the game of this one."""
    return f"{slug}-together"


def is_given_out(study: Study) -> bool:
    """Whether links, codes, servers or limits of pay exist that name the study: renaming it would cut them off."""
    return study.versions.exists() or any(model.objects.filter(study=study.slug).exists() for model in NAMED)


@receiver(post_delete, sender=Study)
def forget_name(sender: type[Study], instance: Study, **_signal: object) -> None:
    """Delete what named a deleted study, so that it opens no later study of the same name."""
    for model in NAMED:
        model.objects.filter(study=instance.slug).delete()
