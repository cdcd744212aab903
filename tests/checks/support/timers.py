"""In the place of `threading.Timer`: time is up when a test says so."""

from collections.abc import Callable


class ByHand:
    """A timer whose time is up when `time_is_up` is called."""

    def __init__(self, seconds: float, act: Callable[[], None]) -> None:
        self.time_is_up = act

    def start(self) -> None: ...

    def cancel(self) -> None: ...

    def join(self) -> None: ...


class AtOnce(ByHand):
    """A timer whose time is up when it starts."""

    def start(self) -> None:
        self.time_is_up()
