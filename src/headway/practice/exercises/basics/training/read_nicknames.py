"""A stranger's nicknames

In another country the same eight guests have other nicknames, and a head was trained
there to find coats. Nobody told it, or you, who is who. Write `read_nicknames(attend)`:
read it from the weights.

A token is 24 numbers: eight for the name, eight for the nickname, eight for the hook.
Let eight tokens that say one nickname each ask eight tokens that say one name each,
with `attend.W_query` and `attend.W_key`. The answer has eight whole numbers: for each
nickname the name that it looks at most.
"""

from headway.practice import Exercise, Wrong

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


# All lines of the solution, for those who read the weights without any token.
ALL = """    one, none = torch.eye(8), torch.zeros(8, 8)
    nicknames = torch.cat((none, one, none), dim=1)
    names = torch.cat((one, none, none), dim=1)
    weights = attention_weights(attend.W_query(nicknames), attend.W_key(names))
    return weights.argmax(dim=-1)"""

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
    wrong=[
        Wrong(
            "weights.argmax(dim=-1)",
            "weights.argmax(dim=0)",
            "the largest of each column is taken: for each name its nickname",
            hint="A row belongs to a query. Whose row do you read?",
        ),
        Wrong(
            "attend.W_query(nicknames), attend.W_key(names)",
            "attend.W_query(names), attend.W_key(nicknames)",
            "names ask, and nicknames are asked",
        ),
        Wrong(
            "attend.W_query(nicknames), attend.W_key(names)",
            "attend.W_key(nicknames), attend.W_query(names)",
            "the two layers change places",
        ),
        Wrong(
            "attend.W_query(nicknames), attend.W_key(names)",
            "nicknames, names",
            "the tokens are compared as they are, and no layer is asked",
        ),
        Wrong(
            "attend.W_key(names)",
            "attend.W_query(names)",
            "W_query makes the keys too",
        ),
        Wrong(
            "nicknames = torch.cat((none, one, none), dim=1)",
            "nicknames = torch.cat((one, none, none), dim=1)",
            "the ones stand where a token says its name, and not its nickname",
        ),
        Wrong(
            "names = torch.cat((one, none, none), dim=1)",
            "names = torch.cat((none, none, one), dim=1)",
            "hooks are asked, and not names",
        ),
        Wrong(
            "return weights.argmax(dim=-1)",
            "return weights",
            "the weights are given; the place of each row's largest is asked for",
        ),
        Wrong(
            ALL,
            "    query, key = attend.W_query.weight[:, 8:16], "
            "attend.W_key.weight[:, :8]\n"
            "    return (query @ key.T).argmax(dim=-1)",
            "columns of the weights are compared row by row: nn.Linear "
            "keeps (out, in), so these blocks must be transposed",
            hint="What becomes of a token is a column of the weight. query.T "
            "has these as rows.",
        ),
        Wrong(
            ALL,
            "    query, key = attend.W_query.weight[:, 8:16], "
            "attend.W_key.weight[:, :8]\n"
            "    return (query @ key).argmax(dim=-1)",
            "the block of the queries is not transposed: nn.Linear keeps (out, in)",
        ),
        Wrong(
            ALL,
            "    query, key = attend.W_query.weight[:, 8:16], "
            "attend.W_key.weight[:, :8]\n"
            "    return (query.T @ key.T).argmax(dim=-1)",
            "the block of the keys is transposed, and should not be: its "
            "columns are what is asked",
        ),
        Wrong(
            ALL,
            "    query, key = attend.W_query.weight[8:16], "
            "attend.W_key.weight[:8]\n"
            "    return (query @ key.T).argmax(dim=-1)",
            "rows 8 to 15 of the weight are cut out, where it has 8 rows; "
            "columns say what a token brings",
        ),
        Wrong(
            ALL,
            "    query, key = attend.W_query.weight[:, :8], "
            "attend.W_key.weight[:, 8:16]\n"
            "    return (query.T @ key).argmax(dim=-1)",
            "the columns of names ask, and those of nicknames are asked",
            same_as="names ask, and nicknames are asked",
        ),
        Wrong(
            "nicknames = torch.cat((none, one, none), dim=1)",
            "nicknames = torch.cat((none, none, one), dim=1)",
            "hooks ask, and not nicknames",
        ),
        Wrong(
            "names = torch.cat((one, none, none), dim=1)",
            "names = torch.cat((none, one, none), dim=1)",
            "nicknames are asked, and not names",
        ),
        Wrong(
            "names = torch.cat((one, none, none), dim=1)",
            "names = torch.cat((one, one, none), dim=1)",
            "those who are asked say a nickname too",
            same_as="nicknames are asked, and not names",
        ),
        Wrong(
            "nicknames = torch.cat((none, one, none), dim=1)",
            "nicknames = torch.cat((one, one, none), dim=1)",
            "those who ask say a name too",
            same_as="the ones stand where a token says its name, and not its nickname",
        ),
        Wrong(
            "nicknames = torch.cat((none, one, none), dim=1)\n"
            "    names = torch.cat((one, none, none), dim=1)",
            "nicknames = torch.cat((none, one, none), dim=0)\n"
            "    names = torch.cat((one, none, none), dim=0)",
            "the three blocks are put below each other; they should stand side by side",
        ),
        Wrong(
            "weights.argmax(dim=-1)",
            "weights.argmin(dim=-1)",
            "the smallest weight is looked for",
        ),
        Wrong(
            "weights.argmax(dim=-1)",
            "weights.argmax()",
            "the largest of the whole table is looked for",
        ),
        Wrong(
            "weights.argmax(dim=-1)",
            "weights.argmax(dim=-1) + 1",
            "names are counted from one",
        ),
        Wrong(
            "weights.argmax(dim=-1)",
            "weights.argmax(dim=-1) + 8",
            "eight is added to each name",
        ),
        Wrong(
            "weights.argmax(dim=-1)",
            "weights.argmax(dim=-1).argsort()",
            "the table is turned around: for each name its nickname",
            same_as="the largest of each column is taken: for each name its nickname",
        ),
        Wrong(
            "weights.argmax(dim=-1)",
            "weights.argmax(dim=-1).tolist()",
            "a list is given; it should be a tensor",
        ),
        Wrong(
            "weights.argmax(dim=-1)",
            "weights.max(dim=-1)",
            "both are given, the largest weights and their places; the "
            "places alone are asked for",
        ),
        Wrong(
            "weights.argmax(dim=-1)",
            "weights.amax(dim=-1)",
            "the largest weight is given, and not its place",
        ),
        Wrong(
            "weights.argmax(dim=-1)",
            "weights.diagonal().argsort()",
            "each nickname is compared with the name of its own number alone",
        ),
        Wrong(
            ALL,
            "    x = torch.eye(24)\n    return attend(x)[8:16].argmax(dim=-1)",
            "the result of attend is read; the table of who looks at whom is asked for",
        ),
        Wrong(
            ALL,
            "    x = torch.eye(24)\n"
            "    weights = attention_weights(attend.W_query(x), "
            "attend.W_key(x))\n"
            "    return weights.argmax(dim=-1)[8:16]",
            "all 24 things are asked, and not the eight names alone",
        ),
        Wrong(
            "attend.W_query(nicknames), attend.W_key(names)",
            "attend.W_query(nicknames), attend.W_value(names)",
            "W_value makes the keys",
        ),
        Wrong(
            "weights.argmax(dim=-1)",
            "weights.topk(1).indices",
            "topk or keepdim keeps an axis of length one",
        ),
        Wrong(
            "one, none = torch.eye(8), torch.zeros(8, 8)",
            "one, none = torch.randn(8, 8), torch.zeros(8, 8)",
            "tokens are random; each should say one thing",
        ),
        Wrong(
            "    nicknames = torch.cat((none, one, none), dim=1)\n"
            "    names = torch.cat((one, none, none), dim=1)",
            "    nicknames = names = one",
            "tokens have eight numbers; they should have 24, with zeros beside",
        ),
        Wrong(
            "    names = torch.cat((one, none, none), dim=1)",
            "    names = torch.cat((one, one, one), dim=1)",
            "those who are asked say a nickname and a hook, too",
        ),
        Wrong(
            "    nicknames = torch.cat((none, one, none), dim=1)",
            "    nicknames = torch.cat((one, one, one), dim=1)",
            "those who ask say a name and a hook, too",
        ),
        Wrong(
            "attend.W_query(nicknames)",
            "attend.W_key(nicknames)",
            "W_key makes the queries too",
        ),
        Wrong(
            "    one, none = torch.eye(8), torch.zeros(8, 8)",
            "    table = attend.W_query.weight @ attend.W_key.weight.T\n"
            "    return table.argmax(dim=-1)\n"
            "    one, none = torch.eye(8), torch.zeros(8, 8)",
            "the weights are multiplied as they are kept, so that the 24 things are "
            "added up",
        ),
        Wrong(
            "    nicknames = torch.cat((none, one, none), dim=1)",
            "    nicknames = torch.cat((none, one, one), dim=1)",
            "those who ask say a hook, too",
            same_as="hooks ask, and not nicknames",
        ),
        Wrong(
            "    weights = attention_weights(attend.W_query(nicknames), "
            "attend.W_key(names))",
            "    weights = (attend.W_query(nicknames) @ attend.W_key(names).mT).abs()",
            "the largest score is looked for without its sign",
        ),
        Wrong(
            "    weights = attention_weights(attend.W_query(nicknames), "
            "attend.W_key(names))",
            "    weights = -torch.cdist(attend.W_query(nicknames), "
            "attend.W_key(names))",
            "the nearest key is looked for; it should be the one of the largest "
            "product",
        ),
        Wrong(
            "    weights = attention_weights(attend.W_query(nicknames), "
            "attend.W_key(names))",
            "    weights = torch.cdist(attend.W_query(nicknames), attend.W_key(names))",
            "the farthest key is looked for; it should be the one of the largest "
            "product",
        ),
        Wrong(
            "weights.argmax(dim=-1)",
            "weights.argmax(dim=-1).float()",
            "whole numbers are given as floating-point numbers",
        ),
        Wrong(
            "weights.argmax(dim=-1)",
            "weights.argsort(dim=-1)",
            "all names are given in the order of their weights; the likeliest is "
            "asked for",
        ),
        Wrong(
            "attend.W_query(nicknames), attend.W_key(names)",
            "nicknames @ attend.W_query.weight, names @ attend.W_key.weight",
            "tokens are multiplied by the weights as they are kept, (out, in): "
            "nn.Linear transposes",
        ),
        Wrong(
            "attend.W_query(nicknames), attend.W_key(names)",
            "nicknames @ attend.W_query, names @ attend.W_key",
            "a layer is multiplied like a tensor; it is called",
        ),
        Wrong(
            "weights.argmax(dim=-1)",
            "weights.round().nonzero()[:, 1]",
            "weights are rounded, as if one of each row were near one; the largest "
            "may be small",
        ),
    ],
    survivors={"-1 -> 1": "the weights have two axes, so that the last is axis 1"},
    stars=3,
    minutes=15,
)
