"""Watch whether an answer goes a way that its task forbids."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch.overrides import TorchFunctionMode

from headway.practice.task.definition import Forbidden


class _Watch(TorchFunctionMode):
    """Looks at each function of PyTorch that is called.

    It sees what is called by a method, an operator or a module alike, but nothing that
    a function of PyTorch calls inside.
    """

    def __init__(self, ways: Sequence[Forbidden], given: Sequence[Any]) -> None:
        super().__init__()
        self.ways = ways
        self.given = given
        self.found: Forbidden | None = None

    def __torch_function__(
        self,
        func: Any,
        types: Any,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Call the function, and note the first way that is forbidden."""
        result = func(*args, **(kwargs or {}))
        name = getattr(func, "__name__", "").strip("_")
        for way in self.ways:
            if way.names and name not in way.names:
                continue
            all_args = (*args, *(kwargs or {}).values())
            if way.when is None or way.when(all_args, result, self.given):
                self.found = self.found or way
        return result


def forbidden_way(
    ways: Sequence[Forbidden], run: Callable[[], Any], given: Sequence[Any]
) -> Forbidden | None:
    """Run something, and give the first forbidden way that it goes, if any.

    Args:
        ways: What is forbidden.
        run: What to run.
        given: The hidden numbers that it works on.
    """
    with _Watch(ways, given) as watch:
        run()
    return watch.found
