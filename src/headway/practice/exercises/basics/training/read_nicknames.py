"""A stranger's nicknames

In another country the same eight guests have other nicknames, and a head was trained
there to find coats. Nobody told it, or you, who is who. Write `read_nicknames(attend)`:
read it from the weights.

A token is 24 numbers: eight for the name, eight for the nickname, eight for the hook.
Let eight tokens that say one nickname each ask eight tokens that say one name each,
with `attend.W_query` and `attend.W_key`. The answer has eight whole numbers: for each
nickname the name that it looks at most.
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor, nn

from headway import SelfAttentionV2, attention_weights


def read_nicknames(attend: SelfAttentionV2) -> Tensor:
    """Give (8,): for each nickname the number of its name."""
    # --- write ---
    one, none = torch.eye(8), torch.zeros(8, 8)
    nicknames = torch.cat((none, one, none), dim=1)
    names = torch.cat((one, none, none), dim=1)
    weights = attention_weights(attend.W_query(nicknames), attend.W_key(names))
    return weights.argmax(dim=-1)
    # --- written ---


if __name__ == "__main__":
    from headway import recall_task

    torch.manual_seed(7)
    secret = torch.randperm(8)
    attend = SelfAttentionV2(24, 8)
    optimizer = torch.optim.Adam(attend.parameters(), lr=0.05)
    for _ in range(60):
        x, answer, place = recall_task(64)
        x[:, :, 8:16] = x[:, :, 8 + secret]
        loss = nn.functional.cross_entropy(attend(x)[:, -1], answer)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(read_nicknames(attend).tolist())
    print(secret.tolist())
    # [7, 0, 3, 4, 1, 5, 2, 6]
    # [7, 0, 3, 4, 1, 5, 2, 6]
# --- end of your file ---


def run(read_nicknames, secret, turned, W_query, W_key, soft):  # type: ignore[no-untyped-def]
    points, _ = torch.linalg.qr(turned)
    attend = SelfAttentionV2(24, 8)
    W_query[:, 8:16] = 9 * points
    W_key[:, secret] = 9 * points
    if soft:  # no weight is near one, some scores are far below zero, lengths differ
        W_query[:, 8:16] = points / 4
        far = points.roll(3, dims=1)
        W_key[:, secret] = (points - 2 * far) * torch.linspace(1, 4, 8)
    # Who asks for more than nicknames, or of more than names, finds somebody else.
    W_query[:, :8] += 12 * points.roll(1, dims=1)
    W_query[:, 16:] += 12 * points.roll(2, dims=1)
    W_key[:, 8:16] += 12 * points.roll(4, dims=1)
    W_key[:, 16:] += 12 * points.roll(7, dims=1)
    attend.W_query.weight.data = W_query.float()
    attend.W_key.weight.data = W_key.float()
    return read_nicknames(attend)


EXERCISE = Exercise(
    answer="read_nicknames",
    read=("basics/training/#what-it-has-learned", "What it has learned"),
    hints=(
        "Which eight of the 24 numbers say a nickname, and who asks whom?",
        "torch.eye(8) says eight things, one in each row; with zeros on one side or on "
        "both it becomes eight tokens of 24 numbers.",
        "attention_weights takes what W_query makes of the nicknames and what W_key "
        "makes of the names; argmax(dim=...) gives the place of a row's largest.",
    ),
    draw=lambda d: (
        d.order(8),
        d.normal(8, 8),
        d.normal(8, 24),
        d.normal(8, 24),
        d.B == 1,
    ),
    trials=[{}, {"B": 1}, {"B": 2}],
    ask=run,
    law="The head was never told the secret, nor was it asked for it: to find the "
    "coats, it had to know who is who.",
    right=[
        """
        # The weights alone: columns of W_query and W_key are what such tokens become.
        query, key = attend.W_query.weight[:, 8:16], attend.W_key.weight[:, :8]
        return (query.T @ key).argmax(dim=1)
        """,
        """
        # One nickname after the other: slow, but each question can be read.
        found = []
        for n in range(8):
            nickname, names = torch.zeros(24), torch.zeros(8, 24)
            nickname[8 + n] = 1.0
            names[range(8), range(8)] = 1.0
            scores = attend.W_key(names) @ attend.W_query(nickname)
            found.append(int(scores.argmax()))
        return torch.tensor(found)
        """,
    ],
    survivors={"-1 -> 1": "the weights have two axes, so that the last is axis 1"},
    stars=3,
    minutes=15,
)
