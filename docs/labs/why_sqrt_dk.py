# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Why √d_k
#
# Attention divides each score by √d_k, the square root of the width of queries and
# keys.
# [Why divide by the square root of the width](../basics/scaling.md) gives the reason.
# This lab draws it as curves, and asks: **why a square root, why of this width, and
# what happens if you divide by something else?**
#
# ## The experiment, in one table
#
# There are 512 queries, each with 64 keys of its own, in growing widths.
# All their numbers are drawn at random, independent of each other, with mean 0 and
# standard deviation 1.
# A model may look like this before training; training may change it.
#
# Three numbers say what the softmax makes of the scores, each as the mean over all
# queries.
#
# - The **largest** weight says how much one key takes.
# - The **entropy**, the sum of `-a ln a` over the weights `a`, says how evenly they are
#   shared; it is ln 64 ≈ 4.16 if all are equal, and 0 if one key takes all.
# - The **slope** is the sum of 64 slopes, each of which says how much a weight moves if
#   its own score moves a little.
#   A slope is `a (1 - a)`, so the sum is 1 minus the sum of `a²`.
#
# In the program, `einsum("td,tsd->ts", q, k)` multiplies query t with each key s of its
# own and adds up along d, which gives one score for each pair.
# `entr(a)` is `-a ln a`, and 0 where `a` is 0; `amax` takes the largest along an axis.

# %%
import torch

print("           not divided           divided by √d_k")
print(" d_k   largest entropy slope   largest entropy slope")
for d_k in (1, 4, 16, 64, 256, 1024):
    torch.manual_seed(123)
    q = torch.randn(512, d_k, dtype=torch.float64)
    k = torch.randn(512, 64, d_k, dtype=torch.float64)
    scores = torch.einsum("td,tsd->ts", q, k)
    line = f"{d_k:4}"
    for divisor in (1.0, d_k**0.5):
        a = torch.softmax(scores / divisor, dim=-1)
        largest = a.amax(dim=-1).mean()
        entropy = torch.special.entr(a).sum(dim=-1).mean()
        slope = (1 - (a * a).sum(dim=-1)).mean()
        line += f"   {largest:7.2f} {entropy:7.2f} {slope:5.2f}"
    print(line)

# %% [markdown]
# On the left, with wide queries and keys, a single key takes almost everything, and the
# slope is nearly gone.
# On the right, the width hardly matters.
#
# ## Four ways to divide
#
# Now the scores are divided in four ways.
# Two of them are mistakes that no shape reveals, namely dividing in two places of the
# code, and taking the width of the whole model, all heads together.
#
# This page is a program that ran for this site.
# Each sentence with a measured number in it was written by the program, and is one of
# its `claims`; had one been wrong, there would be no page.
# What draws and writes is in `labkit`, a folder beside this program.

# %%
from labkit.charts import line_chart
from labkit.report import claims

from headway import attention_scores, attention_weights

WIDTHS = [1, 4, 16, 64, 256, 1024]
QUERIES, KEYS, HEADS = 512, 64, 12

DIVISORS = {
    "not divided": lambda d_k: 1.0,
    "divided by √d_k": lambda d_k: d_k**0.5,
    "divided by √d_k twice": lambda d_k: d_k,
    f"divided by √({HEADS} d_k)": lambda d_k: (HEADS * d_k) ** 0.5,
}
NEVER, ONCE, TWICE, MODEL = DIVISORS


def draw(d_k):
    """Draw queries (Q, 1, d_k), each with keys of its own (Q, S, d_k)."""
    torch.manual_seed(123)
    query = torch.randn(QUERIES, d_k, dtype=torch.float64)
    key = torch.randn(QUERIES, KEYS, d_k, dtype=torch.float64)
    return query.unsqueeze(1), key


# %% [markdown]
# ## How far the scores spread
#
# A score is a sum of d_k products.
# Each product has mean 0 and variance 1, and the variances of independent numbers add
# up.
# (The variance is the square of the standard deviation.)
# So the variance of a score should be d_k, and its standard deviation √d_k.

# %%
spread = {divisor: [] for divisor in DIVISORS}
for d_k in WIDTHS:
    scores = attention_scores(*draw(d_k))
    for divisor, by in DIVISORS.items():
        spread[divisor].append(float((scores / by(d_k)).std()))

line_chart(
    "spread",
    "standard deviation of the scores",
    WIDTHS,
    spread,
    "Only one way of dividing gives a level line at 1.",
)

# %%
theory = [d_k**0.5 for d_k in WIDTHS]
error = max(abs(s / t - 1) for s, t in zip(spread[NEVER], theory, strict=True))
claims(
    (
        error < 0.1,
        f"Not divided, the scores spread as √d_k predicts, within {error:.1%}, from "
        f"{spread[NEVER][0]:.2f} at width {WIDTHS[0]} to "
        f"{spread[NEVER][-1]:.2f} at width {WIDTHS[-1]}.",
    ),
    (
        all(abs(s - 1) < 0.1 for s in spread[ONCE]),
        f"Divided by √d_k, their spread stays between {min(spread[ONCE]):.2f} "
        f"and {max(spread[ONCE]):.2f} at all widths.",
    ),
    (
        abs(spread[TWICE][-1] * theory[-1] - 1) < 0.1,
        "Divided twice, it shrinks as fast as it grew before, to "
        f"{spread[TWICE][-1]:.3f} at width {WIDTHS[-1]}.",
    ),
)

# %% [markdown]
# ## How many keys are heard
#
# The softmax turns the scores of a query into weights, one for each key.
# Their entropy says how evenly they are shared, and e to the power of it is a number of
# keys (the **perplexity**), which is all of them if the weights are equal, and one if a
# single key takes all.
# We call it the number of keys that are heard.


# %%
def heard(weights):
    """Count the keys that share the attention of each query."""
    return torch.special.entr(weights).sum(dim=-1).exp()


equal, single = torch.full((KEYS,), 1 / KEYS), torch.eye(KEYS)[0]
torch.testing.assert_close(heard(equal), torch.tensor(float(KEYS)))
torch.testing.assert_close(heard(single), torch.tensor(1.0))

ears = {divisor: [] for divisor in DIVISORS}
for d_k in WIDTHS:
    query, key = draw(d_k)
    for divisor, by in DIVISORS.items():
        weights = attention_weights(query, key, scale=1 / by(d_k))
        ears[divisor].append(float(heard(weights).mean()))

line_chart(
    "heard",
    f"keys heard, of {KEYS}",
    WIDTHS,
    ears,
    "Not divided, attention ends at one key. Divided twice, it ends at all of them.",
    log=False,
)

# %%
wide = slice(2, None)
claims(
    (
        ears[NEVER][-1] < 1.5 and ears[NEVER][2] > 4,
        f"Not divided, a query of width {WIDTHS[2]} hears {ears[NEVER][2]:.1f} "
        f"keys on average, and one of width {WIDTHS[-1]} hears "
        f"{ears[NEVER][-1]:.1f}. The width decides, not the contents of the vectors.",
    ),
    (
        max(ears[ONCE][wide]) / min(ears[ONCE][wide]) < 1.05,
        f"Divided by √d_k, it hears {min(ears[ONCE][wide]):.0f} to "
        f"{max(ears[ONCE][wide]):.0f} keys at every width from {WIDTHS[2]} on.",
    ),
    (
        ears[TWICE][-1] > 0.99 * KEYS,
        f"Divided twice, it hears {ears[TWICE][-1]:.1f} of {KEYS} at width "
        f"{WIDTHS[-1]}. It prefers none of them, and has become a plain mean.",
    ),
    (
        min(ears[MODEL]) > 1.2 * max(ears[ONCE]),
        "Divided by the root of the model's width, it hears "
        f"{min(ears[MODEL]):.0f} to {max(ears[MODEL]):.0f}, which is level but too "
        f"many. The mistake is a constant factor, √{HEADS}, so nothing seems broken.",
    ),
)

# %% [markdown]
# At width 1 three of the four divisors are the number 1.
# So a test with heads of width 1 cannot tell them apart, whatever it compares.

# %%
query, key = draw(1)
alike = {
    divisor: attention_weights(query, key, scale=1 / by(1))
    for divisor, by in DIVISORS.items()
}
claims(
    (
        torch.equal(alike[NEVER], alike[ONCE])
        and torch.equal(alike[TWICE], alike[ONCE])
        and not torch.equal(alike[MODEL], alike[ONCE]),
        "At width 1, not dividing, dividing, and dividing twice give the same "
        "weights to the last bit.",
    ),
)

# %% [markdown]
# ## What softmax passes back
#
# Training follows slopes.
# How much the weights `a` move when the scores move is a matrix, the Jacobian
# `diag(a) - a aᵀ`, with a row for each weight and a column for each score.
# The table above added up its diagonal, each weight with its own score.
# Here we take its size as a whole, the square root of the sum of its squares.
# We call both slope, but they differ, because on the way to saturation the sum of the
# diagonal only falls, while the size of the whole first rises.
# First we make sure that this is the matrix; PyTorch can derive it on its own.

# %%
a = torch.softmax(torch.randn(KEYS, dtype=torch.float64), dim=-1)
by_hand = torch.diag(a) - torch.outer(a, a)
by_torch = torch.autograd.functional.jacobian(
    lambda scores: scores.softmax(dim=-1),
    a.log(),
)
torch.testing.assert_close(by_torch, by_hand)


def slope(weights):
    """Give the size of diag(a) - a aᵀ for each query, without building it."""
    square = (weights**2).sum(dim=-1)
    cube = (weights**3).sum(dim=-1)
    return (square - 2 * cube + square**2).clamp(min=0).sqrt()


torch.testing.assert_close(slope(a), by_hand.norm())

slopes = {divisor: [] for divisor in DIVISORS}
for d_k in WIDTHS:
    query, key = draw(d_k)
    for divisor, by in DIVISORS.items():
        weights = attention_weights(query, key, scale=1 / by(d_k))
        slopes[divisor].append(float(slope(weights).median()))

line_chart(
    "slope",
    "size of the softmax gradient, median query",
    WIDTHS,
    slopes,
    "Half of the queries lie below each curve. Without division the slope first "
    "rises, and then it is gone.",
)

# %%
peak = max(slopes[NEVER])
at = WIDTHS[slopes[NEVER].index(peak)]
claims(
    (
        WIDTHS[0] < at < WIDTHS[-2] and peak > max(slopes[ONCE]),
        f"Not divided, the slope is largest, {peak:.2f}, at width {at}. There a few "
        "keys compete, and a small change decides between them.",
    ),
    (
        slopes[NEVER][-1] < 0.01 * slopes[ONCE][-1],
        f"At width {WIDTHS[-1]} it is {slopes[NEVER][-1]:.1e}, "
        f"{slopes[ONCE][-1] / slopes[NEVER][-1]:,.0f} times less than with division "
        "by √d_k. One key has taken all, and no small change will alter that; the "
        "softmax is saturated.",
    ),
    (
        min(slopes[TWICE]) > 0.6 * min(slopes[ONCE]),
        "Divided twice, the softmax itself has no trouble, with "
        f"{slopes[TWICE][-1]:.2f} against {slopes[ONCE][-1]:.2f}. "
        "Its trouble comes next.",
    ),
)

# %% [markdown]
# ## What reaches the query
#
# The softmax is one link of a chain.
# A query is trained by the gradient that arrives at it, and on the way from the scores
# to the query the slope is multiplied by the keys, which are longer the wider they are,
# and by the factor of the scores, 1/√d_k.
# A key is about √d_k long, so the two cancel if you divide once.
#
# Here is the size of that whole gradient, of the weights with respect to the query.
# Each curve is the median query; its band leaves out the lowest and the highest tenth.


# %%
def reach(query, key, scale):
    """Give the size of the gradient of the weights with respect to each query."""
    weights = attention_weights(query, key, scale=scale)
    from_the_mean = (key - weights @ key).norm(dim=-1)
    return scale * (weights.squeeze(1) * from_the_mean).norm(dim=-1)


query, key = draw(16)
by_torch = torch.autograd.functional.jacobian(
    lambda first: attention_weights(first, key[:1], scale=0.25),
    query[:1],
)
torch.testing.assert_close(reach(query, key, 0.25)[0], by_torch.norm())

deciles = torch.tensor([0.1, 0.5, 0.9], dtype=torch.float64)
tenth, median, ninth, mean = ({divisor: [] for divisor in DIVISORS} for _ in range(4))
for d_k in WIDTHS:
    query, key = draw(d_k)
    for divisor, by in DIVISORS.items():
        sizes = reach(query, key, 1 / by(d_k))
        low, middle, high = sizes.quantile(deciles).tolist()
        tenth[divisor].append(low)
        median[divisor].append(middle)
        ninth[divisor].append(high)
        mean[divisor].append(float(sizes.mean()))

line_chart(
    "reach",
    "size of the gradient at the query",
    WIDTHS,
    median,
    "Without division the band opens: many queries get next to nothing, and some "
    "get far too much.",
    bands={name: (tenth[name], ninth[name]) for name in (NEVER, ONCE)},
)

# %%
claims(
    (
        max(median[ONCE]) / min(median[ONCE]) < 1.3
        and tenth[ONCE][-1] > 0.8 * median[ONCE][-1],
        "Divided by √d_k, nearly the same signal arrives at every width, from "
        f"{min(median[ONCE]):.2f} to {max(median[ONCE]):.2f}. At width {WIDTHS[-1]} "
        f"nine queries in ten get {tenth[ONCE][-1]:.3f} or more.",
    ),
    (
        tenth[NEVER][-1] < 1e-6 and mean[NEVER][-1] > 2 * mean[NEVER][0],
        f"Not divided, at width {WIDTHS[-1]} one query in ten gets less than "
        f"{tenth[NEVER][-1]:.1e}, and one in ten more than {ninth[NEVER][-1]:.1f}. "
        f"The mean has even grown, from {mean[NEVER][0]:.2f} to "
        f"{mean[NEVER][-1]:.1f}. So not all gradients vanish. They are gone for many "
        "and far too large for some, and no step size suits both.",
    ),
    (
        ninth[TWICE][-1] < 0.1 * tenth[ONCE][-1],
        f"Divided twice, it shrinks for all alike: {median[TWICE][-1]:.4f} at width "
        f"{WIDTHS[-1]}, {median[ONCE][-1] / median[TWICE][-1]:.0f} times less than "
        "with one division.",
    ),
    (
        all(m < 0.5 * o for m, o in zip(median[MODEL], median[ONCE], strict=True)),
        f"{MODEL.capitalize()}, it is level at {median[MODEL][-1]:.3f}, "
        f"{median[ONCE][-1] / median[MODEL][-1]:.1f} times less than it should be.",
    ),
)

# %% [markdown]
# ## The answer
#
# **Why a square root?** A score is a sum of d_k products, and the standard deviation of
# such a sum is √d_k.
#
# **Why of this width?** Because d_k numbers are summed, however wide the model is.
# With the width of the model, scores are too small by a constant factor, and attention
# is too even.
#
# **Why once?** Not dividing saturates the softmax, so that many queries get next to
# nothing, and some get far too much.
# Dividing twice makes attention a plain mean, and what arrives at the queries shrinks
# with the width.
#
# The package takes the width from the vectors that it is given, so you need not give
# it.

# %%
query, key = draw(64)
torch.testing.assert_close(
    attention_weights(query, key),
    attention_weights(query, key, scale=64**-0.5),
)

# %% [markdown]
# As an experiment, give the keys a standard deviation of 3 instead of 1, as training
# might.
# Which of the curves stay where they are?
#
# Back to [Why divide by the square root of the width](../basics/scaling.md), or on to
# [the lab on stacked heads](stacked_or_split.md), where attention is timed.
