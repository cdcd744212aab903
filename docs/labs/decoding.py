# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Decoding
#
# A model that writes makes one token at a time, which is called **decoding**.
# For each token it goes through the keys and values of all tokens before it.
# [Heads that share keys and values](../decoding/grouped_query.md) counts this work:
# with fewer shared heads there are fewer bytes, and as many multiplications as before.
# This lab asks: **if there is less to read, does a token take less time by as much?**
#
# All times here were measured for this site, on the machine that built it, and the
# program wrote the sentences that name them.
# It is a machine without a GPU.
# Run the program on your machine, and its sentences will be about yours; in the
# repository it is `docs/labs/decoding.py`, beside the folder `labkit`, which measures
# and draws.

# %%
import platform
from functools import partial

import torch
from labkit.charts import bar_panels
from labkit.measuring import KEEP, Ledger, best, measure, set_memory
from labkit.report import say, table
from torch.nn.functional import scaled_dot_product_attention as kernel

from headway import (
    GroupedQueryAttention,
    KeyValueCache,
    LatentAttention,
    Rotary,
    fused_attention,
    repeat_heads,
)

E, H = 4096, 32  # as in a layer of Llama 3 with 8 billion parameters
D = E // H
W = 1024  # the window
LATENT, ROPE = 512, 64  # as in DeepSeek-V2
MIB = 2**20

set_memory(KEEP)
torch.set_num_threads(1)
say(f"{platform.system()} on {platform.machine()}, PyTorch {torch.__version__}.")

# %% [markdown]
# ## Six ways to write a token
#
# Each is one layer of attention, 32 heads of 128 numbers, in 32 bits, with random
# weights.
#
# - **Multi-head.** Each head has keys and values of its own.
# - **Grouped.** Four heads share, so there are eight heads of keys and values.
# - **Multi-query.** All heads share.
# - **Window.** As multi-head, but only the newest 1,024 tokens are kept and seen.
# - **Latent.** Each token keeps one small vector, from which all heads make what they
#   need, and a key for its position.
#   This is [latent attention](../decoding/latent_attention.md) in its absorbed form.
# - **Copied.** As grouped, but the shared heads are copied for each head before they
#   are used, with `repeat_heads`.
#   The package's module makes no copies, because it gives keys and values an axis of
#   length one for the heads that share, and the kernel reads them where they are.
#
# Keys and values are kept in a block of memory that is allocated once, as in programs
# for production.
# `Full` is such a cache in which all places but one are taken, so that each step writes
# the last token and reads everything.


# %%
class Full:
    """A cache with room for one more token, in which each step writes that one."""

    def __init__(self, groups, tokens, window=None, widths=(D, D)):
        self.length = tokens - 1
        if window is not None:
            self.window = window
        kept = tokens if window is None else min(tokens, window)
        self.key, self.value = (torch.randn(1, groups, kept, w) for w in widths)
        self.positions = torch.arange(tokens - kept, tokens)

    def append(self, key, value, positions):
        self.key[..., -1:, :], self.value[..., -1:, :] = key, value
        return self.key, self.value, self.positions

    def nbytes(self):
        return self.key.nbytes + self.value.nbytes


def with_copies(query, key, value, **options):
    """Attend to copies: one of each shared head for each head of queries."""
    sharing = query.shape[-3]
    copies = (repeat_heads(x.squeeze(-3), sharing) for x in (key, value))
    key, value = (x.unflatten(-3, (-1, sharing)) for x in copies)
    return fused_attention(query, key, value, **options)


def layer(groups, **options):
    torch.manual_seed(123)
    return GroupedQueryAttention(E, E, 2**17, 0.0, H, num_kv_heads=groups, **options)


MANY, GROUPED, ONE = "multi-head", "grouped", "multi-query"
WINDOW, SMALL, COPIED = "window", "latent", "copied"
layers = {
    MANY: layer(32),
    GROUPED: layer(8),
    ONE: layer(1),
    WINDOW: layer(32, window=W),
    SMALL: LatentAttention(
        *(E, E, 2**17, 0.0, H), d_latent=LATENT, d_rope=ROPE, rotate=Rotary(ROPE)
    ),
    COPIED: layer(8, attend=with_copies),
}
x = torch.randn(1, 1, E)


def step(name, cache):
    options = {"absorb": True} if name == SMALL else {}
    with torch.no_grad():
        return layers[name](x, cache=cache, **options)


def caches(tokens):
    return {
        name: Full(1, tokens, widths=(LATENT, ROPE))
        if name == SMALL
        else Full(module.num_kv_heads, tokens, module.window)
        for name, module in layers.items()
    }


# %% [markdown]
# Copies change only the time; the same keys and values give the same result.

# %%
some = Full(8, 100)
torch.testing.assert_close(step(GROUPED, some), step(COPIED, some))

# %% [markdown]
# ## What can be counted
#
# A step must read the cache and the weights of the layer, each number at least once.
# `Ledger` counts what a way of attending allocates in addition.
# It looks at every call that PyTorch makes, and counts the bytes of new tensors that
# are alive at the same time.

# %%
TOKENS = 8192
full = caches(TOKENS)
weights = {
    name: sum(w.nbytes for w in module.parameters()) for name, module in layers.items()
}


def made_by(name, cache):
    """Count the bytes of the new tensors that are alive at once in a step."""
    with Ledger() as ledger:
        step(name, cache)
    return ledger.peak


rows, made = [], {}
for name, cache in full.items():
    made[name] = made_by(name, cache)
    sizes = [cache.nbytes(), weights[name], made[name]]
    rows.append([name, *(f"{size / MIB:.1f}" for size in sizes)])

kept = {name: cache.nbytes() for name, cache in full.items()}
if not (
    kept[MANY] == 2 * H * TOKENS * D * 4
    and kept[GROUPED] * 4 == kept[ONE] * H == kept[MANY]
    and kept[WINDOW] * TOKENS == kept[MANY] * W
    and kept[SMALL] == (LATENT + ROPE) * TOKENS * 4
    and max(made[name] for name in (MANY, GROUPED, ONE, WINDOW)) < MIB
    and made[COPIED] >= kept[MANY]
):
    raise AssertionError(kept, made)
table([f"MiB, {TOKENS:,} tokens kept", "cache", "weights", "new tensors"], rows)
say(
    f"With copies, {kept[GROUPED] / MIB:.0f} MiB are kept, and for each token "
    f"{made[COPIED] / MIB:.0f} MiB are made of them, as much as multi-head attention "
    "keeps. All of that is written, and read again.",
    f"Latent attention keeps {kept[SMALL] / MIB:.0f} MiB. The package's puts the two "
    f"parts of its keys side by side at each step, which makes {made[SMALL] / MIB:.0f} "
    "MiB.",
)

# %% [markdown]
# ## What should follow
#
# Each number that a step reads is used for one multiplication, or for a few.
# A processor does those while it waits for the next number.
# So if reading takes the time, the times of two ways should be in the ratio of the
# bytes that they move, which are the cache, the weights, and twice the new tensors,
# because those are written and read.
# If multiplying takes the time, multi-head, grouped and multi-query attention should
# differ only by their projections.
#
# Now the clock.
# All ways run in turn, in changing order, in one thread, and the best time of each
# counts.
# It is the time that the processor worked, not the time on a clock on the wall.


# %%
def moved(name, cache):
    """Count the bytes that a step must read, or write first."""
    return cache.nbytes() + weights[name] + 2 * made_by(name, cache)


rows, efforts, many_times, measured_ratio, counted_ratio = [], {}, {}, {}, {}
for tokens in (1024, 4096, TOKENS):
    ways = caches(tokens)
    measured = measure(4.0, {name: partial(step, name, ways[name]) for name in ways})
    times = {name: best(several) for name, several in measured.items()}
    many_times[tokens] = times[MANY]
    cells = [f"{tokens:,}", f"{times[MANY]:.0f}&nbsp;ms"]
    for name in list(ways)[1:]:
        counted = moved(name, ways[name]) / moved(MANY, ways[MANY])
        ratio = times[name] / times[MANY]
        counted_ratio[tokens, name], measured_ratio[tokens, name] = counted, ratio
        cells.append(f"{ratio:.2f} ({counted:.2f})")
    rows.append(cells)
    efforts[f"{tokens:,} tokens kept"] = {
        name: several.median(dim=0).values.tolist()
        for name, several in measured.items()
    }

table(["tokens kept", *layers], rows)
bar_panels(
    efforts,
    "Time of the processor to write one token, in one layer: for the program and, "
    "behind it, for the system.",
)

# %% [markdown]
# The table gives the time of each way as a fraction of the time of multi-head
# attention, and in brackets the fraction that the bytes predict.

# %%
read_only = [one for one in measured_ratio if one[1] != COPIED]
far = max(
    read_only,
    key=lambda one: abs(measured_ratio[one] - counted_ratio[one]),
)
last = {name: measured_ratio[TOKENS, name] for name in list(layers)[1:]}
few, many = 1024, TOKENS
per_cache = (many_times[many] - many_times[few]) / (2 * H * (many - few) * D * 4 / MIB)
per_weight = many_times[few] - per_cache * 2 * H * few * D * 4 / MIB
per_weight /= weights[MANY] / MIB
say(
    f"With {TOKENS:,} tokens kept, grouped attention took {last[GROUPED]:.2f} of the "
    f"time of multi-head attention, multi-query {last[ONE]:.2f}, a window "
    f"{last[WINDOW]:.2f}, and latent attention {last[SMALL]:.2f}. The bytes predict "
    + ", ".join(
        f"{counted_ratio[TOKENS, n]:.2f}" for n in (GROUPED, ONE, WINDOW, SMALL)
    )
    + ".",
    "Copies aside, the clock was farthest from the bytes at "
    f"{measured_ratio[far]:.2f} where they predict {counted_ratio[far]:.2f} "
    f"({far[1]}, {far[0]:,} tokens).",
    f"With multi-head attention, each further MiB of cache took {per_cache:.2f} ms, "
    f"and each MiB of weights {per_weight:.2f} ms. If the two differ, the bytes "
    "alone do not predict the time.",
    f"With copies, grouped attention took {last[COPIED]:.2f} of the time of multi-head "
    f"attention, and {last[COPIED] / last[GROUPED]:.1f} times that of grouped "
    "attention without.",
)

# %% [markdown]
# ## Attention alone
#
# The weights are read for every token, however many heads share keys.
# Without the projections, what is left is the cache and the kernel, which can be called
# in two ways.
#
# - **Head by head.** The kernel gets all heads of a group, each with a view of the
#   shared keys, without a copy.
#   It takes one head after the other, and goes through the keys each time.
# - **As tokens.** While one token asks, nothing is hidden from it, and to a kernel the
#   heads of a group are several queries with the same keys, as if they were several
#   tokens.
#   It goes through the keys once.
#   `fused_attention` does this, and so do all ways above.


# %%
def head_by_head(groups, tokens, queries):
    """Make a call of the kernel with shared keys under the name of each head."""
    shape = (groups, H // groups)
    query = torch.randn(*shape, queries, D)
    key, value = torch.randn(2, groups, 1, tokens, D)
    key, value = (x.expand(*shape, tokens, D) for x in (key, value))
    return partial(kernel, query, key, value, is_causal=queries > 1)


def as_tokens(groups, tokens):
    """Make a call in which the heads of a group are given as if they were tokens."""
    query = torch.randn(groups, 1, H // groups, D)
    return partial(kernel, query, *torch.randn(2, groups, 1, tokens, D))


rows, shares = [], {}
for title, tokens, queries in (
    ("one token", TOKENS, 1),
    ("the whole text", 1024, 1024),
):
    runs = {groups: head_by_head(groups, tokens, queries) for groups in (32, 8, 1)}
    if queries == 1:
        runs |= {f"{groups}, once": as_tokens(groups, tokens) for groups in (8, 1)}
    with torch.no_grad():
        measured = measure(3.0, runs)
    times = {name: best(several) for name, several in measured.items()}
    shares[title] = {name: ms / times[32] for name, ms in times.items()}
    ratios = [f"{share:.2f}" for share in shares[title].values()][1:]
    ratios += ["", ""][: 4 - len(ratios)]
    rows.append([f"{title}, {tokens:,} keys", f"{times[32]:.0f}&nbsp;ms", *ratios])
columns = ["32 heads of keys", "8 heads", "1 head", "8, as tokens", "1, as tokens"]
table(["queries", *columns], rows)
writing, reading = shares.values()
say(
    f"Writing one token, head by head, a quarter of the bytes took {writing[8]:.2f} of "
    f"the time, and a thirty-second of them {writing[1]:.2f}.",
    f"With the heads of a group given as tokens, they took {writing['8, once']:.2f} "
    f"and {writing['1, once']:.2f}.",
    f"Reading a text of 1,024 tokens at once, they took {reading[8]:.2f} and "
    f"{reading[1]:.2f}.",
)

# %% [markdown]
# Head by head, shared keys come from main memory only the first time, and then from the
# processor's cache, but that takes time as well.
#
# When a whole text is read at once, each key serves many queries while it is at hand,
# and multiplying takes the time.
# There are as many multiplications as before, so sharing gains little.
# It helps when one token asks at a time.
#
# ## A cache that grows
#
# `KeyValueCache` of the package puts each new token behind those that are kept.
# That needs no memory in advance, and is easy to read, but is it as fast as a block
# that is allocated once?


# %%
tokens, groups = 4096, 8
new = (*torch.randn(2, 1, groups, 1, D), torch.tensor([tokens - 1]))
block = Full(groups, tokens)


def grow():
    """Append one token to a cache that holds all the others."""
    cache = KeyValueCache()
    cache.append(block.key[..., :-1, :], block.value[..., :-1, :], block.positions[:-1])
    return cache.append(*new)


with torch.no_grad(), Ledger() as ledger:
    grow()
grown = ledger.peak
with torch.no_grad():
    measured = measure(
        2.0,
        {
            "attention": as_tokens(groups, tokens),
            "append": grow,
            "block": partial(block.append, *new),
        },
    )
times = {name: best(several) for name, several in measured.items()}
say(
    f"With {tokens:,} tokens kept in {groups} heads, {block.nbytes() / MIB:.0f} MiB, "
    f"one append made {grown / MIB:.0f} MiB of new tensors.",
    f"It took {times['append'] / times['attention']:.2f} of the time of attention "
    f"itself; writing into a block took {times['block'] / times['attention']:.2f}.",
)

# %% [markdown]
# ## The answer
#
# Writing a token is reading.
# Whatever need not be read saves time, whether heads share it, a window forgets it, or
# a small vector stands for it.
# The bytes predict well how much, if the program leaves them where they are and goes
# through them once.
# A copy is read, written and read again, which takes back what sharing has gained.
#
# All this was measured on a CPU, in one thread; a GPU may well give other answers.
#
# Back to [Heads that share keys and values](../decoding/grouped_query.md), or to
# [the lab on stacked heads](stacked_or_split.md).
