from django.db import migrations

BATCH = 500


def fill(apps, schema_editor):
    """Calls that were kept before have in their record what now has columns."""
    Call = apps.get_model("opponents", "Call")
    batch = []

    def write():
        Call.objects.bulk_update(batch, ["endpoint", "model", "latency", "outcome"])
        batch.clear()

    for call in Call.objects.order_by("pk").iterator(chunk_size=BATCH):
        record = call.record
        call.endpoint = (record.get("endpoint") or record.get("provider") or "")[:100]
        call.model = (record.get("model") or "")[:200]
        call.latency = record.get("latency")
        call.outcome = "failed" if record.get("error") else "rule_break" if record.get("problem") else "move"
        batch.append(call)
        if len(batch) >= BATCH:
            write()
    write()


class Migration(migrations.Migration):

    dependencies = [
        ("opponents", "0003_endpoints_and_columns"),
    ]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
