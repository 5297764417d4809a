from celery import shared_task

from reports import background


@shared_task(name="reports.make")
def make_report(report_id: int) -> None:
    """Write a queued report."""
    background.write_report(report_id)
