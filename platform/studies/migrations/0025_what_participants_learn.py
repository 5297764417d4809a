from django.db import migrations, models


def carry_over(apps, schema_editor):
    apps.get_model("studies", "Study").objects.filter(tells_opponent=False).update(discloses="none")


class Migration(migrations.Migration):

    dependencies = [
        ('studies', '0024_people_check'),
    ]

    operations = [
        migrations.AddField(
            model_name='study',
            name='discloses',
            field=models.CharField(choices=[('none', "Nothing (blind): they don't learn whether the others are people or programs"), ('counts', 'Numbers: how many of the others are people and how many are programs'), ('seats', 'Seats: also which of the others are people and which are programs')], default='counts', help_text="Before they consent, in the default text or beside your own, and on the game's page. If you choose nothing, people, models and scripts look alike and every agent answers after the time that a person would take; the last page tells participants afterwards. The dataset records what each participant was told.", max_length=10, verbose_name='what participants learn about the other players'),
        ),
        migrations.RunPython(carry_over, migrations.RunPython.noop),
        migrations.RemoveField(
            model_name='study',
            name='tells_opponent',
        ),
    ]
