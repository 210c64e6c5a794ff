"""Forgetting a site: what was stored of it and what the frontier knows of it is removed, it is
excluded for good, and a receipt says what was done.

- `forget(config, domain)`: all of it (`forgetter`);
- `Receipt`: what was removed, when, from which files (`receipt`).
"""

from mannerly.forgetting.forgetter import forget
from mannerly.forgetting.receipt import Receipt

__all__ = ["Receipt", "forget"]
