# %% [markdown]
# # A check in a notebook
#
# In a notebook, the report of a check shows itself as a table.
# This page is a notebook, whose cells ran when the site was built; under each stands
# what it showed.
# [What check asks](../../checking/) explains the report.
#
# Here is attention with a mistake in it.
# Look for it before you read on.

# %%
import torch
from torch import nn

from headway.checks import check


class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_key = nn.Linear(d_in, d_out, bias=False)
        self.W_value = nn.Linear(d_in, d_out, bias=False)
        self.out_proj = nn.Linear(d_out, d_out)

    def heads(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def weights(self, x):
        query, key = self.heads(self.W_query(x)), self.heads(self.W_key(x))
        scores = query @ key.mT / key.shape[-1] ** 0.5
        return scores.tril().softmax(dim=-1)

    def forward(self, x):
        context = self.weights(x) @ self.heads(self.W_value(x))
        return self.out_proj(context.transpose(1, 2).flatten(2))


# %% [markdown]
# The last line of a cell is shown, so a check needs no `print`.

# %%
check(CausalAttention(12, 20, num_heads=4))

# %% [markdown]
# `tril` sets the scores of the future to zero, and zero is a score like any other.
# A hidden score must be minus infinity, whose exponential is zero.
# A subclass corrects this, in one method.


# %%
class Fixed(CausalAttention):
    def weights(self, x):
        query, key = self.heads(self.W_query(x)), self.heads(self.W_key(x))
        scores = query @ key.mT / key.shape[-1] ** 0.5
        future = torch.ones_like(scores).triu(1).bool()
        return scores.masked_fill(future, -torch.inf).softmax(dim=-1)


report = check(Fixed(12, 20, num_heads=4))
report.ok

# %% [markdown]
# Here are only the rows that failed, if there are any, as text.

# %%
print(*report.failed or ["nothing failed"], sep="\n")

# %% [markdown]
# To keep it right, put one line into a test, namely `check(...).assert_ok()`.
# [The museum](../../museum/) has more mistakes of this kind.
