"""Checks for any attention code.

What a reader hands over goes one way: it becomes a `subject`, which is called to gather
`evidence`; of this each of the `properties` is asked, and a `report` says what came
out. The `oracle` is the equation that the evidence is compared with.
"""

from typing import TYPE_CHECKING

__all__ = ["check", "check_model", "parametrize_checks", "Report", "Row", "Fact"]

# `headway check` reads its command line here, and checks in another process: PyTorch is
# imported there alone.
if TYPE_CHECKING:
    from headway.checks.model import check_model
    from headway.checks.parametrize import parametrize_checks
    from headway.checks.report import Fact, Report, Row
    from headway.checks.run import check
else:
    _MODULES = {
        "check": "run",
        "check_model": "model",
        "parametrize_checks": "parametrize",
        "Report": "report",
        "Row": "report",
        "Fact": "report",
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
