"""Label agents, let line-ups say who takes which seat, and record the participant's seat in placements.

Versions are never changed: `studies.formats` reads those launched earlier.
"""

from django.db import migrations, models


def label_agents(apps, schema_editor):
    Study = apps.get_model("studies", "Study")
    for study in Study.objects.only("agent", "agent_delay", "asking"):
        agent = {"spec": study.agent}
        if study.agent_delay:
            agent["delay"] = study.agent_delay
        if study.asking:
            agent["settings"] = study.asking
        Study.objects.filter(pk=study.pk).update(agents={study.agent: agent})


def name_seats(apps, schema_editor):
    Cell = apps.get_model("studies", "Cell")
    Placement = apps.get_model("studies", "Placement")
    for cell in Cell.objects.order_by("pk").iterator(chunk_size=500):
        seats = {cell.role: "person", **{role: player["agent"] for role, player in cell.agents.items()}}
        Cell.objects.filter(pk=cell.pk).update(seats=seats)
    own = Cell.objects.filter(pk=models.OuterRef("cell")).values("role")
    Placement.objects.filter(role="").update(role=models.Subquery(own))


class Migration(migrations.Migration):
    dependencies = [("studies", "0010_endings")]

    operations = [
        migrations.AddField(
            model_name="study",
            name="agents",
            field=models.JSONField(
                blank=True,
                default=dict,
                help_text="Models and scripted players by label, and how they are asked: see opponents.agents.",
                verbose_name="agents",
            ),
        ),
        migrations.AddField(
            model_name="study",
            name="lineups",
            field=models.JSONField(
                blank=True,
                default=list,
                help_text=(
                    "Who takes which seat: see studies.lineups. Empty: a person in each role against each agent."
                ),
                verbose_name="line-ups",
            ),
        ),
        migrations.RunPython(label_agents, migrations.RunPython.noop),
        migrations.AddField("cell", "seats", models.JSONField(default=dict, verbose_name="seats")),
        migrations.AddField("cell", "lineup", models.CharField(blank=True, default="", max_length=200)),
        migrations.AddField("cell", "group_size", models.PositiveSmallIntegerField(default=1)),
        migrations.AddField(
            "placement", "role", models.CharField(blank=True, default="", max_length=40, verbose_name="role")
        ),
        migrations.RunPython(name_seats, migrations.RunPython.noop),
    ]
