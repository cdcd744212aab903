# %% [markdown]
# # Reading maps
#
# [Reading attention](../../models/attention_maps/) asks what a map of attention weights
# tells, and what it does not.
# Here you look at maps of your own, type a text, take heads away, and see what happens
# to the model.
# This page is a notebook, whose cells ran when the site was built.
# Download it, or paste its cells into a notebook of yours; it needs the package
# `headway` and Jupyter.
#
# The model is the one of the chapter, with two layers of two heads, trained to continue
# a repeated text.
#
# ## The knobs

# %%
TEXT = "planetplane"  # small letters, at most 33; the model goes on with it
SILENT = (0, 1)  # the layer and the head that are taken away below

# %%
import torch
from IPython.display import HTML

from headway import (
    copying_loss,
    guessing_loss,
    induction_score,
    previous_token_score,
    recorded_weights,
    repeat_task,
    rollout,
    silenced_heads,
    two_head_model,
    weighted_norms,
)

torch.set_num_threads(1)
model = two_head_model().requires_grad_(False)


def numbers(text):
    return torch.tensor([ord(letter) - ord("a") for letter in text])


def next_letter(text):
    return chr(ord("a") + int(model(numbers(text))[-1].argmax()))


maps = recorded_weights(model, numbers(TEXT))
print(
    f"{TEXT} goes on with {next_letter(TEXT)}\n"
    f"a map for each head: {[tuple(layer.shape) for layer in maps]}"
)

# %% [markdown]
# ## Draw them
#
# Each square is a weight; its row asks, its column is asked, and the stronger the
# colour, the larger the weight.
# Rest the pointer on a square to read its number; the row of the last letter is
# printed below.


# %%
def squares(name, table, text, left, most):
    size = 14
    body = f'<text x="{left}" y="12" font-weight="700">{name}</text>'
    for t, letter in enumerate(text):
        x, y = left + 16 + size * t, 32 + size * t
        body += f'<text x="{x + 3}" y="28">{letter}</text>'
        body += f'<text x="{left + 2}" y="{y + 11}">{letter}</text>'
        for s, weight in enumerate(table[t].tolist()):
            if weight > 0.02 * most:
                body += (
                    f'<rect x="{left + 16 + size * s}" y="{y}" width="{size - 1}" '
                    f'height="{size - 1}" opacity="{weight / most:.2f}" '
                    'fill="var(--hw-accent, #0f6680)">'
                    f"<title>{letter} at {text[s]}: {weight:.2f}</title></rect>"
                )
    return body


def draw(caption, tables, text):
    """Draw tables of tokens by tokens side by side, two in a row."""
    side = 16 + 14 * len(text)
    rows = ""
    names = [*tables]
    for first in range(0, len(names), 2):
        pair = names[first : first + 2]
        most = max(float(tables[name].max()) for name in pair)  # one scale for both
        body = "".join(
            squares(name, tables[name], text, place * (side + 24), most)
            for place, name in enumerate(pair)
        )
        words = caption
        for name in pair:
            peak = [int(row.argmax()) for row in tables[name]]
            pairs = zip(text, peak, strict=True)
            seen = ", ".join(f"{letter} at {text[s]}" for letter, s in pairs)
            words += f" {name}, largest: {seen}."
        rows += (
            f'<svg viewBox="0 0 {2 * side + 24} {side + 24}" width="{2 * side + 24}" '
            f'role="img" aria-label="{words}" font-size="11" fill="currentColor" '
            f'style="max-width:100%;height:auto">{body}</svg>'
        )
    return HTML(
        f'<figure class="hw-figure">{rows}<figcaption>{caption}</figcaption></figure>'
    )


def by_name(layers):
    return {
        f"layer {number}, head {head}": table
        for number, layer in enumerate(layers, 1)
        for head, table in enumerate(layer)
    }


draw("Weights of the four heads.", by_name(maps), TEXT)

# %%
for name, table in by_name(maps).items():
    row = zip(TEXT, table[-1].tolist(), strict=True)
    print(f"{name}:", " ".join(f"{letter} {weight:.2f}" for letter, weight in row))

# %% [markdown]
# The line right under the diagonal is a head of the previous token.
# A line further away, which begins where the text begins to repeat itself, is a head
# that looks at what followed.
#
# Do your eyes see what is there?
# Two scores of the chapter on [heads that continue a
# pattern](../../models/induction/) answer in numbers, for 200 texts that the model
# never read.

# %%
ids, asked = repeat_task(200, generator=torch.Generator().manual_seed(1))
lines = ["                 one back  what followed"]
for number, layer in enumerate(recorded_weights(model, ids), 1):
    scores = torch.stack([previous_token_score(layer), induction_score(layer, ids)])
    for head, (back, found) in enumerate(scores.T):
        lines.append(f"layer {number}, head {head} {back:9.2f} {found:14.2f}")
print("\n".join(lines))

# %% [markdown]
# ## How much each key brings
#
# A large weight on a small value brings little.
# `weighted_norms` measures the vector that a key adds to the result.
# Both maps of a layer have one scale, so a head that fades adds less than its weights
# suggest.

# %%
x, sizes = model.embedding(numbers(TEXT)), []
for block, weights in zip(model.blocks, maps, strict=True):
    sizes.append(weighted_norms(block.attention, x, weights))
    x = block(x)

lines = []
for number, layer in enumerate(sizes, 1):
    for head, table in enumerate(layer):
        share = float(table.max() / layer.max())
        lines += [f"layer {number}, head {head}: {share:.0%} of the layer's largest"]
print("\n".join(lines))
draw("Sizes of what is brought, one scale for a layer.", by_name(sizes), TEXT)

# %% [markdown]
# ## Take a head away
#
# A map shows where a head looks, but only an experiment shows whether the model needs
# it.
# Each line below silences one head, and measures the loss on 200 texts.


# %%
def loss_without(layer, heads):
    with silenced_heads(model.blocks[layer].attention, heads):
        return float(copying_loss(model, ids, asked))


whole = loss_without(0, [])
lines = [f"guessing within the block {guessing_loss():.2f}"]
lines += [f"whole model               {whole:.2f}"]
for layer in (0, 1):
    for head in (0, 1):
        loss = loss_without(layer, [head])
        lines += [f"without layer {layer + 1}, head {head}   {loss:.2f}"]
print("\n".join(lines))

# %%
layer, head = SILENT
with silenced_heads(model.blocks[layer].attention, [head]):
    print(f"{TEXT} now goes on with {next_letter(TEXT)}")
    without = recorded_weights(model, numbers(TEXT))
draw("The same, without that head.", by_name(without), TEXT)

# %% [markdown]
# A silenced head still looks; its map is the same, but what it finds is not used.
# The maps of the *second* layer have changed, since its queries and keys are made of
# what the first one wrote.
#
# ## One map for all
#
# `rollout` multiplies the maps of both layers into one.
# It ignores the values, and takes the mean over heads.

# %%
one = rollout(maps)
assert torch.allclose(one.sum(dim=-1), torch.ones(len(TEXT)))
draw("Rollout, from the last layer to the letters.", {"all layers": one}, TEXT)

# %% [markdown]
# The next lines must hold on every computer; otherwise this page could not be built.

# %%
assert whole < 0.5 < guessing_loss()
first_layer = loss_without(0, [0, 1])
assert first_layer > guessing_loss()
print("the model copies, and without its first layer it does worse than guessing")

# %% [markdown]
# ## Turn the rest yourself
#
# - With `TEXT = "abcdefgh"`, nothing is repeated. Where do the heads of the second
#   layer look now, and does it mean anything?
# - With `TEXT = "abcabxab"`, there are two endings to choose from. Which one do the
#   heads prefer?
# - Try `SILENT = (0, 0)`, then `(1, 0)` and `(1, 1)`. Which heads does the model need,
#   and which are needed only together? Give `loss_without` both, `[0, 1]`.
# - Give `rollout` the argument `residual=0.9`, then `0.1`. The picture changes,
#   although the model has not. What does that say about the picture?
#
# Back to [Reading attention](../../models/attention_maps/), or to
# [the training of a model](../training/).
