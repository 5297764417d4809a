"""The items for sale unless a researcher names others: the ten of AucArena, section 4, in our own words."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from games.interface import PlainData, Words
from games.words import gettext_noop

Name = Annotated[Words, Field(min_length=1, max_length=60)]


class Item(PlainData):
    """One item: what everybody knows of it, and what it is really worth."""

    name: Name = Field(title="Name")
    description: Annotated[Words, Field(max_length=300)] = Field(default="", title="Description")
    start_price: int = Field(ge=1, title="Start price", description="In whole dollars.")
    true_value: Annotated[int, Field(ge=0)] | None = Field(
        default=None, title="True value", description="In whole dollars. Empty: twice the start price."
    )

    @property
    def worth(self) -> int:
        """What the item is really worth."""
        return 2 * self.start_price if self.true_value is None else self.true_value


PUBLISHED = (
    Item(name="Widget A", description=gettext_noop("A small part that fits many machines."), start_price=1000),
    Item(name="Gadget B", description=gettext_noop("A handy device with several uses."), start_price=3000),
    Item(name="Thingamajig C", description=gettext_noop("A rare piece that collectors look for."), start_price=4000),
    Item(name="Doodad D", description=gettext_noop("A decorative piece in good condition."), start_price=2000),
    Item(name="Equipment E", description=gettext_noop("A complete set for a professional workshop."), start_price=5000),
    Item(name="Gizmo F", description=gettext_noop("An electronic device of the latest generation."), start_price=3000),
    Item(name="Implement G", description=gettext_noop("A sturdy tool for everyday work."), start_price=2000),
    Item(name="Apparatus H", description=gettext_noop("A measuring instrument for a laboratory."), start_price=4000),
    Item(name="Contraption I", description=gettext_noop("A curious machine that still runs."), start_price=1000),
    Item(name="Mechanism J", description=gettext_noop("A precision drive for heavy loads."), start_price=5000),
)
