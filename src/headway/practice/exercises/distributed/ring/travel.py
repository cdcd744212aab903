"""Let the queries travel

A ring can turn the other way: keys and values stay where they are, and the queries go
around, with what they have found so far. Write `travel(query, key, value, rows)`, which
plays all N machines.

query, key (T, D) and value (T, V) are those of the whole text; `rows` lists for each
machine the positions of its tokens, in any order, as many for each. The future is
hidden. Each machine may use its own keys and values alone. After N steps the queries
are home: give a list of what each machine's own queries found, (T / N, V) each. Use
`attention_with_lse(query, key, value, mask=...)`, which gives rows and log-sum-exps, a
pair, and `merge_attention(pair, pair)`, which gives the pair of both.
"""

from headway.practice import Exercise, Property, Wrong

# --- your file ---
import torch
from torch import Tensor

from headway import attention_with_lse, merge_attention


def travel(
    query: Tensor, key: Tensor, value: Tensor, rows: list[Tensor]
) -> list[Tensor]:
    """Give what the queries of each of N machines found, (T / N, V) each."""
    # --- write ---
    guests = [(query[own], own, None) for own in rows]
    for _ in rows:
        for machine, own in enumerate(rows):
            asked, where, found = guests[machine]
            mask = own <= where[:, None]
            part = attention_with_lse(asked, key[own], value[own], mask=mask)
            found = part if found is None else merge_attention(found, part)
            guests[machine] = (asked, where, found)
        guests = [guests[-1], *guests[:-1]]
    return [found[0] for _, _, found in guests]
    # --- written ---


if __name__ == "__main__":
    from headway import attention

    torch.manual_seed(7)
    query, key, value = torch.randn(3, 6, 4, dtype=torch.float64)
    rows = [torch.tensor(own) for own in ([0, 5], [3, 1], [2, 4])]
    whole = attention(query, key, value, causal=True)
    for own, found in zip(rows, travel(query, key, value, rows)):
        print(own.tolist(), torch.allclose(found, whole[own]))
    # [0, 5] True
    # [3, 1] True
    # [2, 4] True
# --- end of your file ---


def sees_own_keys(travel, query, key, value, rows):  # type: ignore[no-untyped-def]
    from torch.overrides import TorchFunctionMode

    whole = []

    class Watch(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            result = func(*args, **(kwargs or {}))
            if func is torch.nn.functional.scaled_dot_product_attention:
                held = [*args, *(kwargs or {}).values()][1]
                whole.append(held.shape[-2] == len(key))
            if isinstance(result, Tensor) and result.is_floating_point():
                whole.append(result.ndim > 1 and result.shape[-1] == len(key))
            return result

    with Watch():
        travel(query, key, value, rows)
    return len(key) in (query.shape[1], value.shape[1], len(rows[0])) or not any(whole)


def draw(d):  # type: ignore[no-untyped-def]
    """Draw for G + 1 machines; where it is loud, each holds a piece of the text."""
    T = (d.G + 1) * d.W
    rows = d.order(T).split(d.W)
    if d.loud > 1:
        pieces = torch.arange(T).split(d.W)
        rows = [pieces[n] for n in d.order(len(pieces))]
    return d.normal(T, d.D), d.normal(T, d.D), d.normal(T, d.V), [*rows]


EXERCISE = Exercise(
    answer="travel",
    read=("distributed/ring/#in-tensors", "In tensors"),
    hints=(
        "What must a query take along, so that any machine can serve it, and can tell "
        "which of its keys lie in the query's future?",
        "Keep for each machine the guest that it has: the queries, their positions, "
        "and what they have found. After each step all guests move on by one.",
        "A key may be seen if its position is at most that of the query: compare the "
        "machine's own positions with those that the guest brought.",
    ),
    draw=draw,
    trials=({}, dict.fromkeys("BHTSDVEW", 4) | {"G": 3}, {"loud": 2.0, "G": 3}),
    properties=[
        Property(
            "no machine uses keys of another: no table of scores has all keys",
            sees_own_keys,
        )
    ],
    law="It does not matter what travels. Queries must take along their positions and "
    "what they found, a row and a log-sum-exp; keys need only their positions.",
    right=[
        """
        # As each query sees it: where it is in step s, without moving anything.
        found = []
        for n, own in enumerate(rows):
            so_far = None
            for there in rows[n:] + rows[:n]:
                mask = own[:, None] >= there
                held = key[there], value[there]
                piece = attention_with_lse(query[own], *held, mask=mask)
                so_far = merge_attention(so_far, piece) if so_far else piece
            found.append(so_far[0])
        return found
        """,
        """
        # With one mask for the whole text, of which each machine takes a part.
        allowed = torch.ones(len(key), len(key), dtype=torch.bool).tril()
        found = [None] * len(rows)
        for step in range(len(rows)):
            for n, own in enumerate(rows):
                guest = (n - step) % len(rows)
                asked = rows[guest]
                piece = attention_with_lse(
                    query[asked], key[own], value[own], mask=allowed[asked][:, own]
                )
                before = found[guest]
                found[guest] = merge_attention(before, piece) if step else piece
        return [rows for rows, _ in found]
        """,
    ],
    wrong=[
        Wrong(
            "mask = own <= where[:, None]",
            "mask = torch.ones(len(own), len(own), dtype=torch.bool).tril()",
            "keys are hidden by their place on the machine, and not by their position",
            exhibit="processes/#masked-by-place",
        ),
        Wrong(
            "own <= where[:, None]",
            "own <= own[:, None]",
            "positions stay behind: the mask is that of the machine's own queries",
        ),
        Wrong(
            "own <= where[:, None]",
            "where <= own[:, None]",
            "query and key are exchanged in the mask",
        ),
        Wrong(
            "own <= where[:, None]",
            "own[:, None] <= where",
            "the mask is transposed: its rows must be queries, and its columns keys",
        ),
        Wrong(
            "return [found[0] for",
            "return [found for",
            "rows are given together with their log-sum-exps",
        ),
        Wrong(
            "own <= where[:, None]",
            "own >= where[:, None]",
            "the past is hidden, and not the future",
        ),
        Wrong(
            "own <= where[:, None]",
            "own < where[:, None]",
            "no token sees itself",
            exhibit="triangles/#mask-hides-itself",
        ),
        Wrong("mask=mask", "mask=None", "nothing is hidden"),
        Wrong(
            "found = part if found is None else merge_attention(found, part)",
            "found = part",
            "what was found before is thrown away at each machine",
        ),
        Wrong(
            "merge_attention(found, part)",
            "tuple(a + b for a, b in zip(found, part))",
            "results are added as they are, without their masses",
        ),
        Wrong(
            "merge_attention(found, part)\n"
            "            guests[machine] = (asked, where, found)\n"
            "        guests = [guests[-1], *guests[:-1]]\n"
            "    return [found[0] for",
            "tuple(a + b for a, b in zip(found, part))\n"
            "            guests[machine] = (asked, where, found)\n"
            "        guests = [guests[-1], *guests[:-1]]\n"
            "    return [found[0] / len(rows) for",
            "the plain mean of all machines' results is taken",
            exhibit="pieces/#merged-by-plain-means",
        ),
        Wrong(
            "for _ in rows:",
            "for _ in rows[1:]:",
            "there is one step too few, so that a machine is missed, and nobody is "
            "home",
        ),
        Wrong(
            "        guests = [guests[-1], *guests[:-1]]\n",
            "",
            "nobody moves, and each query sees the keys of its own machine alone",
        ),
        Wrong(
            "guests = [guests[-1], *guests[:-1]]",
            "moved = [guests[-1], *guests[:-1]]\n"
            "        guests = [(*a[:2], b[2]) for a, b in zip(moved, guests)]",
            "queries move, and what they found stays behind",
        ),
        Wrong(
            "guests = [(query[own], own, None) for own in rows]",
            "guests = [\n"
            "        (query[own], own, (0 * value[own], 0.0 * query[own, 0]))\n"
            "        for own in rows\n    ]",
            "queries set out with a log-sum-exp of zero, which counts as a key; it "
            "should be minus infinity",
        ),
        Wrong(
            "mask = own <= where[:, None]",
            "mask = own > where[:, None]",
            "the mask is turned round: True where a key is in the future",
        ),
        Wrong(
            "merge_attention(found, part)",
            "((found[0] + part[0]) / 2, part[1])",
            "the plain mean of what was found and what is new is taken in each step",
        ),
        Wrong(
            "mask=mask",
            "mask=mask if own is where else None",
            "the future is hidden at home alone, and not on other machines",
        ),
        Wrong(
            "key[own], value[own]",
            "key[: len(own)], value[: len(own)]",
            "each machine has the first keys of the text, and not its own",
        ),
        Wrong(
            "return [found[0] for _, _, found in guests]",
            "return [found[0] for _, _, found in guests[1:] + guests[:1]]",
            "what was found is given to the neighbours, and not to those who asked",
        ),
        Wrong(
            "mask = own <= where[:, None]",
            "home = [r is where for r in rows].index(True)\n"
            "            place = torch.arange(len(own))\n"
            "            mask = machine * len(own) + place <= home * len(own) "
            "+ place[:, None]",
            "the mask is made of places on the ring, as if the pieces lay in "
            "order; it should be made of positions",
        ),
        Wrong(
            "mask = own <= where[:, None]",
            "home = [r is where for r in rows].index(True)\n"
            "            mask = torch.full((len(where), len(own)), machine <= "
            "home)",
            "whole machines are hidden by their numbers; single keys should "
            "be, by their positions",
        ),
        Wrong(
            "merge_attention(found, part)",
            "(\n"
            "                merge_attention(found, part)[0],\n"
            "                found[1],\n"
            "            )",
            "the log-sum-exp is not merged: it stays that of the first machine",
        ),
        Wrong(
            "merge_attention(found, part)",
            "(\n"
            "                merge_attention(found, part)[0],\n"
            "                part[1],\n"
            "            )",
            "the log-sum-exp is not merged: that of the last machine takes its place",
        ),
        Wrong(
            "merge_attention(found, part)",
            "(\n"
            "                merge_attention(found, part)[0],\n"
            "                found[1] + part[1],\n"
            "            )",
            "the log-sum-exps are added; their exponentials should be",
        ),
        Wrong(
            "for _ in rows:",
            "for step in range(len(rows) + 1):",
            "there is one step too many, so that a machine is counted twice, "
            "and nobody is home",
        ),
        Wrong(
            "        guests = [guests[-1], *guests[:-1]]\n"
            "    return [found[0] for _, _, found in guests]",
            "        guests = [guests[-1], *guests[:-1]]\n"
            "    guests = [*guests[1:], guests[0]] if False else guests\n"
            "    return [found for _, _, (found, _) in guests][::-1]",
            "what was found is given in reverse order of the machines",
        ),
        Wrong(
            "return [found[0] for _, _, found in guests]",
            "return [(found[0])[where.argsort()] for _, where, found in guests]",
            "each machine's rows are sorted by position; they should stay in "
            "its own order",
        ),
        Wrong(
            "return [found[0] for _, _, found in guests]",
            "return torch.cat([found[0] for _, _, found in guests])",
            "the results of all machines are joined to one tensor; a list of "
            "them is asked for",
        ),
        Wrong(
            "return [found[0] for _, _, found in guests]",
            "return torch.stack([found[0] for _, _, found in guests])",
            "the results of all machines are stacked to one tensor; a list of "
            "them is asked for",
        ),
        Wrong(
            "return [found[0] for _, _, found in guests]",
            "whole = torch.zeros_like(value)\n"
            "    for _, where, found in guests:\n"
            "        whole[where] = found[0]\n"
            "    return [*whole.split(len(rows[0]))]",
            "the rows are put in the order of the text, and cut into pieces; "
            "each machine should have those of its own tokens",
        ),
        Wrong(
            "return [found[0] for _, _, found in guests]",
            "return [found[1] for _, _, found in guests]",
            "the log-sum-exps are given; the rows should be",
        ),
        Wrong(
            "mask = own <= where[:, None]",
            "mask = own <= where",
            "the positions of the queries get no axis of their own: [:, None] "
            "is missing",
        ),
        Wrong(
            "mask = own <= where[:, None]",
            "mask = (own <= where.max()).expand(len(where), -1)",
            "the mask is that of the latest query of a guest, for all of them",
        ),
        Wrong(
            "value[own], mask",
            "value[where], mask",
            "the values of the guest's home are used; they should be the machine's own",
        ),
        Wrong(
            "key[own], value[own]",
            "key[where], value[where]",
            "the guests bring their own keys and values along; they should use "
            "the machine's",
        ),
        Wrong(
            "            guests[machine] = (asked, where, found)\n",
            "            guests[machine] = (asked, own, found)\n",
            "a guest takes the machine's positions along in place of its own",
        ),
        Wrong(
            "merge_attention(found, part)",
            "max(found, part, key=lambda one: float(one[1].sum()))",
            "of two machines the one with more mass is kept, and the other is "
            "forgotten",
        ),
        Wrong(
            "mask = own <= where[:, None]",
            "mask = own <= where[:, None] + 1",
            "each query sees one position of the future",
        ),
        Wrong(
            "guests = [(query[own], own, None) for own in rows]",
            "size = len(rows[0])\n"
            "    guests = [\n"
            "        (query[n * size : (n + 1) * size], own, None) for n, own "
            "in enumerate(rows)\n"
            "    ]",
            "the queries are cut in the order of the text; each machine should "
            "have those that `rows` names",
        ),
        Wrong(
            "        guests = [guests[-1], *guests[:-1]]\n"
            "    return [found[0] for _, _, found in guests]",
            "        guests = [guests[-1], *guests[:-1]]\n"
            "    for n, own in enumerate(rows):\n"
            "        found = None\n"
            "        for step in range(len(rows) - 1):\n"
            "            there = rows[(n + step) % len(rows)]\n"
            "            part = attention_with_lse(\n"
            "                query[own], key[there], value[there], mask=there "
            "<= own[:, None]\n"
            "            )\n"
            "            found = part if found is None else "
            "merge_attention(found, part)\n"
            "        guests[n] = (query[own], own, found)\n"
            "    return [found[0] for _, _, found in guests]",
            "there is one step too few: no query meets the keys of the machine "
            "before its own",
        ),
        Wrong(
            "        guests = [guests[-1], *guests[:-1]]\n"
            "    return [found[0] for _, _, found in guests]",
            "        guests = [guests[-1], *guests[:-1]]\n"
            "    for n, own in enumerate(rows):\n"
            "        found = None\n"
            "        for step in range(len(rows) - 1):\n"
            "            there = rows[(n - step) % len(rows)]\n"
            "            part = attention_with_lse(\n"
            "                query[own], key[there], value[there], mask=there "
            "<= own[:, None]\n"
            "            )\n"
            "            found = part if found is None else "
            "merge_attention(found, part)\n"
            "        guests[n] = (query[own], own, found)\n"
            "    return [found[0] for _, _, found in guests]",
            "there is one step too few: no query meets the keys of the machine "
            "behind its own",
        ),
        Wrong(
            "mask = own <= where[:, None]",
            "mask = own.sort().values <= where[:, None]",
            "positions are sorted for the mask, and the keys are not",
        ),
        Wrong(
            "merge_attention(found, part)",
            "(\n"
            "                merge_attention(found, part)[0],\n"
            "                torch.maximum(found[1], part[1]),\n"
            "            )",
            "the larger of two log-sum-exps is taken on; their exponentials should "
            "be added",
        ),
        Wrong(
            "            mask = own <= where[:, None]\n",
            "            home = [torch.equal(where, its) for its in rows].index(True)\n"
            "            if machine > home:\n"
            "                continue\n"
            "            mask = own <= where[:, None]\n",
            "machines with a higher number than the guest's home are skipped, as "
            "if they held later tokens alone; positions lie in any order",
        ),
        Wrong(
            "            mask = own <= where[:, None]\n",
            "            home = [torch.equal(where, its) for its in rows].index(True)\n"
            "            if machine < home:\n"
            "                continue\n"
            "            mask = own <= where[:, None]\n",
            "machines with a lower number than the guest's home are skipped; "
            "each holds some of the past",
        ),
        Wrong(
            "            mask = own <= where[:, None]\n",
            "            if own[0] > where[0]:\n"
            "                continue\n"
            "            mask = own <= where[:, None]\n",
            "a machine is skipped if its first position is later than the "
            "guest's first; others of its positions may be earlier",
        ),
        Wrong(
            "return [found[0] for _, _, found in guests]",
            "return [found for _, _, found in guests][0][0]",
            "only the rows of the first machine are given",
        ),
        Wrong(
            "return [found[0] for _, _, found in guests]",
            "return [guest for guest in guests]",
            "what travels is given whole, with queries and positions; the rows alone "
            "are asked for",
        ),
        Wrong(
            "return [found[0] for _, _, found in guests]",
            "return [where for _, where, _ in guests]",
            "the positions are given; the rows should be",
        ),
        Wrong(
            "guests = [guests[-1], *guests[:-1]]",
            "guests = guests[::-1]",
            "the order of the guests is turned round in each step; they should move "
            "on by one",
        ),
        Wrong(
            "attention_with_lse(asked, key[own], value[own], mask=mask)",
            "attention_with_lse(query[own], key[own], value[own], mask=mask)",
            "the machine's own queries are asked again, and not those of the guest",
        ),
        Wrong(
            "attention_with_lse(asked, key[own], value[own], mask=mask)",
            "attention_with_lse(asked, key[own], value[own], causal=True)",
            "the future is hidden by `causal=True`, which counts places on the "
            "machine, and not positions",
            same_as="keys are hidden by their place on the machine, and not by their "
            "position",
        ),
        Wrong(
            "attention_with_lse(asked, key[own], value[own], mask=mask)",
            "attention_with_lse(asked, key[own], value[own], mask)",
            "the mask is given without its name, and attention_with_lse takes it by "
            "name",
        ),
        Wrong(
            "attention_with_lse(asked, key[own], value[own], mask=mask)",
            "attention_with_lse(asked, key[own], key[own], mask=mask)",
            "keys are mixed; values should be",
        ),
        Wrong(
            "attention_with_lse(asked, key[own], value[own], mask=mask)",
            "attention_with_lse(asked, value[own], key[own], mask=mask)",
            "keys and values are exchanged",
        ),
        Wrong(
            "attention_with_lse(asked, key[own], value[own], mask=mask)",
            "attention_with_lse(key[own], asked, value[own], mask=mask)",
            "queries and keys are exchanged",
        ),
        Wrong(
            "attention_with_lse(asked, key[own], value[own], mask=mask)",
            "attention_with_lse(asked, key[own], value[own], mask=~mask)",
            "the mask is turned round where it is handed over",
            same_as="the mask is turned round: True where a key is in the future",
        ),
        Wrong(
            "merge_attention(found, part)",
            "merge_attention(*found, *part)",
            "four tensors are handed to merge_attention; it takes two pairs",
        ),
        Wrong(
            "merge_attention(found, part)",
            "merge_attention(found, part)[0]",
            "only the rows of a merge are kept, without their log-sum-exps",
        ),
        Wrong(
            "merge_attention(found, part)",
            "part if where.min() > own.max() else merge_attention(found, part)",
            "a machine whose tokens are all in the past replaces what was found before",
        ),
        Wrong(
            "found = part if found is None else merge_attention(found, part)",
            "found = merge_attention(found, part)",
            "None is merged at the first machine, where nothing has been found yet",
        ),
        Wrong(
            "guests = [(query[own], own, None) for own in rows]",
            "guests = [(query[n], own, None) for n, own in enumerate(rows)]",
            "a machine has the query of its own number; it should have those of its "
            "tokens",
        ),
        Wrong(
            "guests = [(query[own], own, None) for own in rows]",
            "guests = [(query, own, None) for own in rows]",
            "each machine sends the queries of the whole text",
        ),
        Wrong(
            "mask = own <= where[:, None]",
            "mask = torch.ones(len(where), len(own), dtype=torch.bool)",
            "the mask is True everywhere",
            same_as="nothing is hidden",
        ),
        Wrong(
            "key[own], value[own]",
            "key[own], value",
            "the values of the whole text are handed over; a machine has its own alone",
        ),
        Wrong(
            "    return [found[0] for _, _, found in guests]",
            "    found = []\n"
            "    for own in rows:\n"
            "        parts = [\n"
            "            attention_with_lse(query[own], key[o], value[o], mask=o <= "
            "own[:, None])\n"
            "            for o in rows\n"
            "        ]\n"
            "        masses = torch.stack([lse for _, lse in parts])\n"
            "        shares = torch.softmax(masses, dim=-1)\n"
            "        found.append((shares[..., None] * torch.stack([r for r, _ in "
            "parts])).sum(0))\n"
            "    return found",
            "the softmax of the log-sum-exps runs over the queries; it should run "
            "over the machines",
        ),
        Wrong(
            "    return [found[0] for _, _, found in guests]",
            "    found = []\n"
            "    for own in rows:\n"
            "        parts = [\n"
            "            attention_with_lse(query[own], key[o], value[o], mask=o <= "
            "own[:, None])\n"
            "            for o in rows\n"
            "        ]\n"
            "        masses = torch.stack([lse for _, lse in parts])\n"
            "        shares = masses.nan_to_num(neginf=0.0)\n"
            "        found.append((shares[..., None] * torch.stack([r for r, _ in "
            "parts])).sum(0))\n"
            "    return found",
            "rows are multiplied by their log-sum-exps; it should be by the softmax "
            "of these over the machines",
        ),
        Wrong(
            "    return [found[0] for _, _, found in guests]",
            "    found = []\n"
            "    for own in rows:\n"
            "        parts = [\n"
            "            attention_with_lse(query[own], key[o], value[o], mask=o <= "
            "own[:, None])\n"
            "            for o in rows\n"
            "        ]\n"
            "        masses = torch.stack([lse for _, lse in parts])\n"
            "        shares = masses.exp()\n"
            "        found.append((shares[..., None] * torch.stack([r for r, _ in "
            "parts])).sum(0))\n"
            "    return found",
            "rows are multiplied by their sums of exponentials, and not divided by "
            "that of all machines",
        ),
        Wrong(
            "mask = own <= where[:, None]",
            "mask = (own <= where[:, None]).float()",
            "the mask is made of numbers; it must be of True and False",
        ),
        Wrong(
            "guests = [guests[-1], *guests[:-1]]",
            "guests = [guests[-1], *guests]",
            "the last guest is put in front, and stays at the end as well",
        ),
    ],
    stars=3,
    minutes=20,
    covers=("ring_rows",),
)
