from celery import shared_task

from judging import runs


@shared_task(name="judging.judge")
def judge_collection(run_id: int) -> None:
    """Judge a collection's justifications."""
    runs.run(run_id)
