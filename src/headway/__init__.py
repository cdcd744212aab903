"""Attention, from a dot product to a model that writes, one module a stage."""

from typing import TYPE_CHECKING

__version__ = "0.1.0"

# A command such as `headway --help` needs no PyTorch, whose import takes seconds: the
# names are imported when the first of them is asked for.
if TYPE_CHECKING:
    from headway._names import *
    from headway._names import __all__ as __all__
else:

    def __getattr__(name: str) -> object:
        """Import all public names when one of them is first asked for.

        The tools, `checks` and `practice`, are imported when they are asked for.

        Args:
            name: What is asked for.

        Returns:
            What has that name.

        Raises:
            AttributeError: If the package has no such name.
        """
        from importlib import import_module

        if name in ("checks", "practice"):
            return import_module(f"headway.{name}")
        if name.startswith("_") and name != "__all__":  # a module of this folder
            raise AttributeError(f"module 'headway' has no attribute {name!r}")
        names = import_module("headway._names")
        public = {one: getattr(names, one) for one in names.__all__}
        globals().update(public, __all__=names.__all__)
        if name not in globals():
            raise AttributeError(f"module 'headway' has no attribute {name!r}")
        return globals()[name]

    def __dir__() -> list[str]:
        """List the public names, and the tools.

        Returns:
            All names, sorted.
        """
        return sorted({*globals(), *__getattr__("__all__"), "checks", "practice"})
