"""Watch which tensors the functions of a program bind, in the first call of each.

What a function binds is gone when it returns, so it is read while it runs, line by
line: only in functions whose text stands in the program, and only of which shape a name
is. A name that is bound again has a row for each shape that it takes on.
"""

import contextlib
import sys
from collections.abc import Iterator
from inspect import CO_OPTIMIZED
from types import CodeType, FrameType, TracebackType
from typing import Any, Self

from pytest_proofread.runner import Row
from workshop.run.tensor_shapes import MOST, rows

LINES = 1000  # of a call that are looked at; one with a long loop takes no longer


def functions(code: CodeType) -> Iterator[CodeType]:
    """Yield the functions with a name whose text is a part of some code."""
    for part in code.co_consts:
        if isinstance(part, CodeType):
            if part.co_flags & CO_OPTIMIZED and not part.co_name.startswith("<"):
                yield part
            yield from functions(part)


class _Call:
    """What the first call of a function binds."""

    def __init__(self, code: CodeType) -> None:
        self.title = f"inside {code.co_qualname.replace('<locals>.', '')}"
        # Not what it finds in the function around it.
        names = (*code.co_varnames, *code.co_cellvars)
        self.names = [name for name in names if not name.startswith("_")]
        self.found: list[tuple[str, list[Row]]] = []
        self.lines = 0

    def look(self, frame: FrameType) -> None:
        """Note the shapes that are there now."""
        if (torch := sys.modules.get("torch")) is None:
            return
        bound = frame.f_locals
        for name in self.names:
            value = bound.get(name)
            # What a module has learned belongs to the module, not to its function.
            if value is not None and not isinstance(value, torch.nn.Module):
                is_one = isinstance(value, torch.Tensor)
                self.note(name, rows(name, value, torch), is_one)

    def note(self, name: str, now: list[Row], is_one: bool) -> None:
        """Add the rows of a name if they are new; a collection has those of its end."""
        before = [at for at, (known, _) in enumerate(self.found) if known == name]
        if not now or (before and self.found[before[-1]][1] == now):
            return
        if not before or (is_one and len(before) < MOST):
            self.found.append((name, now))
        elif not is_one:
            self.found[before[-1]] = (name, now)

    def rows(self) -> list[Row]:
        """Return its rows under its title, if there are any."""
        found: list[Row] = [row for _, now in self.found for row in now]
        return [(self.title, ""), *found] if found else []


class Watch:
    """Watches the functions of a program as long as it runs.

    Args:
        code: The program.
    """

    def __init__(self, code: CodeType) -> None:
        self.waiting = {*functions(code)}
        self.calls: list[_Call] = []
        self.running = 0
        self.before: Any = None

    def __enter__(self) -> Self:
        self.before = sys.gettrace()
        if self.waiting:
            sys.settrace(self.called)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        place: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Watch no more; what a program has put in the place of this stays."""
        if sys.gettrace() == self.called:
            sys.settrace(self.before)

    def called(self, frame: FrameType, event: str, argument: object) -> Any:
        """Follow the first call of a function of the program, and no other."""
        code = frame.f_code
        if code not in self.waiting:
            return None
        self.waiting.remove(code)
        self.running += 1
        call = _Call(code)
        self.calls.append(call)

        def step(frame: FrameType, event: str, argument: object) -> Any:
            # Whatever a program has bound, to look at it must not end the program.
            with contextlib.suppress(Exception):
                call.look(frame)
            call.lines += 1
            if call.lines > LINES:
                frame.f_trace_lines = False
            if event == "return":
                self.running -= 1
                # Else each call of anything would go on taking longer.
                if not self.waiting and not self.running:
                    self.stop()
            return step

        return step

    def rows(self) -> list[Row]:
        """Return a row for each function that was called, followed by those in it."""
        return [row for call in self.calls for row in call.rows()]
