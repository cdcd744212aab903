"""Attention in public styles, written anew from their descriptions.

A file is a family. A style is a function that builds its module, or gives its function,
with small sizes; the decorator `style` records what is true of it.
"""

import importlib
import pkgutil

from tests.checks.corpus.ground_truth import STYLES, Style

for _found in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_found.name}")

__all__ = ["STYLES", "Style"]
