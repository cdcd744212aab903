# %% [markdown]
# # Watch it learn
#
# [A model that writes](../../models/small_gpt/) trains a small language model, and
# prints three comparisons.
# Here you see what happens in between, and turn the knobs yourself.
# This page is a notebook, whose cells ran when the site was built.
# Download it, or paste its cells into a notebook of yours; it needs the package
# `headway` and Jupyter, one core, and less than a minute.
#
# ## The knobs

# %%
STEPS = 300  # how many times the weights are moved
PASSAGES = 16  # passages at a time
LENGTH = 64  # characters in a passage
RATE = 0.01  # how far a step goes
SEED = 7

# %% [markdown]
# ## What learns, and from what
#
# The text is the one of the chapter, twenty chapters of a novel.
# Its last tenth is held out, so that nothing learns from it, and now and then we
# measure the loss on a piece of it.
# `bigram_loss` is the loss of a table that knows one character, which the model must
# beat first.

# %%
import math
import time

import torch
from IPython.display import HTML, display
from torch import nn

from headway import (
    Characters,
    bigram_loss,
    draw_passages,
    generate,
    passage_loss,
    small_gpt,
    small_text,
)

torch.set_num_threads(1)
text = small_text()
characters = Characters(text)
ids = characters.encode(text)
cut = len(ids) * 9 // 10
learned, held_out = ids[:cut], ids[cut:]
even = math.log(len(characters))
table = float(bigram_loss(learned, held_out, len(characters)))
print(f"an even guess loses {even:.2f} nats, the table of pairs {table:.2f}")

# %% [markdown]
# ## A bar, and curves
#
# The progress bar is an HTML element that is shown again and again.
# The curves are lines of SVG, so nothing else has to be installed.


# %%
def bar(done, total, words):
    return HTML(
        f'<progress value="{done}" max="{total}" aria-label="steps"></progress> '
        f"{done} of {total} steps, {words}"
    )


COLOURS = ["var(--hw-accent-2, #b04a15)", "var(--hw-accent, #0f6680)", "currentColor"]


def curves(title, lines, floors, top=4.5):
    """Draw losses against steps: lines of (step, loss), and level lines."""
    last = max(step for points in lines.values() for step, _ in points)

    def x(step):
        return 40 + 380 * step / last

    def y(loss):
        return 20 + 200 * (1 - min(loss, top) / top)

    body = ""
    for loss in range(int(top) + 1):
        body += f'<text x="30" y="{y(loss) + 4:.0f}" text-anchor="end">{loss}</text>'
    for step in (0, last):
        body += f'<text x="{x(step)}" y="238" text-anchor="middle">{step}</text>'
    for name, loss in floors.items():
        body += (
            f'<path d="M40 {y(loss):.1f}H420" stroke="currentColor" '
            f'stroke-dasharray="4 4"/><text x="420" y="{y(loss) - 4:.1f}" '
            f'text-anchor="end">{name}</text>'
        )
    words = f"{title}, in nats, against steps."
    for place, (name, points) in enumerate(lines.items()):
        path = "L".join(f"{x(step):.1f} {y(loss):.1f}" for step, loss in points)
        colour = COLOURS[place]
        body += f'<path d="M{path}" fill="none" stroke="{colour}"/>'
        left = 40 + 130 * place
        body += f'<text x="{left}" y="256" fill="{colour}">{name}</text>'
        words += f" {name}: from {points[0][1]:.1f} to {points[-1][1]:.1f}."
    return HTML(
        f'<figure class="hw-figure"><svg viewBox="0 0 430 262" width="430" role="img" '
        f'aria-label="{words}" font-size="12" fill="currentColor" '
        f'style="max-width:100%;height:auto">{body}</svg>'
        f"<figcaption>{title}, in nats, against steps.</figcaption></figure>"
    )


# %% [markdown]
# ## Train
#
# `train` moves the weights as the chapter does.
# Every few steps it measures the loss on the held-out text, and moves the bar.
# At three of the steps it lets the model write.

# %%
START = "Mr. Darcy "


def write(model, length=60):
    draws = torch.Generator().manual_seed(SEED)
    return characters.decode(
        generate(model, characters.encode(START), length, generator=draws)
    )


def train(passages=PASSAGES, length=LENGTH, change=None):
    torch.manual_seed(SEED)
    model = small_gpt(trained=False)
    if change is not None:
        change(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    asked = held_out[:4097]
    shown = display(bar(0, STEPS, "nothing yet"), display_id=True)
    own, other, written = [], [], {}
    for step in range(STEPS + 1):
        if step % max(STEPS // 20, 1) == 0:
            other.append((step, float(passage_loss(model, asked, length))))
            shown.update(bar(step, STEPS, f"held out {other[-1][1]:.2f} nats"))
        if step in (0, STEPS // 6, STEPS):
            written[step] = write(model)
        x, y = draw_passages(learned, passages, length)
        loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        own.append((step, loss.item()))
    return model, own, other, written


began = time.perf_counter()
model, own, other, written = train()
print(f"{time.perf_counter() - began:.0f} seconds")

# %%
curves(
    "Loss",
    {"its own passages": own, "held out": other},
    {"even guess": even, "table of pairs": table},
)

# %% [markdown]
# It begins at an even guess; a model that begins far above it is sure of things that it
# cannot know.
# First it learns which characters are frequent, and the curve is steep.
# Then it crosses the line of the table, and from there on it must look further back
# than one character.
#
# The numbers of a training differ a little from computer to computer.
# The next lines must hold on every computer; otherwise this page could not be built.

# %%
assert abs(other[0][1] - even) < 0.5
assert other[-1][1] < table - 0.2
print("it begins near an even guess, and ends well below the table of pairs")

# %% [markdown]
# ## What it writes, and when
#
# The random numbers are the same each time, and the model is the one at three steps.

# %%
print("\n".join(f"--- after {step} steps\n{now}" for step, now in written.items()))

# %% [markdown]
# Spaces come first, then words of a likely length, then some that exist.
# These samples are only an impression; the measure is the loss.
#
# ## One knob turned: what if it sees one character?
#
# With passages of one character there is nothing to look at but that character.
# To be fair, it gets as many questions in a step, 1,024 passages of one character
# instead of 16 of 64.
# The model cannot do better than the table then, however long it is trained.

# %%
_, _, blind, _ = train(passages=PASSAGES * LENGTH, length=1)
curves(
    "Held-out loss",
    {"one character": blind, f"{LENGTH} characters": other},
    {"table of pairs": table},
)

# %%
assert other[-1][1] < blind[-1][1] - 0.2
print("looking back further than one character makes the difference")

# %% [markdown]
# ## The next knob: no positions
#
# Without rotary positions the past is a set of characters, and only the mask says how
# many there are.


# %%
def without_positions(model):
    for block in model.blocks:
        block.attention.rotate = None


_, _, unordered, _ = train(change=without_positions)
curves(
    "Held-out loss",
    {"no positions": unordered, "rotary": other},
    {"table of pairs": table},
)

# %%
assert other[-1][1] < unordered[-1][1] - 0.2
print("knowing which character stands where lowers the loss by more than 0.2")

# %% [markdown]
# ## Turn the rest yourself
#
# - With `RATE = 0.3`, the loss jumps to about ten, and comes back no further than a
#   count of single characters, about 3. With `RATE = 0.0003`, it has only just reached
#   the table after 300 steps, and with `RATE = 0.00001`, it hardly moves.
# - With `PASSAGES = 128, LENGTH = 8`, there are as many questions in a step. How much
#   worse does it end? From which length on does more not help?
# - Try `STEPS = 2000` with a rate that falls to zero in a straight line (set
#   `optimizer.param_groups[0]["lr"]` before each step). This is nearly how the weights
#   in the package were made; there the rate also rises for the first 50 steps.
# - Give `train` a change of your own, such as one that takes a norm out of each block,
#   or puts `None` in place of its feed-forward part.
#
# Back to [A model that writes](../../models/small_gpt/), or on to
# [maps of attention](../reading_maps/).
