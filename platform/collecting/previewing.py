"""The prompts of a collection."""

from __future__ import annotations

from collecting.models import Collection
from collecting.planning import configured
from games import registry
from games.play import configure
from studies.previewing import PreviewSource, Situation, with_fallbacks


def preview_source(collection: Collection) -> PreviewSource:
    """Return every agent of a collection, saved or not, with its fallbacks, in every role of every configuration."""
    known, game = configured(collection), registry.get(collection.game)

    def situation(number: int) -> Situation:
        config = known.configurations[number - 1]
        template, edited = known.template_of(number - 1)
        seated = known.plans[number - 1].lineups.labels()
        agents = known.agents_in(number - 1)
        return Situation(
            game=collection.game,
            config=config,
            agents=with_fallbacks({label: agents[label] for label in seated}),
            roles=configure(game, config).roles(),
            instructions=template if edited else "",
        )

    return PreviewSource(len(known.configurations), situation)
