"""Collections for researchers: planned in a form, started, watched, gone on with."""

from collecting.admin.collection import CollectionAdmin
from collecting.admin.items import ItemAdmin

__all__ = ["CollectionAdmin", "ItemAdmin"]
