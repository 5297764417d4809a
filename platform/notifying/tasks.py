from celery import shared_task

from notifying import finding, sending


@shared_task(name="notifying.watch")
def watch() -> None:
    """Record new alerts of studies, and tell those who want to know."""
    finding.find_everywhere()
    sending.send_due()
