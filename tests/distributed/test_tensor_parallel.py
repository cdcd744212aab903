"""Heads over processes: the sum of the parts is the whole, in values and gradients."""

import copy
from collections.abc import Callable, Iterator
from inspect import cleandoc
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor, distributed, nn

import headway.distributed.tensor_parallel as module
from headway import (
    ALiBi,
    CrossAttention,
    GroupedQueryAttention,
    KeyValueCache,
    MultiHeadAttention,
    Rotary,
    T5Bias,
    TensorParallelAttention,
    attention,
    shard_heads,
)
from tests.support.in_processes import print_in_processes

Whole = MultiHeadAttention | GroupedQueryAttention

D_IN, D, H, T = 5, 4, 12, 7


@pytest.fixture(autouse=True)
def _anew() -> None:
    torch.manual_seed(0)


def multi(**options: object) -> MultiHeadAttention:
    sizes = {"num_heads": H, "qkv_bias": True, "dtype": torch.float64}
    return MultiHeadAttention(D_IN, H * D, 11, 0.0, **{**sizes, **options})


def grouped(groups: int, **options: object) -> GroupedQueryAttention:
    sizes = {"num_heads": H, "qkv_bias": True, "dtype": torch.float64}
    sizes["num_kv_heads"] = groups
    return GroupedQueryAttention(D_IN, H * D, 11, 0.0, **{**sizes, **options})


def close(ours: Tensor, theirs: Tensor) -> None:
    torch.testing.assert_close(ours, theirs, rtol=1e-13, atol=1e-14)


def tokens() -> Tensor:
    return torch.randn(2, 3, T, D_IN, dtype=torch.float64)


WHOLES: dict[str, Callable[[], Whole]] = {
    "plain": lambda: multi(qkv_bias=False),
    "biases": multi,
    "not causal": lambda: multi(causal=False),
    "rotary": lambda: multi(rotate=Rotary(D)),
    "ALiBi": lambda: multi(bias=ALiBi(H)),
    "one bias for all heads": lambda: multi(
        bias=lambda q, k: (k[..., None, :] - q[..., :, None]).double()
    ),
    "T5": lambda: multi(bias=T5Bias(H, num_buckets=6, max_distance=9).double()),
    "our own function": lambda: multi(attend=attention),
    "4 groups": lambda: grouped(4, rotate=Rotary(D)),
    "2 groups": lambda: grouped(2, bias=ALiBi(H)),
    "1 group, window": lambda: grouped(1, window=3),
    "12 groups": lambda: grouped(12, causal=False),
}
PROCESSES = (1, 2, 3, 4, 6, 12)


@pytest.fixture(params=WHOLES)
def whole(request: pytest.FixtureRequest) -> Whole:
    return WHOLES[request.param]()


def numbers(whole: Whole) -> list[int]:
    """Say over how many processes it may be cut."""
    G = getattr(whole, "num_kv_heads", H)
    return [P for P in PROCESSES if G % P == 0 or P % G == 0]


def test_values_and_gradients_are_those_of_the_whole(whole: Whole) -> None:
    x = tokens().requires_grad_()
    pull = torch.randn(2, 3, T, H * D, dtype=torch.float64)
    out = whole(x)
    named = dict(whole.named_parameters())
    asked = torch.autograd.grad(out, [x, *named.values()], pull)
    G = getattr(whole, "num_kv_heads", H)
    for P in numbers(whole):
        parts = [shard_heads(whole, rank, P) for rank in range(P)]
        x_of = [x.detach().clone().requires_grad_() for _ in parts]
        outs = [part(own) for part, own in zip(parts, x_of, strict=True)]
        close(sum(outs), out)
        for ours, own in zip(outs, x_of, strict=True):
            ours.backward(pull)
            assert own.grad is not None
        close(sum(own.grad for own in x_of), asked[0])
        for (name, parameter), theirs in zip(named.items(), asked[1:], strict=True):
            gradients = [
                dict(part.named_parameters())[_in_part(name)].grad
                for part in parts
                if _in_part(name) in dict(part.named_parameters())
            ]
            close(_joined(name, gradients, max(P // G, 1)), theirs)
            assert parameter.grad is None


def _in_part(name: str) -> str:
    return name.replace("bias.", "bias.bias.") if name.startswith("bias.") else name


def _joined(name: str, gradients: list[Tensor], copies: int) -> Tensor:
    """Put the gradients of all parts where they are in the whole."""
    if name == "out_proj.weight":
        return torch.cat(gradients, dim=1)
    if name == "out_proj.bias":
        assert len(gradients) == 1  # the first part alone has it
        return gradients[0]
    if name.startswith("bias."):
        return torch.stack(gradients).sum(dim=0)
    if name.startswith("W_query"):
        copies = 1
    joined = torch.cat(
        [
            torch.stack(gradients[first : first + copies]).sum(dim=0)
            for first in range(0, len(gradients), copies)
        ]
    )
    return joined


def test_each_part_gives_what_its_heads_give_in_loops() -> None:
    whole = multi(attend=attention)
    x = torch.randn(T, D_IN, dtype=torch.float64)
    project = [
        layer.weight @ x.mT + layer.bias[:, None]
        for layer in (whole.W_query, whole.W_key, whole.W_value)
    ]
    for P in (3, 4):
        for rank in range(P):
            total = torch.zeros(T, H * D, dtype=torch.float64)
            for h in range(H):
                if h * P // H != rank:
                    continue
                rows = slice(h * D, (h + 1) * D)
                query, key, value = (of_all[rows].mT for of_all in project)
                context = attention(query, key, value, causal=True)
                total += context @ whole.out_proj.weight[:, rows].mT
            if rank == 0:
                total += whole.out_proj.bias
            close(shard_heads(whole, rank, P)(x), total)


def test_the_other_arguments_are_handed_on() -> None:
    for whole in (multi(rotate=Rotary(D)), grouped(2, rotate=Rotary(D))):
        x = tokens()
        mask = torch.rand(2, 3, T, T) < 0.7
        positions = torch.tensor([1, 2, 4, 5, 7, 8, 10])
        out = whole(x, mask=mask, positions=positions)
        parts = [shard_heads(whole, rank, 4) for rank in range(4)]
        close(sum(part(x, mask=mask, positions=positions) for part in parts), out)
        caches = [KeyValueCache() for _ in parts]
        whole_cache = KeyValueCache()
        whole(x, cache=whole_cache)
        for chunk in x.split([3, 4], dim=-2):
            pairs = zip(parts, caches, strict=True)
            last = sum(part(chunk, cache=cache) for part, cache in pairs)
        close(last, whole(x)[..., 3:, :])
        if isinstance(whole, MultiHeadAttention):  # nobody keeps what another keeps
            assert sum(cache.nbytes for cache in caches) == whole_cache.nbytes


def test_the_whole_is_left_alone_and_nothing_is_drawn() -> None:
    whole = grouped(4)
    whole.dropout.p = 0.3
    whole.eval()
    before = {name: x.clone() for name, x in whole.state_dict().items()}
    state = torch.get_rng_state()
    part = shard_heads(whole, 1, 2)
    assert torch.equal(state, torch.get_rng_state())
    assert not part.training
    assert part.dropout.p == 0.3
    assert shard_heads(whole.train(), 1, 2).training
    assert part.context_length == whole.context_length
    with torch.no_grad():
        for parameter in part.parameters():
            parameter.fill_(7.0)
    for name, x in whole.state_dict().items():
        assert torch.equal(x, before[name])
    assert shard_heads(multi(dtype=torch.float32), 0, 2).W_key.weight.dtype == (
        torch.float32
    )


def test_what_a_part_weighs() -> None:
    """Weights are cut, but for the bias of the last and copies of shared heads."""

    def count(module: nn.Module) -> int:
        return sum(x.numel() for x in module.parameters())

    whole = grouped(2, qkv_bias=False)
    parts = [shard_heads(whole, rank, 4) for rank in range(4)]
    copied = 2 * 2 * D * D_IN  # keys and values, of two heads, once more
    assert sum(map(count, parts)) == count(whole) + copied


def test_frozen_weights_stay_frozen() -> None:
    whole = grouped(4, bias=T5Bias(H).double())
    for frozen in (whole.W_key.weight, whole.out_proj.bias, *whole.bias.parameters()):
        frozen.requires_grad_(False)
    named = dict(whole.named_parameters())
    for no_grad in (False, True):
        with torch.set_grad_enabled(not no_grad):
            parts = [shard_heads(whole, rank, 2) for rank in range(2)]
        for part in parts:
            own = dict(part.named_parameters())
            for name, parameter in named.items():
                if _in_part(name) in own:
                    ours = own[_in_part(name)]
                    assert ours.requires_grad == parameter.requires_grad


class TestWhoAreAlike:
    """Processes as numbers in a list: what they say, and who is in which group."""

    @pytest.fixture
    def said(self, monkeypatch: pytest.MonkeyPatch) -> list[object]:
        """Pretend that there are six processes; the others say what is in this list."""
        said: list[object] = []
        self.made: list[list[int]] = []

        class Group(distributed.ProcessGroup):
            def __init__(self, *of: int) -> None:
                super().__init__(0, len(of))
                self.of = list(of)

        self.Group = Group

        def new_group(ranks: list[int], *, use_local_synchronization: bool) -> Group:
            assert use_local_synchronization
            self.made.append(ranks)
            return Group(*ranks)

        pretended = SimpleNamespace(
            group=SimpleNamespace(WORLD=Group(0, 1, 2, 3, 4, 5)),
            get_world_size=lambda group: len((group or pretended.group.WORLD).of),
            get_rank=lambda group: 2 if group is None else group.of.index(5),
            get_process_group_ranks=lambda group: group.of,
            new_group=new_group,
        )
        monkeypatch.setattr(module, "distributed", pretended)
        monkeypatch.setattr(module, "gather_objects", lambda own, group: [own, *said])
        return said

    @pytest.mark.usefixtures("said")
    def test_a_group_is_made_once(self) -> None:
        first = module._with_the_same_head(2, None)
        assert first is module._with_the_same_head(2, None)
        assert module._with_the_same_head(3, None) is not first
        assert module._with_the_same_head(6, None) is None  # all: nothing is made
        some = self.Group(1, 2, 4, 5)
        assert module._with_the_same_head(2, some) is not first
        assert self.made == [[2, 3], [0, 1, 2], [4, 5]]

    def test_weights_are_compared_bit_by_bit(self, said: list[object]) -> None:
        whole = multi()
        with torch.no_grad():
            whole.W_key.bias.fill_(torch.nan)  # nan in all is alike
        said[:] = [{name: module._digest(x) for name, x in whole.named_parameters()}]
        assert module._differ(whole, None) == []
        other = copy.deepcopy(whole)
        with torch.no_grad():  # the same sum, in another order
            other.W_value.weight.copy_(whole.W_value.weight.flip(0))
            other.W_query.bias.copy_(other.W_query.bias.nextafter(torch.tensor(9.0)))
        assert module._differ(other, None) == ["W_query.bias", "W_value.weight"]
        fewer = multi(qkv_bias=False)
        fewer.load_state_dict(whole.state_dict(), strict=False)
        assert module._differ(fewer, None) == [
            "W_query.bias",
            "W_key.bias",
            "W_value.bias",
        ]


class TestWhatIsRefused:
    @pytest.mark.refusal
    @pytest.mark.parametrize(
        "module", [nn.Linear(3, 3), CrossAttention(3, 3, 4, 0.0, 2)]
    )
    def test_another_module(self, module: nn.Module) -> None:
        with pytest.raises(
            ValueError,
            match=r"^attention must be a MultiHeadAttention or a "
            r"GroupedQueryAttention; got attention=\w+\.$",
        ):
            shard_heads(module, 0, 1)

    def test_heads_that_do_not_divide(self) -> None:
        with pytest.raises(
            ValueError,
            match=r"^processes must divide num_heads; got processes=5, num_heads=12\.$",
        ):
            shard_heads(multi(), 0, 5)

    def test_groups_that_do_not_fit(self) -> None:
        with pytest.raises(
            ValueError,
            match=r"^processes must divide num_kv_heads, or be a multiple of it; "
            r"got processes=3, num_kv_heads=4\.$",
        ):
            shard_heads(grouped(4), 0, 3)

    @pytest.mark.parametrize("rank", [-1, 3])
    def test_a_rank_that_is_not_there(self, rank: int) -> None:
        with pytest.raises(
            ValueError, match=rf"^rank must be in \[0, processes\); got rank={rank}, "
        ):
            shard_heads(multi(), rank, 3)

    def test_processes_must_be_positive(self) -> None:
        with pytest.raises(ValueError, match=r"^processes must be a positive integer"):
            shard_heads(multi(), 0, 0)


@pytest.fixture
def one_process() -> Iterator[None]:
    """Have a group of one process: this one."""
    distributed.init_process_group(
        "gloo", rank=0, world_size=1, store=distributed.HashStore()
    )
    yield
    distributed.destroy_process_group()


@pytest.mark.usefixtures("one_process")
class TestOneProcess:
    def test_is_the_whole(self, whole: Whole) -> None:
        alone = TensorParallelAttention(whole)
        x = tokens().requires_grad_()
        out, theirs = alone(x), whole(x)
        close(out, theirs)
        pull = torch.randn_like(out)
        close(*(torch.autograd.grad(z, x, pull)[0] for z in (out, theirs)))

    def test_a_frozen_bias(self) -> None:
        whole = multi(bias=T5Bias(H).double().requires_grad_(False))
        alone = TensorParallelAttention(whole)
        x = tokens()
        close(alone(x), whole(x))
        alone(x).sum().backward()
        assert all(parameter.grad is None for parameter in alone.part.bias.parameters())

    def test_seeds_of_dropout(self) -> None:
        whole = multi(attend=attention)
        whole.dropout.p = 0.4
        alone = TensorParallelAttention(whole)
        x = tokens()
        torch.manual_seed(5)
        first, second, after = alone(x), alone(x), torch.rand(3)
        assert not torch.equal(first, second)
        torch.manual_seed(5)
        assert torch.equal(alone(x), first)
        torch.manual_seed(5)
        torch.randint(2**62, (2,))  # what a call takes, whatever it draws for itself
        assert torch.equal(torch.rand(3), after)
        alone.eval()
        state = torch.get_rng_state()
        alone(x)
        assert torch.equal(state, torch.get_rng_state())


THREE = cleandoc(
    """
    import copy

    import torch
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import (
        ColwiseParallel, RowwiseParallel, parallelize_module
    )

    from headway import *

    dist.init_process_group("gloo")
    rank, P = dist.get_rank(), dist.get_world_size()
    D_IN, D, H, T = 5, 4, 6, 7
    assert_close = torch.testing.assert_close


    def close(ours, theirs, name):
        try:
            assert_close(ours, theirs, rtol=1e-13, atol=1e-14)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from None


    def full(name, gradients, copies):
        if name == "out_proj.bias":
            return gradients[0]
        if name.startswith("bias."):
            for gradient in gradients:  # added up over all already
                close(gradient, gradients[0], name)
            return gradients[0]
        if name == "out_proj.weight":
            return torch.cat(gradients, dim=1)
        step = 1 if name.startswith("W_query") else copies
        for i, gradient in enumerate(gradients):  # copies stay alike
            close(gradient, gradients[i // step * step], name)
        return torch.cat(gradients[::step])


    def compare(whole, copies=1):
        x = torch.randn(2, T, D_IN, dtype=torch.float64).requires_grad_()
        pull = torch.randn(2, T, H * D, dtype=torch.float64)
        mine = copy.deepcopy(TensorParallelAttention(whole))  # as models do
        for _ in range(2):  # as in training, gradients add up
            out, z = mine(x), whole(x)
            close(out, z, "out")
            theirs, = torch.autograd.grad(z, x, pull, retain_graph=True)
            ours, = torch.autograd.grad(out, x, pull, retain_graph=True)
            close(ours, theirs, "x")
            z.backward(pull)
            out.backward(pull)
        ours = dict(mine.part.named_parameters())
        for name, parameter in whole.named_parameters():
            inner = "bias." + name if name.startswith("bias.") else name
            found = [None] * P
            grad = ours[inner].grad if inner in ours else None
            dist.all_gather_object(found, grad)
            close(full(name, found, copies), parameter.grad, name)


    def multi(**options):
        options = {"qkv_bias": True, "dtype": torch.float64, **options}
        return MultiHeadAttention(D_IN, H * D, 11, 0.0, H, **options)


    def grouped(groups, **options):
        options = {"qkv_bias": True, "dtype": torch.float64, **options}
        options["num_kv_heads"] = groups
        return GroupedQueryAttention(D_IN, H * D, 11, 0.0, H, **options)


    torch.manual_seed(0)
    """
)


@pytest.mark.usefixtures("coverage_of_processes")
def test_three_processes() -> None:
    """One start, and so one test: values, gradients, DTensor, dropout, errors."""
    program = (
        THREE
        + "\n\n"
        + cleandoc(
            """

        compare(multi(rotate=Rotary(D)))
        compare(multi(causal=False, bias=T5Bias(H).double()))
        compare(grouped(3, rotate=Rotary(D), bias=ALiBi(H)))
        compare(grouped(1, rotate=Rotary(D), window=3), copies=3)
        print("values and gradients")

        # An oracle that is not ours.
        whole = multi(rotate=Rotary(D))
        theirs = multi(rotate=Rotary(D))
        theirs.load_state_dict(whole.state_dict())
        mesh = init_device_mesh("cpu", (P,))
        plan = {name: ColwiseParallel() for name in ("W_query", "W_key", "W_value")}
        parallelize_module(theirs, mesh, {**plan, "out_proj": RowwiseParallel()})
        theirs.num_heads //= P
        x = torch.randn(2, T, D_IN, dtype=torch.float64).requires_grad_()
        mine = TensorParallelAttention(whole)
        pull = torch.randn(2, T, H * D, dtype=torch.float64)
        close(mine(x), theirs(x), "DTensor")
        close(mine(x), whole(x), "DTensor")
        for z in (mine(x), theirs(x)):
            z.backward(pull)
        for name in ("W_query", "W_key", "W_value"):
            for kind in ("weight", "bias"):
                close(
                    mine.part.get_parameter(f"{name}.{kind}").grad,
                    theirs.get_parameter(f"{name}.{kind}").grad.to_local(),
                    name,
                )
        close(
            mine.part.out_proj.weight.grad,
            theirs.out_proj.weight.grad.to_local(),
            "out_proj",
        )
        print("DTensor")

        # Four heads of six, over three processes: 24 rows divide, heads do not.
        wrong = MultiHeadAttention(D_IN, 24, 11, 0.0, 4, dtype=torch.float64)
        right = wrong(x)
        try:
            TensorParallelAttention(wrong)
        except ValueError as error:
            print(error)
        parallelize_module(wrong, mesh, {**plan, "out_proj": RowwiseParallel()})
        wrong.num_heads //= P
        out = wrong(x)
        assert out.shape == right.shape
        print("silent:", bool((out - right).abs().max() > 0.05))

        # Processes drop other entries, and go on alike.
        drops = multi(qkv_bias=False, attend=attention)
        drops.dropout.p = 0.5
        with torch.no_grad():  # heads differ by what they drop alone
            for layer in (drops.W_query, drops.W_key, drops.W_value):
                layer.weight.copy_(layer.weight[:D].repeat(H, 1))
        part = TensorParallelAttention(drops)
        kept = []
        part.part.out_proj.register_forward_pre_hook(lambda _, z: kept.append(z[0]))
        out = part(x.detach())
        seen = [None] * P
        dist.all_gather_object(seen, kept[-1][..., :D])
        print("others:", [not torch.equal(seen[0], z) for z in seen[1:]])
        dist.all_gather_object(seen, (out, torch.rand(2)))
        same = [torch.equal(a, b) for z in seen for a, b in zip(z, seen[0])]
        print("alike:", all(same))

        # Weights that are not alike.
        torch.manual_seed(rank)
        for module in (multi(), grouped(3)):
            try:
                TensorParallelAttention(module)
            except ValueError as error:
                print(error)
        """
        )
    )
    assert print_in_processes(program, 3).splitlines() == [
        "values and gradients",
        "DTensor",
        "processes must divide num_heads; got processes=3, num_heads=4.",
        "silent: True",
        "others: [True, True]",
        "alike: True",
        *[
            "attention must have the same weights in all processes; got different "
            "ones for "
            + ", ".join(
                f"{name}.{kind}"
                for name in ("W_query", "W_key", "W_value", "out_proj")
                for kind in ("weight", "bias")
            )
            + "."
        ]
        * 2,
    ]


@pytest.mark.slow
def test_four_processes_two_with_a_copy_each() -> None:
    """Copies of a head in some processes: a group in the group, and a group of some."""
    program = (
        THREE.replace("D, H, T = 5, 4, 6, 7", "D, H, T = 5, 2, 8, 7")
        + "\n\n"
        + cleandoc(
            """

        compare(grouped(2, rotate=Rotary(D)), copies=2)
        half = dist.new_group([1, 3])
        if rank in (1, 3):
            whole = grouped(1)
            x = torch.randn(2, T, D_IN, dtype=torch.float64)
            close(TensorParallelAttention(whole, half)(x), whole(x), "half")
        dist.barrier()
        print("done")
        """
        )
    )
    assert print_in_processes(program, 4) == "done\n"


@pytest.mark.slow
def test_two_processes() -> None:
    program = (
        THREE
        + "\n\n"
        + cleandoc(
            """

        compare(multi(rotate=Rotary(D)))
        compare(grouped(2, bias=T5Bias(H).double()))
        compare(grouped(1, causal=False), copies=2)
        print("done")
        """
        )
    )
    assert print_in_processes(program, 2) == "done\n"
