"""What goes between a judge and an answer in another process: plain data alone.

Both sides have the same `Peer`. It calls functions of the other side, hands over values
as JSON and the bytes of tensors, and brings back what the other side has changed in its
arguments. Nothing is pickled. This file is imported where exercises are not.
"""

import builtins
import importlib
import itertools
import json
import socket
import struct
import sys
import time
import types
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

LARGEST = 2**26  # bytes of one message
_NUMBERS = 2**20  # the most numbers of a tensor that is taken
_LONGEST = 2000  # characters of the message of an error
_HEAD = struct.Struct(">II")
_DTYPES = {
    str(one).removeprefix("torch."): one
    for one in vars(torch).values()
    if isinstance(one, torch.dtype)
}
_ERRORS: dict[str, type[Exception]] = {
    name: one
    for name, one in vars(builtins).items()
    if isinstance(one, type) and issubclass(one, Exception)
} | {"LinAlgError": torch.linalg.LinAlgError}  # type: ignore[attr-defined]
_CONTAINERS = ("ModuleList", "ModuleDict", "Sequential", "ParameterList", "Linear")
_OF_MODULES = {*vars(nn.Module()), "_peer", "_number"}
_LEARNS, _LEAF, _PARAMETER = 1, 2, 4  # flags of a tensor
_KINDS = {
    *("again", "dict", "dtype", "function", "import", "list", "module", "noted"),
    *("opaque", "optimizer", "range", "returned", "set", "size", "slice", "taken"),
    *("tensor", "tuple"),
}


class GoneError(BaseException):
    """The other side gives no more answers; a sentence says why.

    No `Exception`, so that no judge takes it for an error of an answer.
    """


class NotPlainError(TypeError):
    """A value cannot be handed over as plain data."""


class Opaque:
    """Stands for a value that is not handed over: its type has the same name."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        """Give what the other side has written."""
        return self._text


class Remote:
    """A function or a class of the other side."""

    def __init__(self, peer: "Peer", number: int, name: str) -> None:
        self._peer = peer
        self._number = number
        self.__name__ = name
        self.__doc__ = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Have it called there, with the axes that `torch.vmap` hides, too."""
        parts = torch._C._functorch
        plain, levels, axes = [*args], [], []
        while level := max(map(_level, plain), default=0):
            hidden = [_level(one) == level for one in plain]
            pairs = [*zip(plain, hidden, strict=True)]
            axes.append(
                [parts.maybe_get_bdim(one) if is_ else None for one, is_ in pairs]
            )
            plain = [parts.get_unwrapped(one) if is_ else one for one, is_ in pairs]
            levels.append(level)
        value = self._peer.call(self._number, plain, kwargs, axes)
        for level in reversed(levels):
            value = parts._add_batch_dim(value, 0, level)
        return value


class Mirror(nn.Module):
    """A module of the other side: its numbers are here, and its program is there."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Have it called there, with the numbers that it has here."""
        peer: Peer = self.__dict__["_peer"]
        return peer.call(self, args, kwargs)


class Noted(list[Any]):
    """A list that notes which places are taken, so that it can be told."""

    def __init__(self, items: Sequence[Any]) -> None:
        super().__init__(items)
        self.taken: list[Any] = []

    def __getitem__(self, place: Any) -> Any:
        self.taken.append(place)
        return super().__getitem__(place)

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self)))


class Function(torch.autograd.Function):
    """Sends gradients through what the other side has computed."""

    @staticmethod
    def forward(ctx: Any, peer: "Peer", call: int, count: int, *tensors: Tensor) -> Any:
        """Take the results as they came; what follows them led to them."""
        ctx.peer, ctx.call, ctx.inputs = peer, call, len(tensors) - count
        return tuple(one.clone() for one in tensors[:count])

    @staticmethod
    def backward(ctx: Any, *slopes: Any) -> Any:
        """Ask the other side for the gradients."""
        given = ctx.peer.gradients(ctx.call, slopes)
        if not isinstance(given, list) or len(given) != ctx.inputs:
            raise GoneError("What it gave as gradients cannot be read.")
        return (None, None, None, *(None for _ in slopes), *given)


class Watch(torch.overrides.TorchFunctionMode):
    """Notes which functions of PyTorch are called, on what, and what they give."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Any] = []

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Call a function, and note it."""
        result = func(*args, **(kwargs or {}))
        name = torch.overrides.resolve_name(func) or getattr(func, "__name__", "")
        if isinstance(result, Tensor) and len(self.seen) < 10_000:
            given = [*args, *(kwargs or {}).values()]
            self.seen.append([name, _sketch(result), _sketch(given)])
        return result


class Replayed:
    """A function of PyTorch that was called on the other side."""

    def __init__(self, name: str, result: Any) -> None:
        self.function = _functions().get(name)
        self.__name__ = name.rpartition(".")[2]
        self.result = result

    def __call__(self, *_: Any, **__: Any) -> Any:
        """Give something of the shape that it gave there."""
        return self.result

    def __eq__(self, other: object) -> bool:
        """Whether it is this function."""
        return other is self.function

    def __hash__(self) -> int:
        """Give the hash of the function."""
        return hash(self.function)


class Peer:
    """One of two processes that call each other.

    Args:
        connection: A connected socket.
        first: 0 on one side, and 1 on the other: what its numbers begin with.
        trusted: Whether the other side may name classes to import, and change whatever
            it was once given. Otherwise it changes only arguments of calls under way.
        source: The name of the file whose lines are told of an error.
        sources: Gives the source of a class that the other side cannot import.
        limit: For how many seconds it waits for the other side, all in all.
    """

    def __init__(
        self,
        connection: socket.socket,
        *,
        first: int,
        trusted: bool,
        source: str,
        sources: Callable[[type], str | None] = lambda _: None,
        limit: float | None = None,
    ) -> None:
        self.connection = connection
        self.trusted = trusted
        self.source = source
        self.sources = sources
        self.limit = self.left = limit
        self.objects: dict[int, Any] = {}
        self.storages: dict[int, torch.UntypedStorage] = {}
        self.scopes: list[dict[int, Any]] = []
        self._numbers: dict[int, int] = {}
        self._places: dict[int, int] = {}
        self._calls: dict[int, tuple[list[Tensor], list[Tensor]]] = {}
        self._classes: dict[str, type] = {}
        self._state: Tensor | None = None
        self._first = first
        self._count = itertools.count(first, 2)

    def __deepcopy__(self, _: Any) -> "Peer":
        return self

    # Calls

    def call(
        self,
        what: Any,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        axes: Sequence[Sequence[int | None]] = (),
    ) -> Any:
        """Call a function, by its number, or a module of the other side.

        Args:
            what: The number, or the module.
            args: The arguments.
            kwargs: Those with names.
            axes: Over which axis of each argument `torch.vmap` goes, its innermost
                call first.
        """
        modes = torch.overrides._get_current_function_mode_stack()
        with torch._C.DisableTorchFunction():
            request = {"op": "call", "watch": bool(modes), "axes": axes}
            if not self.trusted:
                request |= self._as_here()
            reply, packed = self._ask(request, [what, [*args], {**kwargs}])
            if not self.trusted:
                # So that the same seed, set again, is seen.
                torch.default_generator.manual_seed(next(self._count))
                self._state = torch.get_rng_state()
        for name, result, args in reply.get("seen", ()) if modes else ():
            function = Replayed(str(name), _of_sketch(result))
            modes[-1].__torch_function__(function, (), _of_sketch(args), {})
        if "error" in reply:
            raise self._error(reply["error"])
        return packed

    def _as_here(self) -> dict[str, Any]:
        """Give what a call there must find as it is here: modes, random numbers."""
        learns, strict = torch.is_grad_enabled(), torch.get_deterministic_debug_mode()
        found: dict[str, Any] = {"modes": [learns, strict]}
        state = torch.get_rng_state()
        if self._state is None or not torch.equal(state, self._state):
            found["random"] = state.tolist()
        return found

    def gradients(self, call: int, slopes: Sequence[Any]) -> Any:
        """Ask for the gradients of what a call had as arguments."""
        with torch._C.DisableTorchFunction():
            request = {"op": "gradients", "call": call}
            reply, value = self._ask(request, [None, [*slopes], {}])
        if "error" in reply:
            raise self._error(reply["error"])
        return value

    def _ask(self, request: dict[str, Any], given: Any) -> tuple[dict[str, Any], Any]:
        out = Packing(self)
        request["given"] = out.pack(given)
        self.scopes.append(out.objects)
        try:
            self.send(request, out)
            while True:
                message, blobs = self.receive()
                if "op" not in message:
                    break
                self.answer(message, blobs)
            if "ended" in message:
                raise GoneError(str(message["ended"])[:_LONGEST])
            try:
                return message, self._result(message, blobs, out)
            except GoneError:
                raise
            except Exception as error:  # whatever is wrong in what it wrote
                raise GoneError("What it gave cannot be read.") from error
        finally:
            self.scopes.pop()

    def _result(self, message: Any, blobs: Any, sent: "Packing") -> Any:
        into = Unpacking(self, message, blobs)
        nodes = message.get("outs", [])
        outs = [into.plain(node) for node in nodes]
        if outs and sent.learning:
            outs = Function.apply(
                self, int(message["number"]), len(outs), *outs, *sent.learning
            )
        for node, one in zip(nodes, outs, strict=True):
            self.keep(int(node[1]), one)
        value = into.unpack(message.get("value"))  # in the order that it was packed in
        into.unpack(message.get("changed"))
        return value

    def answer(self, request: Any, blobs: Any) -> None:
        """Do what the other side asks for, and send it what came out."""
        into, out = Unpacking(self, request, blobs), Packing(self)
        given: Any = None
        try:
            given = into.unpack(request["given"])
            reply = self._reply(request, given, into.learning, out)
        except (SystemExit, KeyboardInterrupt) as ended:
            status = getattr(ended, "code", 1)
            reply, out = (
                {"ended": f"It ended Python with status {status}."},
                Packing(self),
            )
        except Exception as raised:  # whatever an answer may raise or give
            reply, out = {"error": self._told(raised)}, Packing(self)
            if given is not None:
                reply["changed"] = out.pack(given)
        if self.scopes:  # what a function gives may come back to its side
            self.scopes[-1].update(out.objects)
        self.send(reply, out)

    def _reply(
        self, request: Any, given: Any, learning: list[Tensor], out: "Packing"
    ) -> dict[str, Any]:
        """Do what is asked for, and give what came out as plain data."""
        what, args, kwargs = given
        if request["op"] == "gradients":
            slopes = _gradients(*self._calls[request["call"]], args)
            return {"value": out.pack(slopes)}
        function = self._callable(what)
        for over in request["axes"]:
            function = torch.vmap(function, tuple(over))
        reply, value = self._do(request, function, args, kwargs)
        reply["value"] = out.pack(value)
        reply["changed"] = out.pack(given)
        reply["outs"] = [node for node, _ in out.results]
        reply["number"] = number = next(self._count)
        if out.results:
            self._calls[number] = [one for _, one in out.results], learning
        return reply

    def _callable(self, what: Any) -> Callable[..., Any]:
        if isinstance(what, int):
            what = self.scoped(what)
        if not callable(what):
            raise GoneError("It called what is no function.")
        return what

    def _do(
        self, request: Any, what: Callable[..., Any], args: Any, kwargs: Any
    ) -> tuple[dict[str, Any], Any]:
        """Call a function as the other side would."""
        if not self.trusted:
            with torch.enable_grad():
                return {}, what(*args, **kwargs)
        if "random" in request:
            torch.set_rng_state(torch.tensor(request["random"], dtype=torch.uint8))
        learns, strict = request["modes"]
        torch.set_deterministic_debug_mode(strict)
        with torch.set_grad_enabled(learns):
            if not request["watch"]:
                return {}, what(*args, **kwargs)
            with (watch := Watch()):
                value = what(*args, **kwargs)
        return {"seen": watch.seen}, value

    # Errors

    def _told(self, error: Exception) -> dict[str, Any]:
        """Tell an error: its types, its message, and the lines of the answer's file."""
        lines: list[Any] = []
        trace = error.__traceback__
        while trace is not None and len(lines) < 50:
            code = trace.tb_frame.f_code
            if code.co_filename == self.source:
                lines.append([trace.tb_lineno, code.co_name])
            trace = trace.tb_next
        told: dict[str, Any] = {
            "types": [one.__name__ for one in type(error).__mro__],
            "message": str(error)[:_LONGEST],
            "lines": lines,
        }
        if isinstance(error, SyntaxError):
            told["place"] = [error.lineno, error.text]
            told["message"] = str(error.msg)
        return told

    def _error(self, told: Any) -> Exception:
        """Give the error that the other side tells."""
        try:
            return self._made(told)
        except Exception as error:  # whatever is wrong in what it wrote
            raise GoneError("What it gave cannot be read.") from error

    def _made(self, told: Any) -> Exception:
        """Make an error of its types, its message, and its lines."""
        names = [str(one) for one in told["types"]]
        base = next((_ERRORS[one] for one in names if one in _ERRORS), Exception)
        if names and names[0] not in _ERRORS and names[0].isidentifier():
            if names[0] not in self._classes:
                self._classes[names[0]] = type(names[0], (base,), {})
            base = self._classes[names[0]]
        message = str(told["message"])[:_LONGEST]
        try:
            error = base(message) if message else base()
        except TypeError:  # such as UnicodeDecodeError, which wants more
            error = ValueError(message)
        if isinstance(error, KeyError) and message[:1] in ("'", '"'):
            error = base(message[1:-1])  # which is told in quotes
        if isinstance(error, SyntaxError) and "place" in told:
            line, text = told["place"]
            error.lineno, error.text = int(line or 0), str(text or "")
        trace = None
        for line, name in reversed(told["lines"][:50]):
            trace = _trace(self.source, int(line), str(name), trace)
        return error.with_traceback(trace)

    # Messages

    def send(self, message: dict[str, Any], out: "Packing") -> None:
        """Send a message, and the storages of its tensors."""
        blobs = [_bytes(self.storages[number]) for number in out.storages]
        pairs = zip(out.storages, blobs, strict=True)
        message["storages"] = [[number, len(blob)] for number, blob in pairs]
        text = json.dumps(message).encode()
        data = b"".join(blobs)
        try:
            head = _HEAD.pack(len(text), len(data))
            self.connection.settimeout(self.left)
            self.connection.sendall(head + text + data)
        except (OSError, struct.error) as error:
            raise GoneError(self._why(error)) from error

    def receive(self) -> tuple[dict[str, Any], dict[int, bytes]]:
        """Wait for a message.

        Returns:
            The message, and the bytes of its storages by their numbers.
        """
        try:
            length, more = _HEAD.unpack(self._read(_HEAD.size))
            if length + more > LARGEST:
                raise GoneError(
                    f"It gave {length + more} bytes, and may give {LARGEST}."
                )
            message = json.loads(self._read(length))
            data, blobs, begin = self._read(more), {}, 0
            for number, size in message["storages"]:
                if not 0 <= size <= len(data) - begin:
                    raise ValueError("a storage must lie in its message")
                blobs[int(number)] = data[begin : begin + size]
                begin += size
        except OSError as error:
            raise GoneError(self._why(error)) from error
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise GoneError("What it gave cannot be read.") from error
        return message, blobs

    def _read(self, size: int) -> bytes:
        parts = []
        while size:
            begun = time.monotonic()
            self.connection.settimeout(self.left)
            part = self.connection.recv(min(size, 2**20))
            if self.left is not None:
                self.left = max(self.left - (time.monotonic() - begun), 1e-3)
            if not part:
                raise ConnectionError("it ended")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _why(self, error: Exception) -> str:
        if isinstance(error, TimeoutError):
            return f"It must end within {self.limit:g} seconds: a loop may never end."
        return "It ended Python."

    # Objects

    def number(self, one: Any) -> int:
        """Give the number of an object, which it gets when it is first handed over."""
        own = getattr(one, "__dict__", {}).get("_number")
        if own is not None and isinstance(one, (Mirror, Remote)):
            return int(own)
        if id(one) not in self._numbers:
            self.keep(next(self._count), one)
        return self._numbers[id(one)]

    def keep(self, number: int, one: Any) -> None:
        """Keep an object under a number."""
        self.objects[number] = one
        self._numbers[id(one)] = number

    def scoped(self, number: int) -> Any:
        """Give an object that the other side may change or call now."""
        for scope in reversed(self.scopes):
            if number in scope:
                return scope[number]
        if number in self.objects and (self.trusted or number % 2 != self._first):
            return self.objects[number]
        raise GoneError("It asked for what it was not given.")

    def storage(self, tensor: Tensor) -> int:
        """Give the number of the memory of a tensor."""
        found = tensor.untyped_storage()
        place = found.data_ptr()
        if place not in self._places or not place:
            number = next(self._count)
            self.storages[number] = found
            self._places[place] = number
        return self._places[place]

    def take_storage(self, number: int, blob: bytes) -> None:
        """Write the bytes of a storage, which is made if there is none."""
        new = torch.empty(0, dtype=torch.uint8)
        if blob:  # of none there is no buffer
            new = torch.frombuffer(bytearray(blob), dtype=torch.uint8)
        if number not in self.storages:
            if number % 2 == self._first:
                raise GoneError("It wrote where it was given nothing.")
            self.storages[number] = made = new.untyped_storage()
            self._places[made.data_ptr()] = number
            return
        own = number % 2 == self._first
        if own and not self.trusted:
            asked = [scope for scope in self.scopes if -1 - number in scope]
            if not asked:
                raise GoneError("It wrote where it was given nothing.")
        known = self.storages[number]
        if known.nbytes() != len(blob):
            raise GoneError("It gave memory of another size.")
        old = torch.empty(0, dtype=torch.uint8).set_(known)
        if not torch.equal(old, new):
            old.copy_(new)

    def class_of(self, how: Sequence[Any]) -> type:
        """Give the class of a module, which the other side names or writes out."""
        if not self.trusted:
            kind, name = str(how[0]), str(how[1])
            if kind == "torch.nn" and name in _CONTAINERS:
                return getattr(nn, name)
            if name not in self._classes:
                title = name if name.isidentifier() else "Module"
                self._classes[name] = type(title, (Mirror,), {})
            return self._classes[name]
        if how[0] == "import":
            return _imported(*how[1:])
        _, name, source = how
        if name not in self._classes:
            space = {"torch": torch, "nn": nn, "Tensor": Tensor, "__name__": "given"}
            exec(compile(source, "<given>", "exec"), space)  # noqa: S102
            self._classes[name] = space[name]  # type: ignore[assignment]
        return self._classes[name]


class Packing:
    """Makes plain data of values: what JSON has, and the numbers of storages.

    Args:
        peer: Which side it is.
    """

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.objects: dict[int, Any] = {}
        self.storages: list[int] = []
        self.learning: list[Tensor] = []
        self.results: list[tuple[Any, Tensor]] = []

    def pack(self, value: Any) -> Any:
        """Give a value as plain data."""
        for plain in (bool, int, float, str):
            if isinstance(value, plain):
                return plain(value)
        if value is None:
            return None
        if isinstance(value, Tensor):
            return self._tensor(value)
        if isinstance(value, torch.Size):
            return ["size", [*value]]
        if type(value).__module__ == "torch.return_types":
            return ["returned", type(value).__name__, [*map(self.pack, value)]]
        if isinstance(value, tuple):
            return ["tuple", [*map(self.pack, value)]]
        if isinstance(value, (set, frozenset)):
            return ["set", [*map(self.pack, value)]]
        if isinstance(value, torch.dtype):
            return ["dtype", _name_of(value)]
        if isinstance(value, (slice, range)):
            parts = [value.start, value.stop, value.step]
            return [type(value).__name__, [*map(self.pack, parts)]]
        return self._object(value)

    def _object(self, value: Any) -> Any:
        """Give what has a number, and is handed over once in a message."""
        number = self.peer.number(value)
        if number in self.objects:
            return ["again", number]
        self.objects[number] = value
        if isinstance(value, list):
            if isinstance(value, Noted):
                return ["taken", number, [self.pack(one) for one in value.taken]]
            kind = "list" if type(value) is list else "noted"
            return [kind, number, [*map(self.pack, list.__iter__(value))]]
        if isinstance(value, Mapping):
            pairs = [[self.pack(a), self.pack(b)] for a, b in value.items()]
            return ["dict", number, pairs]
        if isinstance(value, nn.Module):
            return self._module(number, value)
        if isinstance(value, torch.optim.Optimizer):
            groups = [
                [
                    [*map(self.pack, one["params"])],
                    {k: v for k, v in one.items() if _simple(v)},
                ]
                for one in value.param_groups
            ]
            return ["optimizer", number, type(value).__name__, groups]
        if callable(value):
            place = _importable(value) if not self.peer.trusted else None
            if place is not None:
                return ["import", *place]
            name = getattr(value, "__name__", type(value).__name__)
            return ["function", number, str(name)[:200]]
        text = " ".join(repr(value).split())[:200]
        return ["opaque", number, type(value).__name__, text]

    def _tensor(self, tensor: Tensor) -> Any:
        if type(tensor) not in (Tensor, nn.Parameter):
            tensor = tensor.as_subclass(Tensor)
        if tensor.layout != torch.strided or tensor.device.type != "cpu":
            kind = f"{tensor.layout}".removeprefix("torch.")
            raise NotPlainError(
                "a tensor must be an ordinary one of the CPU; "
                f"got one of layout {kind} on {tensor.device.type}."
            )
        if tensor.is_conj() or tensor.is_neg():
            tensor = tensor.resolve_conj().resolve_neg()
        number = self.peer.number(tensor)
        if number in self.objects:
            return ["again", number]
        self.objects[number] = tensor
        storage = self.peer.storage(tensor)
        if storage not in self.storages:
            self.storages.append(storage)
            self.objects[-1 - storage] = None
        flags = _LEARNS * tensor.requires_grad + _LEAF * tensor.is_leaf
        flags += _PARAMETER * isinstance(tensor, nn.Parameter)
        node = [
            "tensor",
            number,
            storage,
            tensor.storage_offset(),
            [*tensor.shape],
            [*tensor.stride()],
            _name_of(tensor.dtype),
            flags,
            self.pack(tensor.grad if tensor.is_leaf else None),
        ]
        if tensor.requires_grad:
            self.learning.append(tensor)
            if not tensor.is_leaf and number % 2 == self.peer._first:
                self.results.append((node, tensor))
        return node

    def _module(self, number: int, module: nn.Module) -> Any:
        peer, kind = self.peer, type(module)
        how: list[Any]
        if isinstance(module, Mirror):
            how = ["given"]
        elif peer.trusted:
            how = [kind.__module__.rpartition(".modules")[0], kind.__name__]
        elif (place := _importable(kind)) is not None:
            how = ["import", *place]
        elif (source := peer.sources(kind)) is not None:
            how = ["source", kind.__name__, source]
        else:
            raise NotPlainError(f"a module of class {kind.__name__} is not plain data.")
        unsaved = module._non_persistent_buffers_set
        others = {
            name: one for name, one in vars(module).items() if name not in _OF_MODULES
        }
        return [
            "module",
            number,
            how,
            module.training,
            [[name, self.pack(one)] for name, one in module._parameters.items()],
            [
                [name, self.pack(one), name not in unsaved]
                for name, one in module._buffers.items()
            ],
            [[name, self.pack(one)] for name, one in others.items()],
            [[name, self.pack(one)] for name, one in module._modules.items()],
        ]


class Unpacking:
    """Makes values of plain data, and changes those that were handed over before.

    Args:
        peer: Which side it is.
        message: What the other side sent.
        blobs: The bytes of its storages.
    """

    def __init__(self, peer: Peer, message: Any, blobs: Mapping[int, bytes]) -> None:
        self.peer = peer
        self.asks = "op" in message
        self.learning: list[Tensor] = []
        self.made: dict[int, Any] = {}
        for number, blob in blobs.items():
            peer.take_storage(number, blob)

    def unpack(self, node: Any) -> Any:
        """Give the value of plain data."""
        if not isinstance(node, list):
            return node
        kind, *rest = node
        if kind not in _KINDS:
            raise GoneError("What it gave cannot be read.")
        if kind == "tensor":
            return self._tensor(rest)
        return getattr(self, f"_{kind}")(*rest)

    def _size(self, items: Any) -> Any:
        return torch.Size(map(int, items))

    def _returned(self, name: str, items: Any) -> Any:
        kind = getattr(torch.return_types, name)
        return kind(tuple(map(self.unpack, items)))

    def _tuple(self, items: Any) -> Any:
        return tuple(map(self.unpack, items))

    def _set(self, items: Any) -> Any:
        return {*map(self.unpack, items)}

    def _dtype(self, name: str) -> Any:
        return _DTYPES[name]

    def _slice(self, items: Any) -> Any:
        return slice(*map(self.unpack, items))

    def _range(self, items: Any) -> Any:
        return range(*map(self.unpack, items))

    def _again(self, number: int) -> Any:
        return self.made[number]

    def _known(self, number: int) -> Any:
        """Give an object that there is already, or `None`."""
        peer = self.peer
        if number not in peer.objects:
            if number % 2 == peer._first:
                raise GoneError("It gave a number that is not its own.")
            return None
        return peer.scoped(number)

    def _keep(self, number: int, one: Any) -> Any:
        self.peer.keep(number, one)
        self.made[number] = one
        return one

    def _list(self, number: int, items: Any, kind: type = list) -> Any:
        found = self._known(number)
        if found is None:
            found = self._keep(number, kind([]))
        self.made[number] = found
        values = [*map(self.unpack, items)]
        if type(found) in (list, kind) and not self._is(found, values):
            found[:] = values
        return found

    @staticmethod
    def _is(found: Any, values: list[Any]) -> bool:
        pairs = zip(list.__iter__(found), values, strict=False)
        return len(found) == len(values) and all(a is b for a, b in pairs)

    def _noted(self, number: int, items: Any) -> Any:
        return self._list(number, items, Noted)

    def _taken(self, number: int, places: Any) -> Any:
        """Take from a list here what the other side took from it there."""
        found = self.made[number] = self._known(number)
        for place in map(self.unpack, places):
            found[place]
        return found

    def _dict(self, number: int, pairs: Any) -> Any:
        found = self._known(number)
        if found is None:
            found = self._keep(number, {})
        self.made[number] = found
        values = {self.unpack(a): self.unpack(b) for a, b in pairs}
        if type(found) is dict:
            found.clear()
            found.update(values)
        return found

    def _function(self, number: int, name: str) -> Any:
        found = self._known(number)
        if found is None:
            found = self._keep(number, Remote(self.peer, number, name))
        self.made[number] = found
        return found

    def _import(self, module: str, name: str) -> Any:
        if not self.peer.trusted:
            raise GoneError("It named something to import.")
        return _imported(module, name)

    def _opaque(self, number: int, kind: str, text: str) -> Any:
        if (found := self._known(number)) is None:
            title = kind if str(kind).isidentifier() else "object"
            found = self._keep(number, type(title, (Opaque,), {})(str(text)[:200]))
        self.made[number] = found
        return found

    def _optimizer(self, number: int, kind: str, groups: Any) -> Any:
        found = self._known(number)
        made = [
            {"params": [*map(self.unpack, params)], **options}
            for params, options in groups
        ]
        if found is None:
            found = self._keep(number, getattr(torch.optim, kind)(made))
        self.made[number] = found
        return found

    def plain(self, node: Any) -> Tensor:
        """Make a tensor of numbers alone."""
        _, _, storage, offset, shape, stride, dtype, *_ = node
        return self._numbers(storage, offset, shape, stride, dtype)

    def _numbers(
        self, storage: int, offset: int, shape: Any, stride: Any, dtype: str
    ) -> Tensor:
        count = 1
        for size in shape:
            count *= size
        if count > _NUMBERS and not self.peer.trusted:
            raise GoneError(f"It gave {count} numbers, and may give {_NUMBERS}.")
        memory, kind = self.peer.storages[storage], _DTYPES[dtype]
        if (
            kind is torch.bool
            and not self.peer.trusted
            and max(_bytes(memory), default=0) > 1
        ):
            raise GoneError("What it gave cannot be read.")
        return torch.empty(0, dtype=kind).set_(memory, offset, shape, stride)

    def _tensor(self, parts: Sequence[Any]) -> Any:
        number, storage, offset, shape, stride, dtype, flags, grad = parts
        learns, leaf = bool(flags & _LEARNS), bool(flags & _LEAF)
        found = self._known(number)
        if found is not None and found.requires_grad and not found.is_leaf:
            self.made[number] = found  # a result; what led to it stays as it was
            if learns:
                self.learning.append(found)
            return found
        numbers = self._numbers(storage, offset, shape, stride, dtype)
        if found is None:
            found = self._new(numbers, learns, leaf, bool(flags & _PARAMETER))
            self._keep(number, found)
        else:
            self.made[number] = found
            if _layout(found) != _layout(numbers):
                found.data = numbers
            if found.is_leaf and found.requires_grad != learns and leaf:
                found.requires_grad_(learns)
            if learns:
                self.learning.append(found)
        if found.is_leaf and (grad is not None or found.grad is not None):
            found.grad = self.unpack(grad)
        return found

    def _new(self, numbers: Tensor, learns: bool, leaf: bool, parameter: bool) -> Any:
        if parameter:
            numbers = nn.Parameter(numbers, requires_grad=learns)
        elif learns:
            numbers.requires_grad_()
        if learns:
            self.learning.append(numbers)
            if not leaf and self.asks:
                with torch.enable_grad():
                    return numbers.clone()
        return numbers

    def _module(self, *parts: Any) -> Any:
        number, how, training, parameters, buffers, others, modules = parts
        found = self._known(number)
        if found is None:
            kind: Any = self.peer.class_of(how)
            found = kind.__new__(kind)
            nn.Module.__init__(found)
            if isinstance(found, Mirror):
                found.__dict__.update(_peer=self.peer, _number=number)
            self._keep(number, found)
        self.made[number] = found
        found.training = bool(training)
        _replace(found._parameters, {str(n): self.unpack(one) for n, one in parameters})
        _replace(found._buffers, {str(n): self.unpack(one) for n, one, _ in buffers})
        unsaved = {str(name) for name, _, saved in buffers if not saved}
        found._non_persistent_buffers_set = unsaved
        for name, one in others:
            value = self.unpack(one)
            if self.peer.trusted or _may_set(found, str(name), value):
                found.__dict__[name] = value
        _replace(found._modules, {str(n): self.unpack(one) for n, one in modules})
        return found


def _layout(one: Tensor) -> tuple[Any, ...]:
    """Say where the numbers of a tensor lie, and how."""
    place = one.untyped_storage().data_ptr(), one.storage_offset()
    return (*place, one.shape, one.stride(), one.dtype)


def _replace(old: dict[str, Any], new: dict[str, Any]) -> None:
    """Make the entries of a module those of the other side."""
    old.clear()
    old.update(new)


def _may_set(module: nn.Module, name: str, value: Any) -> bool:
    """Ask whether an answer may give a module this attribute: data, and no method."""
    fits = name.isidentifier() and (name[0] != "_" or name == "_size")
    return fits and not hasattr(type(module), name) and not isinstance(value, Remote)


def _gradients(outs: list[Tensor], ins: list[Tensor], slopes: Sequence[Any]) -> Any:
    pairs = [(a, b) for a, b in zip(outs, slopes, strict=True) if b is not None]
    with torch.enable_grad():
        return [
            *torch.autograd.grad(
                [a for a, _ in pairs],
                ins,
                [b for _, b in pairs],
                retain_graph=True,
                allow_unused=True,
            )
        ]


def _trace(source: str, line: int, name: str, following: Any) -> types.TracebackType:
    """Make one entry of a traceback, of a line that another process was at."""
    line = min(max(line, 1), 100_000)
    program = compile("\n" * (line - 1) + "here = frame()", source, "exec")
    space: dict[str, Any] = {"frame": sys._getframe}
    exec(program.replace(co_name=name), space)  # noqa: S102
    here = space["here"]
    return types.TracebackType(following, here, here.f_lasti, line)


def _sketch(value: Any) -> Any:
    """Give a value as plain data without the numbers of its tensors."""
    if isinstance(value, Tensor):
        return {"shape": [*value.shape], "dtype": _name_of(value.dtype)}
    if isinstance(value, (list, tuple)):
        return [_sketch(one) for one in value]
    return value if isinstance(value, int) else None


def _of_sketch(sketch: Any) -> Any:
    """Give a value as it was, but for its numbers; a list as a tuple."""
    if isinstance(sketch, dict):
        shape, kind = map(int, sketch["shape"]), _DTYPES[sketch["dtype"]]
        return torch.empty(tuple(shape), dtype=kind, device="meta")
    if isinstance(sketch, list):
        return tuple(map(_of_sketch, sketch))
    return sketch


_BY_NAME: dict[str, Any] = {}


def _functions() -> Mapping[str, Any]:
    """Give the functions of PyTorch by the names that `Watch` notes."""
    if not _BY_NAME:
        for functions in torch.overrides.get_overridable_functions().values():
            for one in functions:
                _BY_NAME[torch.overrides.resolve_name(one) or ""] = one
    return _BY_NAME


def _importable(value: Any) -> tuple[str, str] | None:
    """Say where the other side may import a function or a class from."""
    module = str(getattr(value, "__module__", ""))
    name = str(getattr(value, "__qualname__", ""))
    root = module.partition(".")[0]
    if root not in ("torch", "headway") or module.startswith("headway.practice"):
        return None
    known = getattr(sys.modules.get(module), name, None) is value
    return (module, name) if known else None


def _imported(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)


def _simple(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def _name_of(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _level(value: Any) -> int:
    """Give the level of an axis that `torch.vmap` hides; 0 if there is none."""
    parts = torch._C._functorch
    hidden = isinstance(value, Tensor) and parts.is_batchedtensor(value)
    return int(parts.maybe_get_level(value)) if hidden else 0


def _bytes(storage: torch.UntypedStorage) -> bytes:
    every = torch.empty(0, dtype=torch.uint8).set_(storage)
    whole = len(every) // 8 * 8  # as numbers of 64 bits they are read at once
    numbers = array("q", every[:whole].view(torch.int64).tolist())
    return numbers.tobytes() + bytes(every[whole:].tolist())
