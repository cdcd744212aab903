# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Stacked or split?
#
# Several heads can be a list of small modules, or one large projection that is split.
# [Several heads](../basics/multi_head_attention.md) shows that both compute the same.
# It is often said that splitting is more efficient, since one matrix product does the
# work of many.
# This lab asks: **is that true, and if not, why not?**
#
# Three modules take part.
#
# - **Stacked** is `MultiHeadAttentionWrapper`, one head after the other.
# - **Split** is `MultiHeadAttention` with `attend=attention`, all heads at once, in
#   plain tensor operations.
# - **Fused** is `MultiHeadAttention` with its defaults, all heads at once, in PyTorch's
#   fused kernel.
#
# All times here were measured for this site, on the machine that built it, and the
# program wrote the sentences that name them.
# It is a machine without a GPU, so nothing here is about GPUs.
# Run the program on your machine, and its sentences will be about yours; in the
# repository it is `docs/labs/stacked_or_split.py`, beside the folder `labkit`, which
# measures and draws.

# %%
import platform
import resource
from functools import partial

import torch
from labkit.charts import bar_panels
from labkit.measuring import END, KEEP, START, Ledger, best, measure, set_memory
from labkit.report import say, table
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from headway import (
    MultiHeadAttentionWrapper,
    attention,
    causal_mask,
    from_heads,
    fused_attention,
    split_heads,
    to_torch,
)

E, H = 768, 12  # as in the smallest GPT-2
MIB = 2**20

say(
    f"{platform.system()} on {platform.machine()}, PyTorch {torch.__version__}.",
)

# %% [markdown]
# ## Three modules, one function
#
# The weights are the same.
# Stacked heads have no output projection of their own; they get the one of the others,
# so that all three do the same work.


# %%
def build(T):
    """Build the three modules with the same weights."""
    torch.manual_seed(123)
    heads = MultiHeadAttentionWrapper(E, E // H, T, 0.0, H)
    fused = from_heads(heads)
    return {
        "stacked": nn.Sequential(heads, fused.out_proj),
        "split": from_heads(heads, attend=attention),
        "fused": fused,
    }


def forward(module, x):
    with torch.no_grad():
        return module(x)


def training(module, x):
    """Go forward and backward, as for a module in the middle of a model."""
    module.zero_grad()
    x = x.detach().requires_grad_()
    module(x).backward(x.detach())


x, modules = torch.randn(2, 96, E), build(96)
for module in modules.values():
    torch.testing.assert_close(forward(module, x), forward(modules["stacked"], x))

# %% [markdown]
# Everything runs in one thread.
# Then the time that a processor works for this program is what a clock would show on a
# machine with nothing else to do, and other programs hardly disturb it.
#
# The lab also fixes what happens to a block of memory when the program is done with it.
# It can be kept for the next tensor or given back to the system, and that will matter
# below.
#
# <details markdown="1"><summary>How a program gives memory back</summary>
#
# glibc, the C library of most Linux systems, gives a freed block of memory back to the
# system if the block is larger than a limit.
# The limit starts at 128 KiB and grows with the blocks that a program frees, up to
# 32 MiB.
# The lab sets it with `set_memory`, so that each run of the page finds the same: as the
# limit starts, as it may end, or so that all memory is kept.
#
# </details>

# %%
set_memory(START)
torch.set_num_threads(1)

# %% [markdown]
# ## What can be counted
#
# Before we read any clock, how many matrix products are there, how many kernels are
# called, and how much memory do the tensors take that are alive at the same time?
# `Ledger` sees every call that PyTorch makes, but not the memory that a kernel uses
# inside for a moment.

# %%
with Ledger() as ledger:
    kept, dropped = torch.zeros(MIB), [torch.zeros(2 * MIB).shape for _ in range(3)]
torch.testing.assert_close((ledger.calls["zeros"], ledger.peak), (4, 3 * 4 * MIB))


B, T = 1, 1024
x, modules = torch.randn(B, T, E), build(T)
rows, products, peak = [], {}, {}
for name, module in modules.items():
    cells = [name]
    for step in (forward, training):
        with Ledger() as ledger:
            step(module, x)
        count = sum(ledger.calls[kind] for kind in ("mm", "addmm", "bmm"))
        products[name, step], peak[name, step] = count, ledger.peak / MIB
        cells += [f"{count}", f"{ledger.calls.total()}", f"{ledger.peak / MIB:.0f}"]
    rows.append(cells)

square = T * T * 4 / MIB
if not (
    products["fused", forward] < products["split", forward] < H
    and products["stacked", forward] > H
    and peak["fused", forward] < H * square < peak["split", forward]
    and peak["stacked", forward] < H * square < peak["stacked", training]
):
    raise AssertionError(products, peak)

columns = ["products", "kernels", "MiB at most"]
table([f"{B} &times; {T} tokens", *columns, *(f"{c}, training" for c in columns)], rows)
say(
    f"Splitting takes {products['split', forward]} matrix products instead of "
    f"{products['stacked', forward]}. So far the saying is right. But the products "
    "are larger, and hold the same multiplications.",
    f"All heads at once hold {peak['split', forward]:.0f} MiB, one after another "
    f"{peak['stacked', forward]:.0f} MiB. The T &times; T scores of one head fill "
    f"{square:.0f} MiB, those of all {H} heads {H * square:.0f}, and "
    "several such tensors are alive at once.",
    "Training keeps such tensors for the backward pass, so there stacked heads, too, "
    f"need {peak['stacked', training]:.0f} MiB.",
    f"The fused kernel makes none of them: {peak['fused', forward]:.0f} MiB in all, "
    f"and {peak['fused', training]:.0f} MiB in training.",
)

# %% [markdown]
# ## What should follow
#
# There are three suspects for what decides which way is faster.
#
# 1. **Products.** One wide matrix product uses a processor better than twelve narrow
#    ones. That speaks for splitting, and is the saying.
# 2. **Cache.** The scores of one head may stay in a processor's cache, but those of all
#    heads do not fit. That speaks against it.
# 3. **Fresh memory.** A block that was given back is fresh the next time, because the
#    system hands over new pages and first fills each with zeros. That speaks against
#    blocks that are larger than the limit.
#
# To tell them apart, each part runs by itself, forward, with each way of handling
# memory.
# The system reports how long the processor worked for the program, how long for the
# system on its behalf, and how many new pages the program took.
#
# If the cache is to blame, all heads at once are slower however memory is handled.
# If fresh memory is to blame, they are slower only where they take new pages and one
# head does not.

# %%
heads = modules["stacked"][0].heads
narrow = [p for head in heads for p in (head.W_query, head.W_key, head.W_value)]
wide = [getattr(modules["fused"], f"W_{name}") for name in ("query", "key", "value")]
mask = causal_mask(T)
with torch.no_grad():
    q, k, v = (split_heads(project(x), H).contiguous() for project in wide)
one_by_one = list(zip(q.unbind(1), k.unbind(1), v.unbind(1), strict=True))

NARROW, WIDE = f"{len(narrow)} narrow projections", f"{len(wide)} wide projections"
ONE, ALL, FUSED = "attention, head by head", "attention, all heads", "attention, fused"
parts = {
    NARROW: lambda: [project(x) for project in narrow],
    WIDE: lambda: [project(x) for project in wide],
    ONE: lambda: [attention(*head, mask=mask) for head in one_by_one],
    ALL: lambda: attention(q, k, v, mask=mask),
    FUSED: lambda: fused_attention(q, k, v, causal=True),
}

efforts = {}
for how in dict.fromkeys((START, END, KEEP)):
    set_memory(how)
    with torch.no_grad():
        measured = measure(2.0, parts)
    # The median, since the first passes of each way take pages that later ones keep.
    efforts[how] = {
        name: rows.median(dim=0).values.tolist() for name, rows in measured.items()
    }


# %%
bar_panels(
    efforts,
    f"Time of the processor for one forward pass of {B} &times; {T} tokens: for the "
    "program and, behind it, for the system.",
)


# %%
def cost(how, name):
    """Give the time of program and system together."""
    return sum(efforts[how][name][:2])


def added(name, instead_of):
    """Say for each way of handling memory what splitting adds to the time."""
    differences = [cost(how, name) - cost(how, instead_of) for how in efforts]
    return [f"{ms:+.0f}".replace("-", "&minus;") for ms in differences]


def difference(saved):
    """Say what a share of the time that was saved, or lost, amounts to."""
    percent = round(100 * abs(saved))
    if percent == 0:
        return "changes less than 1%"
    return f"{'saves' if saved > 0 else 'costs'} {percent}%"


def taken(name):
    return [f"{effort[name][2]:,.0f}" for effort in efforts.values()]


table(
    [f"{B} &times; {T} tokens, forward", *efforts],
    [
        ["projections: ms that splitting adds", *added(WIDE, NARROW)],
        ["attention: ms that splitting adds", *added(ALL, ONE)],
        ["new pages, attention head by head", *taken(ONE)],
        ["new pages, attention of all heads", *taken(ALL)],
    ],
)
whole = cost(KEEP, NARROW) + cost(KEEP, ONE)
saved = (cost(KEEP, NARROW) - cost(KEEP, WIDE)) / whole
cached, refilled = (cost(how, ALL) / cost(how, ONE) for how in (KEEP, END))
fresh = efforts[END][ALL][2] * resource.getpagesize() / (H * square * MIB)
say(
    f"**Products.** With {KEEP}, wide projections took "
    f"{cost(KEEP, WIDE) / cost(KEEP, NARROW):.2f} of the time of narrow ones. Of the "
    f"time of projections and attention together, that {difference(saved)}.",
    f"**Cache.** With {KEEP}, attention of all heads took {cached:.2f} of the time of "
    "head by head.",
    f"**Fresh memory.** With {END}, it took {refilled:.2f} of that time. In each pass "
    f"its new pages are {fresh:.1f} times the scores of all heads.",
    f"With {START}, where the blocks of one head are given back, too, it took "
    f"{cost(START, ALL) / cost(START, ONE):.2f}.",
    f"The fused kernel took {cost(END, FUSED) / cost(END, ONE):.2f}, with {END}.",
)

# %% [markdown]
# ## What the clock says
#
# Now the whole modules at several sizes, forward and in training.
# Memory is handled as in a program that has run for a while and freed large blocks.
# The three modules run in turn, in changing order, and the best time of each counts.
# A ratio below 1 means less time than the stacked heads.

# %%
set_memory(END)
WAYS = {forward: "Forward", training: "Forward and backward"}
rows, page_rows, ratios = [], [], {}
for B, T in [(1, 128), (16, 128), (4, 512), (1, 1024)]:
    x, modules = torch.randn(B, T, E), build(T)
    cells = [f"{B} &times; {T}"]
    for step in WAYS:
        runs = {name: partial(step, module, x) for name, module in modules.items()}
        measured = measure(1.0, runs)
        times = {name: best(several) for name, several in measured.items()}
        if step is forward:
            pages = [several[:, 2].median() for several in measured.values()]
            page_rows.append([*cells, *(f"{count:,.0f}" for count in pages)])
        cells.append(f"{times['stacked']:.1f}&nbsp;ms")
        for name in ("split", "fused"):
            ratio = times[name] / times["stacked"]
            ratios.setdefault((step, name), []).append(ratio)
            cells.append(f"{ratio:.2f}")
    rows.append(cells)

columns = ["stacked", "split", "fused"]
table(["batch &times; tokens", *columns, *(f"{c}, training" for c in columns)], rows)
table(["new pages in a forward pass", *columns], page_rows)
say(
    *(
        f"{way}, {name} heads took {min(of_all):.2f} to {max(of_all):.2f} of the time "
        f"of stacked ones, and less time in {sum(r < 1 for r in of_all)} of "
        f"{len(of_all)} shapes."
        for name in ("split", "fused")
        for step, way in WAYS.items()
        for of_all in [ratios[step, name]]
    )
)

# %% [markdown]
# ## The answer
#
# Which of the three suspects was it?

# %%
GUILTY = 1.05  # a ratio below this may be chance
if refilled < GUILTY:
    verdict = (
        "On this machine it was none of them. Even with memory given back, all heads "
        f"at once took {refilled:.2f} of the time of one after another."
    )
elif cached < GUILTY:
    verdict = (
        f"**It was fresh memory, and not the cache.** With {KEEP}, all heads at once "
        f"took {cached:.2f} of the time of one after another, although a cache that "
        f"was too small would have slowed them there as well. With {END}, they took "
        f"{refilled:.2f}."
    )
else:
    verdict = (
        f"**The cache has a part in it.** Even with {KEEP}, all heads at once took "
        f"{cached:.2f} of the time of one after another. With {END}, it was "
        f"{refilled:.2f}, and the rest is fresh memory."
    )
say(
    verdict,
    "What the saying promises, wide products in the place of narrow ones, "
    f"{difference(saved)} of the whole time.",
)

# %% [markdown]
# The saying counts products.
# But a few wide products hold the same multiplications as many narrow ones, so the only
# possible gain is a better use of the processor, in a part of the work.
#
# The cost of splitting is memory, in tensors for all heads at once, whereas stacked
# heads use a small piece again and again.
# Whether that takes time has nothing to do with attention.
# It depends on whether such a block is given back and must be fresh, and so on the
# system, on the sizes, and even on what the program did before.
# This is why one measurement finds stacked heads faster, and the next one split heads.
#
# The fused kernel ends the dispute.
# It has the wide products, and needs no T &times; T tensor, not even for one head.
#
# ## Beside PyTorch's own module
#
# Is the fused module any good?
# It has two goals.
# In training it should take no longer than `nn.MultiheadAttention` with the same
# weights, and forward it should reach 80% of the rate of a plain matrix product, in
# operations a second.
#
# The second depends on how operations are counted.
# Each pair of a query and a key costs a multiplication and an addition for each number
# of the key, and again for the value.
# A causal module needs only half of the pairs, those of the past.
# We count those pairs, and for comparison all of them, as is often done.


# %%
def work(B, T, pairs):
    """Count the multiplications and additions of projections and of attention."""
    return 2 * B * (4 * T * E * E + 2 * E * pairs)


with FlopCounterMode(display=False) as counter:
    forward(build(96)["split"], torch.randn(2, 96, E))
torch.testing.assert_close(counter.get_total_flops(), work(2, 96, 96 * 96))


class Theirs(nn.Module):
    """PyTorch's module with our weights, called as ours is."""

    def __init__(self, ours, T):
        super().__init__()
        self.attend = to_torch(ours)
        self.hidden = ~causal_mask(T)

    def forward(self, x):
        options = {"attn_mask": self.hidden, "is_causal": True, "need_weights": False}
        return self.attend(x, x, x, **options)[0]


def multiply(x, weight, repeats):
    """Multiply as often as makes about the work of a module, to time like with like."""
    for _ in range(repeats):
        x @ weight


def reached(goal):
    return "reached" if goal else "missed"


BLOCK = 512
rows, verdicts = [], []
for B, T in [(1, 1024), (4, 512)]:
    x, ours = torch.randn(B, T, E), build(T)["fused"]
    theirs, resting = Theirs(ours, T), Theirs(ours, T).eval()
    torch.testing.assert_close(forward(ours, x), forward(theirs, x))
    torch.testing.assert_close(forward(ours, x), forward(resting, x))

    runs = {"ours": partial(training, ours, x), "theirs": partial(training, theirs, x)}
    trained = measure(2.0, runs)
    ratio = best(trained["ours"]) / best(trained["theirs"])

    past, all_pairs = work(B, T, T * (T + 1) // 2), work(B, T, T * T)
    one_product = 2 * B * T * E * E
    repeats = round(past / one_product)
    kernel = partial(fused_attention, *(split_heads(x, H) for _ in range(3)))
    runs = {
        "plain": partial(multiply, x.view(B * T, E), torch.randn(E, E), repeats),
        "ours": partial(forward, ours, x),
        "theirs": partial(forward, theirs, x),
        "resting": partial(forward, resting, x),
        "past": partial(kernel, causal=True),
        "all pairs": kernel,
    }
    times = {name: best(several) for name, several in measure(2.0, runs).items()}
    as_plain = one_product * repeats / times["plain"] * times["ours"]
    rate, full_rate = past / as_plain, all_pairs / as_plain
    halved = times["past"] / times["all pairs"]
    in_blocks = sum(min(T, BLOCK * (t // BLOCK + 1)) for t in range(T)) / T**2

    shape = f"{B} &times; {T}"
    to_theirs = [
        ratio,
        *(times["ours"] / times[name] for name in ("theirs", "resting")),
    ]
    rows.append(
        [shape, *(f"{r:.2f}" for r in to_theirs), f"{rate:.0%}", f"{full_rate:.0%}"]
    )
    verdicts += [
        f"{shape}, training: {ratio:.2f} of the time of PyTorch's module. The goal, 1, "
        f"is {reached(round(ratio, 2) <= 1)}.",
        f"{shape}, forward: {rate:.0%} of the rate of a plain product. The goal, 80%, "
        f"is {reached(round(rate, 2) >= 0.8)}. If all pairs count, it is "
        f"{full_rate:.0%}, and {reached(round(full_rate, 2) >= 0.8)}.",
        f"{shape}, the kernel alone: the pairs of the past took {halved:.2f} of the "
        f"time of all pairs. Blocks of {BLOCK} keys would make it {in_blocks:.2f}.",
    ]

table(
    [
        "batch &times; tokens",
        "time to PyTorch's, training",
        "forward",
        "forward, theirs in eval()",
        "rate to a plain product, past",
        "all pairs",
    ],
    rows,
)
say(*verdicts)

# %% [markdown]
# The last line of each shape explains the one before.
# Half of the pairs should take half of the time.
# But PyTorch's kernel for CPUs goes through the keys in blocks, and it computes every
# block that holds any key of the past as a whole.
# The shorter the text, the more of the hidden half is computed and thrown away.
#
# All this was measured on a CPU; a GPU may well give other answers.
#
# Back to [Several heads](../basics/multi_head_attention.md), or to
# [the lab on √d_k](why_sqrt_dk.md).
