from celery import shared_task

from judging import sittings


@shared_task(name="judging.judge")
def judge_collection(sitting_id: int) -> None:
    """Judge a collection's justifications."""
    sittings.run(sitting_id)
