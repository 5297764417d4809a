from django.db import migrations, models
from django.db.models import OuterRef, Subquery


def mark_rejected(apps, schema_editor):
    """Mark the rows that were written off because of a rejection, which only their journal told until now."""
    posting = apps.get_model("payouts", "Posting")
    latest = posting.objects.filter(row=OuterRef("pk")).order_by("-number").values("why")[:1]
    rows = apps.get_model("payouts", "LedgerRow").objects.filter(state="written_off").annotate(why=Subquery(latest))
    keys = [row.pk for row in rows.only("pk") if (row.why or "").startswith(("Rejected on ", "Rejected at "))]
    rows.model.objects.filter(pk__in=keys).update(rejected=True)


class Migration(migrations.Migration):
    dependencies = [
        ("payouts", "0004_wording"),
    ]

    operations = [
        migrations.AddField(
            model_name="ledgerrow",
            name="rejected",
            field=models.BooleanField(default=False, editable=False, verbose_name="rejected"),
        ),
        migrations.RunPython(mark_rejected, migrations.RunPython.noop, elidable=True),
    ]
