from django.db import migrations

BATCH = 500


def fill(apps, schema_editor):
    """Calls that were kept before have their answers in their records alone."""
    Call = apps.get_model("opponents", "Call")
    batch = []
    for call in Call.objects.order_by("pk").iterator(chunk_size=BATCH):
        call.answer = call.record.get("answer")
        batch.append(call)
        if len(batch) >= BATCH:
            Call.objects.bulk_update(batch, ["answer"])
            batch.clear()
    Call.objects.bulk_update(batch, ["answer"])


class Migration(migrations.Migration):

    dependencies = [
        ("opponents", "0007_purposes_and_tools"),
    ]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
