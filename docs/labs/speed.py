# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Speed and memory
#
# A processor is fastest at a plain matrix product, which uses each number of two tables
# many times.
# Attention is two such products with a softmax between them, so it cannot be faster.
# This lab asks: **how close does it come, what does it keep in memory, and where does
# the time go?**
#
# All times here were measured for this site, on the machine that built it, and the
# program wrote the sentences that name them.
# It is a machine without a GPU.
# Run the program on your machine, and its sentences will be about yours; in the
# repository it is `docs/labs/speed.py`, beside the folder `labkit`, which measures and
# draws.

# %%
import os
import platform
from functools import partial

import torch
from labkit.charts import bar_panels
from labkit.measuring import KEEP, Ledger, best, measure, set_memory
from labkit.report import say, table
from torch import nn

from headway import (
    MultiHeadAttention,
    attention,
    causal_mask,
    flash_attention,
    fused_attention,
)

H, D = 8, 64  # heads, and the width of each
E = H * D
LENGTHS = (128, 256, 512, 1024)
MIB = 2**20

set_memory(KEEP)
torch.set_num_threads(1)
torch.manual_seed(123)
say(f"{platform.system()} on {platform.machine()}, PyTorch {torch.__version__}.")

# %% [markdown]
# ## Three ways to attend
#
# - **Plain** is [`attention`](../basics/scaled_dot_product.md), which makes the whole
#   table of weights.
# - **In tiles** is [`flash_attention`](../kernels/flash_backward.md) of the package,
#   FlashAttention written in Python.
# - **Fused** is [`fused_attention`](../basics/pytorch.md), which calls PyTorch's
#   kernel.
#   It also works in tiles, and is written in C++.
#
# All are causal, in one text of eight heads of 64 numbers, in 32 bits.
# Queries, keys and values lie in memory as a projection leaves them.
# In training there is also a way back, from a gradient of the context to gradients of
# queries, keys and values.

# %%
PLAIN, TILES, FUSED = "plain", "in tiles", "fused"
ways = {PLAIN: attention, TILES: flash_attention, FUSED: fused_attention}


def inputs(tokens):
    made = torch.randn(4, 1, tokens, H, D).transpose(-3, -2)
    *inputs, gradient = made
    return [x.requires_grad_() for x in inputs], gradient


def only_forward(way, tensors):
    with torch.no_grad():
        return way(*tensors, causal=True)


def back_too(way, tensors, gradient):
    return torch.autograd.grad(way(*tensors, causal=True), tensors, gradient)


given, gradient = inputs(100)
results = [
    (only_forward(way, given), *back_too(way, given, gradient)) for way in ways.values()
]
for result in results[1:]:
    torch.testing.assert_close(result, results[0], atol=1e-4, rtol=1e-4)

# %% [markdown]
# All three give the same result, with the same gradients.
#
# ## Memory
#
# `Ledger` looks at every call that PyTorch makes, and counts the bytes of new tensors
# that are alive at the same time.
# This is a count, so it is the same in every run.
# It does not see the tile or two that a kernel written in C++ allocates for itself.


# %%
def peak(run):
    with Ledger() as ledger:
        run()
    return ledger.peak


peaks = {
    (name, tokens): peak(partial(back_too, way, *inputs(tokens)))
    for tokens in LENGTHS
    for name, way in ways.items()
}
rows = [
    [
        f"{tokens:,}",
        f"{H * tokens**2 * 4 / MIB:.1f}",
        *(f"{peaks[name, tokens] / MIB:.1f}" for name in ways),
    ]
    for tokens in LENGTHS
]
short, long = LENGTHS[0], LENGTHS[-1]
growth = {name: peaks[name, long] / peaks[name, short] for name in ways}
if not (
    peaks[PLAIN, long] > 2 * H * long**2 * 4
    and max(peaks[TILES, long], peaks[FUSED, long]) < H * long**2 * 4
    and growth[PLAIN] > (long / short) ** 1.8
    and max(growth[TILES], growth[FUSED]) < 1.2 * long / short
):
    raise AssertionError(peaks, growth)
table(["MiB, tokens", "one table of weights", *ways], rows)
say(
    f"From {short:,} tokens to {long:,}, {long // short} times as many, the peak of "
    f"plain attention grows {growth[PLAIN]:.0f} times, in tiles {growth[TILES]:.0f} "
    f"times, and fused {growth[FUSED]:.0f} times.",
    f"With {long:,} tokens plain attention has "
    f"{peaks[PLAIN, long] / (H * long**2 * 4):.1f} tables of weights alive at once, on "
    "its way forward and back.",
)

# %% [markdown]
# ## Time
#
# To compare machines, times are turned into a rate, the number of multiplications and
# additions in a second.
# Only necessary operations count, those of a query with each key that it may see, once
# for its score and once for its context.
# On the way back there are twice as many.
# Anything beyond that, such as scores that a mask then hides or scores that are
# computed a second time, does not count, and lowers the rate.
#
# The yardstick is a **plain product**, 2,048 rows of 512 numbers by a square matrix,
# which is measured among the others.
# All run in turn, in changing order, in one thread, and the best time of each counts.
# It is the time that the processor worked, not the time on a clock on the wall.

# %%
PRODUCT = "plain product"
ROWS = 2048
factors = torch.randn(ROWS, E), torch.randn(E, E)


def product():
    return factors[0] @ factors[1]


def needed(tokens):
    """Count what a forward pass must multiply and add: two for each pair of numbers."""
    return 2 * 2 * H * D * tokens * (tokens + 1) // 2


def compare(seconds, runs, counts):
    """Measure some runs; give each one's share of the rate of the plain product."""
    measured = measure(seconds, {PRODUCT: product, **runs})
    times = {name: best(several) for name, several in measured.items()}
    rate = 2 * ROWS * E * E / times[PRODUCT]
    shares = {name: counts[name] / times[name] / rate for name in runs}
    return shares, times, measured


forward_shares, shares, efforts = {}, {}, {}
for tokens in LENGTHS:
    tensors, gradient = inputs(tokens)
    runs, counts = {}, {}
    for name, way in ways.items():
        runs[name, 1] = partial(only_forward, way, tensors)
        runs[name, 3] = partial(back_too, way, tensors, gradient)
        counts |= {(name, times): times * needed(tokens) for times in (1, 3)}
    found, _, measured = compare(1.0, runs, counts)
    forward_shares |= {(name, tokens): found[name, 1] for name in ways}
    shares |= {(name, tokens): found[name, 3] for name in ways}
    efforts[f"{tokens:,} tokens"] = {
        name: measured[name, 3].median(dim=0).values.tolist() for name in ways
    }


def percent(share):
    return f"{100 * share:.0f}&nbsp;%"


rows = [
    [
        f"{tokens:,}",
        *(percent(forward_shares[name, tokens]) for name in ways),
        *(percent(shares[name, tokens]) for name in ways),
    ]
    for tokens in LENGTHS
]
table(["tokens", *ways, *(f"{name}, and back" for name in ways)], rows)
say(
    f"With {long:,} tokens, forward and back, PyTorch's kernel reached "
    f"{percent(shares[FUSED, long])} of the rate of a plain product, plain attention "
    f"{percent(shares[PLAIN, long])}, and the package's tiles "
    f"{percent(shares[TILES, long])}.",
    f"With {short:,} tokens it was {percent(shares[FUSED, short])}, "
    f"{percent(shares[PLAIN, short])} and {percent(shares[TILES, short])}.",
)
bar_panels(
    {title: efforts[title] for title in list(efforts)[-2:]},
    "Time of the processor for attention forward and back: for the program and, "
    "behind it, for the system.",
)

# %% [markdown]
# Tiles written in Python are there to be read.
# Each tile is a handful of calls, and each call goes through memory again; in the
# kernel a tile stays where the processor is.
#
# ## Compiled
#
# [FlexAttention](../kernels/flex.md) writes a kernel for the mask that it is given, in
# C++, and has it compiled.
# That needs a compiler on this machine.
# On a CPU, this version of PyTorch supports it only forward.

# %%
# One kernel does not repay the time that headers take to be compiled in advance.
os.environ["TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS"] = "0"

from torch._dynamo.exc import BackendCompilerFailed
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

visible = create_block_mask(
    lambda batch, head, query, key: query >= key, None, None, long, long, device="cpu"
)
compiled = partial(torch.compile(flex_attention), block_mask=visible)


def flex(query, key, value, *, causal):
    return compiled(query, key, value)


tensors = [x.detach() for x in inputs(long)[0]]
try:
    only_forward(flex, tensors)
except BackendCompilerFailed:
    say("It could not be compiled on this machine, so it was left out.")
else:
    torch.testing.assert_close(
        only_forward(flex, tensors),
        only_forward(attention, tensors),
        atol=1e-5,
        rtol=1e-4,
    )
    runs = {
        name: partial(only_forward, way, tensors)
        for name, way in {"compiled": flex, FUSED: fused_attention}.items()
    }
    found, times, _ = compare(1.0, runs, dict.fromkeys(runs, needed(long)))
    say(
        f"Forward, with {long:,} tokens, compiled FlexAttention reached "
        f"{percent(found['compiled'])} of the rate of a plain product in this run, "
        f"and PyTorch's ready kernel {percent(found[FUSED])}: compiled took "
        f"{times['compiled'] / times[FUSED]:.2f} of the time of the kernel."
    )

# %% [markdown]
# ## A whole module
#
# A module has four projections around attention, which are plain products with a matrix
# for queries, keys, values and the output.
# They do not grow with the square of the length.
# Here is `MultiHeadAttention`, 512 wide, with each of the three ways, and PyTorch's
# `nn.MultiheadAttention`, forward and back, on one text.

# %%
THEIRS = "nn.MultiheadAttention"


def module(attend):
    return MultiHeadAttention(E, E, long, 0.0, H, attend=attend)


def only_projections(query, key, value, **options):
    """Stand in for attention: as good as no time, and all gradients flow."""
    return query + key + value


modules = {name: module(way) for name, way in ways.items()}
theirs = nn.MultiheadAttention(E, H, bias=False, batch_first=True)
no_attention = module(only_projections)


hidden = ~causal_mask(long)


def call_theirs(x):
    mask = hidden[: x.shape[-2], : x.shape[-2]]
    options = {"attn_mask": mask, "is_causal": True, "need_weights": False}
    return theirs(x, x, x, **options)[0]


def train(run, x, gradient, weights):
    return torch.autograd.grad(run(x), [x, *weights], gradient)


steps = {**modules, THEIRS: call_theirs}
weights = {name: [*one.parameters()] for name, one in modules.items()}
weights[THEIRS] = [theirs.in_proj_weight, theirs.out_proj.weight]
rows, parts, module_times = [], [], {}
for tokens in LENGTHS:
    x = torch.randn(1, tokens, E, requires_grad=True)
    gradient = torch.randn(1, tokens, E)
    runs = {
        name: partial(train, run, x, gradient, weights[name])
        for name, run in steps.items()
    }
    projections = 4 * 2 * tokens * E * E
    counts = dict.fromkeys(runs, 3 * (projections + needed(tokens)))
    bytes_alive = [f"{peak(run) / MIB:.1f}" for run in runs.values()]
    bare = {
        "projections": partial(
            train, no_attention, x, gradient, [*no_attention.parameters()]
        ),
        "kernel": partial(back_too, fused_attention, *inputs(tokens)),
    }
    counts |= {"projections": 3 * projections, "kernel": 3 * needed(tokens)}
    found, times, _ = compare(1.0, runs | bare, counts)
    rows.append(
        [f"{tokens:,}", *(percent(found[name]) for name in steps), *bytes_alive]
    )
    part = {name: times[name] / times[FUSED] for name in bare}
    module_times[tokens] = {name: times[name] / times[FUSED] for name in steps}
    share = needed(tokens) / (projections + needed(tokens))
    part["rest"] = 1 - sum(part.values())
    parts.append(
        [
            f"{tokens:,}",
            *(percent(one) for one in part.values()),
            percent(share),
            percent(found["projections"]),
            percent(found["kernel"]),
        ]
    )

table(["tokens", *steps, *(f"MiB, {name}" for name in steps)], rows)

# %% [markdown]
# The first columns give the rate of each module as a percentage of the rate of the
# plain product, the others how many MiB of new tensors were alive at the same time.

# %%
say(
    f"With {long:,} tokens, `nn.MultiheadAttention` took "
    f"{module_times[long][THEIRS]:.2f} times as long as `MultiHeadAttention` with the "
    f"kernel, which is what it comes with; the same module with plain attention took "
    f"{module_times[long][PLAIN]:.2f} times as long, and in tiles "
    f"{module_times[long][TILES]:.2f} times.",
)

# %% [markdown]
# ## Where the time goes
#
# The table splits the time of the module with the kernel into the time of its
# projections, measured in a module in which nothing attends, the time of the kernel
# alone, and the rest, each as a percentage of the time of the module.
# The rest is a difference of two nearly equal times, so it can come out below zero.
# The other columns give the share of attention in the multiplications, and the rates of
# both parts.

# %%
columns = ["projections", "kernel", "rest", "attention's share of the multiplications"]
rates = ["rate of the projections", "rate of the kernel"]
table(["tokens", *columns, *rates], parts)
say(
    f"With {long:,} tokens the kernel did {parts[-1][4]} of the work, and took "
    f"{parts[-1][2]} of the time."
)

# %% [markdown]
# ## The answer
#
# The projections are plain products.
# The kernel does what the softmax needs between its products.
# It computes more scores than a causal text has, because it works in tiles, and on the
# way back it computes each score a second time instead of keeping it.
# For these reasons a kernel has a lower rate than a plain product, and a module falls
# behind as a text gets longer.
#
# What the tiles save is memory.
# The table of weights grows with the square of the length, and neither the package's
# tiles nor the kernel's make one.
#
# All this was measured on a CPU, in one thread; a GPU may well give other answers.
#
# Back to [FlashAttention's backward pass](../kernels/flash_backward.md), or to
# [the lab on decoding](decoding.md).
