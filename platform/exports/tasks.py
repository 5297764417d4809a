from celery import shared_task

from exports import background


@shared_task(name="exports.write")
def write_dataset(dataset_id: int) -> None:
    """Write a requested dataset."""
    background.write(dataset_id)
