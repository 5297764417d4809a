"""Collections in the admin: plan, start, monitor and resume them."""

from collecting.admin.collection import CollectionAdmin
from collecting.admin.items import ItemAdmin

__all__ = ["CollectionAdmin", "ItemAdmin"]
