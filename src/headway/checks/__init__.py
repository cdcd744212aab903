"""Checks for any attention code.

`attention` checks a module or a function by the equation, and `model` a whole language
model by what must hold of its logits. Both stand on `core` and do not know each other.
`command` is what `headway check` needs besides.
"""

from typing import TYPE_CHECKING

__all__ = ["check", "check_model", "parametrize_checks", "Report", "Row", "Fact"]

# `headway check` reads its command line here, and checks in another process: PyTorch is
# imported there alone.
if TYPE_CHECKING:
    from headway.checks.attention.run import check
    from headway.checks.core.report import Fact, Report, Row
    from headway.checks.model import check_model
    from headway.checks.parametrize import parametrize_checks
else:
    _MODULES = {
        "check": "attention.run",
        "check_model": "model",
        "parametrize_checks": "parametrize",
        "Report": "core.report",
        "Row": "core.report",
        "Fact": "core.report",
    }

    def __getattr__(name: str) -> object:
        """Import a public name when it is first asked for."""
        from importlib import import_module

        if name not in _MODULES:
            raise AttributeError(f"module 'headway.checks' has no attribute {name!r}")
        module = import_module(f"headway.checks.{_MODULES[name]}")
        globals()[name] = found = getattr(module, name)
        return found

    def __dir__() -> list[str]:
        """List what is there, and the public names."""
        return sorted({*globals(), *__all__})
