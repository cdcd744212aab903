"""What goes between two processes is plain data, and arrives as it was."""

import copy
import socket
import threading
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn

from headway.practice.grading import child, wire
from headway.practice.grading.child import LOAD, guard, serve
from headway.practice.grading.wire import GoneError, NotPlainError, Peer
from headway.practice.judging.copies import CAN_COPY
from headway.practice.judging.watch import forbidden_way
from headway.practice.task.definition import Forbidden
from tests.support.processes import PATIENCE

pytestmark = pytest.mark.skipif(not CAN_COPY, reason="processes cannot be copied here")
FILE = """
import torch
from torch import nn

def give(*values, **others): return (values, others) if others else values[0]
def call(function, *values): return function(*values)
def grow(values): values.append(3); return None
def less(i, j): return i < j
def either(i): return i > 0 or i < 0
def over_rows(function, x): return torch.vmap(function)(x)
def row(x, i): return x[i, :]
def rows(x, weight): return (x @ weight).tanh()
def taken(values): return [values[1], *values][0]
def in_place(x): x += 1; return x[:1]
def outer(x): return lambda y: x + y
def step(optimizer, module, x):
    module(x).sum().backward()
    optimizer.step()
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2, 2))
        self.heads = nn.ModuleList([nn.Linear(2, 2), nn.Dropout(0.5)])
        self.register_buffer("kept", torch.ones(1), persistent=False)
        self.name = "layer"
        self.call = give
    def forward(self, x): return self.heads[1](x) @ self.weight
def broken(): raise ValueError("no") from None
def own(): class_ = type("OwnError", (KeyError,), {}); raise class_("mine")
def leave(): raise SystemExit(3)
def cut(x): x.detach_(); return None
def learn(x): x.requires_grad_(); return None
def spoiled(x):
    y = x.exp()
    z = y * 1
    with torch.no_grad(): y.add_(1)
    return z
def decode(): b"\\xff".decode("utf-8")
def kinds():
    return [torch.zeros(2).to_sparse(), 1]
def odd(): return [iter([1]), torch.complex(torch.ones(1), torch.ones(1)).conj()]
"""


class Both:
    """The two sides, the other one in a thread."""

    def __init__(self) -> None:
        mine, self.other = socket.socketpair()
        self.peer = Peer(
            mine, first=0, trusted=False, source="answer.py", sources=self.source
        )
        self.thread = threading.Thread(target=serve, args=(self.other,), daemon=True)
        self.thread.start()
        self.file = self.peer.call(LOAD, [FILE, "answer.py"], {})

    def source(self, kind: type) -> str | None:
        if kind is Broken:
            return "class Broken(nn.Module): x = = 1"
        body = "def forward(self, x): return x * self.weight"
        return f"class {kind.__name__}(nn.Module):\n    {body}" if kind is Own else None

    def __getattr__(self, name: str) -> Any:
        return self.file[name]


class Own(nn.Module):
    """A class that the other side cannot import."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))


class Other(Own):
    """A class whose source is not given."""


class Broken(Own):
    """A class whose source is no Python."""


class Labelled(torch.Tensor):
    """A tensor with a name."""


@pytest.fixture
def both() -> Iterator[Both]:
    one = Both()
    yield one
    one.peer.connection.close()
    one.thread.join(PATIENCE)
    one.other.close()


def test_values_arrive_as_they_were(both: Both) -> None:
    plain = [1, 2.5, "a", None, True, (1, [2]), {"a": {3}}, slice(1, None), range(3)]
    plain += [torch.float32, torch.Size([2]), float("inf")]
    assert both.give(plain) == plain
    assert both.give(1, b=2) == ((1,), {"b": 2})
    x = torch.arange(6.0).view(2, 3)
    y = x.T
    found = both.give([y, y, x[:0], torch.tensor(True), x.max(dim=0)])
    assert torch.equal(found[0], x.T)
    assert found[0].untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    assert found[0] is found[1]
    assert type(found[4]).__module__ == "torch.return_types"
    assert both.give(torch.softmax)(x, dim=0).shape == (2, 3)
    assert "list_iterator" in repr(both.odd()[0])
    assert both.odd()[1].imag == -1
    odd = both.odd()[0]
    assert both.give(odd) is odd
    assert both.give(torch.zeros(0)).shape == (0,)
    assert both.give(nn.functional.relu)(torch.tensor([-1.0, 2.0])).tolist() == [0, 2]
    assert both.give(torch.ones(2).as_subclass(Labelled)).tolist() == [1, 1]
    ordered = OrderedDict(a=1)
    assert both.give(ordered) is ordered
    loop: list[Any] = []
    loop.append(loop)
    assert both.give(loop) is loop


def test_changes_come_back(both: Both) -> None:
    values, x = [1], torch.zeros(3)
    both.grow(values)
    view = both.in_place(x)
    assert (values, x.tolist()) == ([1, 3], [1, 1, 1])
    x[0] = 7
    assert view == 7  # it is a part of x, as it was there
    noted = Seen([5, 6])
    assert both.taken(noted) == 6
    assert noted.places == [1, 0, 1]
    kept = {"a": 1}
    assert both.give(kept) is kept
    leaf = torch.zeros(2)
    both.learn(leaf)
    assert leaf.requires_grad
    result = 1 * leaf
    both.cut(result)
    assert result.grad_fn is not None  # a result stays as it was


class Seen(list[int]):
    """A list that notes what is taken."""

    def __init__(self, items: list[int]) -> None:
        super().__init__(items)
        self.places: list[Any] = []

    def __getitem__(self, place: Any) -> Any:
        self.places.append(place)
        return super().__getitem__(place)


def test_functions_are_called_on_their_side(both: Both) -> None:
    assert both.call(lambda x: x + 1, 2) == 3
    assert both.outer(1)(2) == 3

    def fails(x: int) -> None:
        raise IndexError(f"at {x}")

    with pytest.raises(IndexError, match="at 4"):
        both.call(fails, 4)
    add = both.outer(torch.ones(2))
    mapped = torch.vmap(torch.vmap(add, (0,)), (0,))(torch.zeros(3, 2, 2))
    assert mapped.tolist() == torch.ones(3, 2, 2).tolist()
    pairs = torch.vmap(torch.vmap(both.less, (None, 0)), (0, None))
    rows = pairs(torch.arange(2), torch.arange(3))
    assert rows.tolist() == [[False, True, True], [False, False, True]]
    with pytest.raises(RuntimeError, match="data-dependent control flow"):
        torch.vmap(both.either)(torch.arange(2))
    assert both.over_rows(lambda row: row.sum(), torch.ones(2, 3)).tolist() == [3, 3]


def test_gradients_go_through(both: Both) -> None:
    x = torch.rand(2, 3, requires_grad=True)
    weight = torch.rand(3, 2, requires_grad=True)
    idle = torch.rand(1, requires_grad=True)
    (both.rows(1.0 * x, weight) ** 2).sum().backward()
    right = torch.autograd.grad(((x @ weight).tanh() ** 2).sum(), [x, weight])
    assert torch.allclose(x.grad, right[0])  # type: ignore[arg-type]
    assert torch.allclose(weight.grad, right[1])  # type: ignore[arg-type]
    result = (
        both.call(
            both.rows,
            x,
            weight,
        )
        + 0 * idle
    )
    assert result.requires_grad
    twice = both.give(both.rows(x, weight))
    [slope] = torch.autograd.grad(twice.sum(), x)
    assert slope.shape == x.shape
    with torch.no_grad():
        assert not both.rows(x, weight).requires_grad
    unused = both.give(x, b=both.rows(x, weight))
    assert unused[0] == (x,)
    inner = both.call(lambda y: (y @ weight).tanh(), x)
    assert inner.requires_grad
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        both.spoiled(x).sum().backward()


def test_gradients_that_cannot_be_read_end_it(
    both: Both, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = both.rows(torch.ones(1, 2, requires_grad=True), torch.ones(2, 1))
    monkeypatch.setattr(both.peer, "gradients", lambda *_: [None, None, None])
    with pytest.raises(GoneError, match="as gradients cannot be read"):
        result.sum().backward()


def test_modules_have_their_numbers_here(both: Both) -> None:
    layer = both.Layer().double()
    assert [*layer.state_dict()] == ["weight", "heads.0.weight", "heads.0.bias"]
    assert (layer.name, len(layer.heads), layer.kept.dtype) == (
        "layer",
        2,
        torch.float64,
    )
    assert not hasattr(layer, "call")
    layer.eval()
    layer.weight.data = 2 * torch.eye(2).double()
    x = torch.ones(1, 2).double()
    assert layer(x).tolist() == [[2, 2]]
    layer(x).sum().backward()
    assert layer.weight.grad.tolist() == [[1, 1], [1, 1]]
    layer.train()
    torch.manual_seed(1)
    first = layer(x)
    torch.manual_seed(1)
    assert torch.equal(layer(x), first)
    layer.eval()
    assert torch.equal(copy.deepcopy(layer)(x), layer(x))
    assert both.Layer().weight.tolist() == [[1, 1], [1, 1]]


def test_modules_of_an_exercise_come_back(both: Both) -> None:
    own = Own()
    sgd = torch.optim.SGD(own.parameters(), lr=0.5)
    both.step(sgd, own, torch.ones(2))
    assert own.weight.tolist() == [0.5, 0.5]
    assert own.weight.grad is not None
    assert both.give([own, second := Own()]) == [own, second]
    linear = nn.Linear(2, 2)
    assert both.give(linear) is linear
    both.call(lambda _: None, linear)
    with pytest.raises(NotPlainError, match="a module of class Other"):
        both.give(Other())
    with pytest.raises(SyntaxError):
        both.give(Broken())


def test_errors_have_their_types_and_lines(both: Both) -> None:
    with pytest.raises(ValueError, match="no") as no:
        both.broken()
    assert [line.name for line in no.traceback][-1] == "broken"
    with pytest.raises(ValueError, match="codec"):
        both.decode()
    with pytest.raises(TypeError, match="got one of layout sparse_coo on cpu"):
        both.kinds()
    with pytest.raises(SyntaxError) as wrong:
        both.peer.call(LOAD, ["x = = 1", "answer.py"], {})
    assert (wrong.value.lineno, wrong.value.text) == (1, "x = = 1\n")
    with pytest.raises(KeyError) as raised:
        both.own()
    assert (type(raised.value).__name__, str(raised.value)) == ("OwnError", "'mine'")
    with pytest.raises(GoneError, match="ended Python with status 3"):
        both.leave()


def test_a_watch_here_sees_what_is_called_there(both: Both) -> None:
    watch = wire.Watch()
    x = torch.ones(2, 3)
    with watch:
        both.rows(x, x.T)
    small = {"shape": [2, 2], "dtype": "float32"}
    assert ["torch.Tensor.tanh", small, [small]] in watch.seen


def test_a_forbidden_way_is_seen_by_its_arguments(both: Both) -> None:
    def takes_a_row(args: Any, result: Any, given: Any) -> bool:
        return args[1] == (0, None) and args[0].shape == (2, 3) and len(result) == 3

    x = torch.ones(2, 3)
    way = Forbidden("no rows", "", names=("getitem",), when=takes_a_row)
    assert forbidden_way([way], lambda: both.row(x, 0), [x]) is way
    assert forbidden_way([way], lambda: both.row(x, 1), [x]) is None


BAD = {
    "no message": "}",
    "a list": "[]",
    "an unknown kind": '{"storages": [], "value": ["keep", 1, 2]}',
    "an import": '{"storages": [], "value": ["import", "os", "system"]}',
    "a number that is mine": '{"storages": [], "value": ["list", 4000, []]}',
    "a storage that is mine": '{"storages": [[4000, 0]], "value": null}',
    "a storage that is not there": '{"storages": [[1, 9]], "value": null}',
    "a call of what it was not given": (
        '{"storages": [], "op": "call", '
        '"given": ["list", 1, [4000, ["list", 3, []], ["dict", 5, []]]]}'
    ),
    "a call of what is no function": (
        '{"storages": [], "op": "call", '
        '"given": ["list", 1, ["text", ["list", 3, []], ["dict", 5, []]]]}'
    ),
    "an order that is none": '{"storages": [], "op": "call", "given": [4000]}',
    "a bool of two": (
        '{"storages": [[1, 1]], '
        '"value": ["tensor", 3, 1, 0, [1], [1], "bool", 0, null]}'
    ),
    "a deep one": "[" * 200_000,
    "no fields": '{"storages": [], "value": ["tensor"]}',
    "an error without types": '{"storages": [], "error": 3}',
}


@pytest.mark.parametrize("text", BAD.values(), ids=BAD)
def test_what_cannot_be_read_ends_it(text: str) -> None:
    mine, other = socket.socketpair()
    peer = Peer(mine, first=0, trusted=False, source="", limit=PATIENCE)
    other.sendall(message(text, b"\2"))
    with mine, other, pytest.raises(GoneError):
        peer.call(1, [torch.ones(2)], {})


def message(text: str, data: bytes) -> bytes:
    """Give what a side of no good will would write."""
    return wire._HEAD.pack(len(text), len(data)) + text.encode() + data


def test_memory_is_written_only_where_it_was_given() -> None:
    mine, other = socket.socketpair()
    peer = Peer(mine, first=0, trusted=False, source="", limit=PATIENCE)
    x = torch.ones(2)
    with mine, other:
        other.sendall(message('{"storages": [], "value": null}', b""))
        peer.call(1, [x], {})
        [number] = peer.storages
        text = f'{{"storages": [[{number}, 4]], "value": null}}'
        other.sendall(2 * message(text, bytes(4)))
        with pytest.raises(GoneError, match="where it was given nothing"):
            peer.call(1, [], {})
        with pytest.raises(GoneError, match="memory of another size"):
            peer.call(1, [x], {})
    assert x.tolist() == [1, 1]
    with pytest.raises(GoneError, match="It ended Python"):
        peer.call(1, [x], {})


def test_what_is_too_large_ends_it() -> None:
    mine, other = socket.socketpair()
    peer = Peer(mine, first=0, trusted=False, source="", limit=PATIENCE)
    other.sendall(wire._HEAD.pack(2**31, 2**31))
    with mine, other, pytest.raises(GoneError, match="bytes, and may give"):
        peer.call(1, [], {})


def test_the_guard_refuses_what_no_answer_needs(tmp_path: Any) -> None:
    look = guard(str(tmp_path))
    look("open", ("/dev/null", "w", 1))
    look("open", (3, "r", 0))
    look("open", (str(tmp_path / "own"), "w", 1))
    look("open", (torch.__file__, "r", None))
    look("os.listdir", (str(tmp_path / "own"),))
    look("import", ("math",))
    look("compile", ())
    for event, given in (
        ("open", (torch.__file__, "w", 1)),
        ("open", ("/etc/passwd", "r", 0)),
        ("open", (child.__file__, "r", 0)),
        ("os.scandir", ("/",)),
        ("import", ("headway.practice.judging",)),
        ("subprocess.Popen", ()),
    ):
        with pytest.raises(PermissionError, match="An answer may not"):
            look(event, given)
