"""Same weights, same result

Two modules of the book compute the same: `SelfAttentionV1` keeps matrices of shape
(d_in, d_out), `SelfAttentionV2` keeps layers `nn.Linear`, whose weights are stored as
(d_out, d_in).

Write `copy_weights(source, target)`: copy the three weights of a V1 into a V2, so that
both give the same. The V2 must keep weights of its own: what is trained in one must not
change the other. Both must still learn: what required gradients still does.
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch

from headway import SelfAttentionV1, SelfAttentionV2


def copy_weights(source: SelfAttentionV1, target: SelfAttentionV2) -> None:
    """Copy W_query, W_key and W_value of a V1 into a V2."""
    # --- write ---
    with torch.no_grad():
        target.W_query.weight.copy_(source.W_query.T)
        target.W_key.weight.copy_(source.W_key.T)
        target.W_value.weight.copy_(source.W_value.T)
    # --- written ---


if __name__ == "__main__":
    one, other = SelfAttentionV1(3, 2), SelfAttentionV2(3, 2)
    copy_weights(one, other)
    x = torch.rand(6, 3)
    print(torch.allclose(one(x), other(x)))
    # True
# --- end of your file ---


def pair(x, weights):  # type: ignore[no-untyped-def]
    d_in, d_out = weights[0].shape
    one, other = SelfAttentionV1(d_in, d_out).double(), SelfAttentionV2(d_in, d_out)
    with torch.no_grad():
        for name, weight in zip(("W_query", "W_key", "W_value"), weights, strict=True):
            getattr(one, name).copy_(weight)
    return one, other.double()


def run(copy_weights, x, *weights):  # type: ignore[no-untyped-def]
    one, other = pair(x, weights)
    with torch.enable_grad():  # which is as before afterwards
        copy_weights(one, other)
        records = torch.is_grad_enabled()
    of_v1, of_v2, own = one(x), other(x), [*other.parameters()]
    learns = [name for name, m in (("V1", one), ("V2", other)) if can_learn(m)]
    with torch.no_grad():
        for parameter in one.parameters():
            parameter.add_(1.0)
    return {
        "the result of the V2": of_v2,
        "the result of the V1": of_v1,
        "whether PyTorch records": "yes" if records else "no more",
        "who can learn": " and ".join(learns) or "nobody",
        "parameters of the V2": len(own),
        "what moves the V2": "nothing" if other(x).equal(of_v2) else "training the V1",
    }


def can_learn(module):  # type: ignore[no-untyped-def]
    return all(one.requires_grad for one in module.parameters())


def each(line):  # type: ignore[no-untyped-def]
    """Write a line for each of the three names."""
    names = ("W_query", "W_key", "W_value")
    return "\n        ".join(line.format(name) for name in names)


THREE = each("target.{0}.weight.copy_(source.{0}.T)")

EXERCISE = Exercise(
    answer="copy_weights",
    read=(
        "basics/self_attention/#the-same-with-linear-layers",
        "The same with linear layers",
    ),
    hints=(
        "In which axis does each of the two keep the d_in numbers of a token?",
        "copy_ writes numbers into a tensor that is there; without torch.no_grad() "
        "PyTorch refuses to write into a parameter.",
        "Each weight of the V2 gets that of the V1 of the same name, turned around "
        "with .T.",
    ),
    draw=lambda d: (
        d.normal(d.T, d.E),
        d.normal(d.E, d.D),
        d.normal(d.E, d.D),
        d.normal(d.E, d.D),
    ),
    trials=({}, dict.fromkeys("TED", 4), {"D": 1}),
    ask=run,
    law="Two modules with the same weights give the same, and still learn apart.",
    right=[
        """
        # By names, as a checkpoint is read: what does not fit is said at once.
        names = ("W_query", "W_key", "W_value")
        target.load_state_dict({f"{n}.weight": getattr(source, n).T for n in names})
        """,
        """
        # New parameters in place of the old, of which an optimizer must be told.
        for name in ("W_query", "W_key", "W_value"):
            weight = getattr(source, name).detach().T.clone()
            setattr(getattr(target, name), "weight", torch.nn.Parameter(weight))
        """,
        """
        # .data is written to behind the back of autograd; copy_ keeps the memory apart.
        for name in ("W_query", "W_key", "W_value"):
            getattr(target, name).weight.data.copy_(getattr(source, name).data.T)
        """,
    ],
    wrong=[
        Wrong(
            "source.W_query.T",
            "source.W_query.reshape(target.W_query.weight.shape)",
            "the queries' weight is reshaped, and not transposed",
        ),
        Wrong(
            "source.W_key.T",
            "source.W_query.T",
            "the queries' weight goes to the keys too",
        ),
        Wrong(
            "target.W_query.weight.copy_(source.W_query.T)\n        "
            "target.W_key.weight.copy_(source.W_key.T)",
            "target.W_query.weight.copy_(source.W_key.T)\n        "
            "target.W_key.weight.copy_(source.W_query.T)",
            "queries and keys are swapped",
            exhibit="heads/#queries-and-keys-swapped",
        ),
        Wrong(
            "target.W_value.weight.copy_(source.W_value.T)",
            "target.W_value.weight.copy_(source.W_key.T)",
            "the keys' weight goes to the values too",
        ),
        Wrong(
            "source.W_query.T",
            "source.W_query",
            "the queries' weight is not transposed: copied as it is, it does not fit",
        ),
        Wrong(
            THREE,
            each("target.{0}.weight.copy_(source.{0})"),
            "no weight is transposed: copied as they are, they do not fit",
        ),
        Wrong(
            THREE,
            each("target.{0}.weight = source.{0}"),
            "the matrices themselves are taken for weights of nn.Linear, which stores "
            "them the other way around",
        ),
        Wrong(
            THREE,
            each("target.{0}.weight.copy_(source.{0}.view(target.{0}.weight.shape))"),
            "all three weights are reshaped, and not transposed",
            hint="view and reshape keep the numbers in their order; .T turns rows into "
            "columns.",
        ),
        Wrong(
            "        target.W_value.weight.copy_(source.W_value.T)\n",
            "",
            "the values' weight is not copied",
        ),
        Wrong(
            THREE,
            each("source.{0}.copy_(target.{0}.weight.T)"),
            "it is copied the other way, from the V2 into the V1",
            hint="a.copy_(b) writes into a.",
        ),
        Wrong(
            THREE,
            each("w = target.{0}.weight\n        w = source.{0}.T"),
            "another name is given to a tensor, and nothing is copied into it",
            hint="w = ... gives a name; w.copy_(...) writes into the tensor.",
        ),
        Wrong(
            THREE,
            each("target.{0}.weight = source.{0}.T.clone()"),
            "a plain tensor is set where a module keeps a parameter, which PyTorch "
            "refuses",
        ),
        Wrong(
            THREE,
            each(
                "target.{0}.weight = torch.nn.Parameter(source.{0}.T.clone(), "
                "requires_grad=False)"
            ),
            "the parameters of the V2 require no gradients any more, so that it never "
            "learns",
        ),
        Wrong(
            "with torch.no_grad():",
            "if True:",
            "parameters are written to while PyTorch records, which it refuses",
        ),
        Wrong(
            THREE,
            each("target.{0}.weight.data = source.{0}.data.T"),
            "the layers get views of the matrices, so that both modules "
            "have one memory",
            hint=".T copies nothing: it is another view of the same numbers. "
            "clone() or copy_ makes a copy.",
        ),
        Wrong(
            THREE,
            each("target.{0}.weight = torch.nn.Parameter(source.{0}.T)"),
            "nn.Parameter is wrapped around a view, and copies nothing",
            same_as="the layers get views of the matrices, so that both modules "
            "have one memory",
        ),
        Wrong(
            THREE,
            each(
                "source.{0}.requires_grad_(False)\n"
                "        target.{0}.weight.copy_(source.{0}.T)"
            ),
            "the matrices of the V1 are frozen for the copy, and stay so",
        ),
        Wrong(
            THREE,
            each("target.{0}.weight.requires_grad_(False).copy_(source.{0}.T)"),
            "the weights of the V2 are frozen for the copy, and stay so",
            same_as="the parameters of the V2 require no gradients any more, so "
            "that it never learns",
        ),
        Wrong(
            THREE,
            "for one in (*source.parameters(), *target.parameters()):\n"
            "            one.requires_grad_(False)\n        " + THREE,
            "all weights are frozen for the copy, and stay so",
        ),
        Wrong(
            "        target.W_key.weight.copy_(source.W_key.T)\n",
            "",
            "the keys' weight is not copied",
        ),
        Wrong(
            "        target.W_query.weight.copy_(source.W_query.T)\n",
            "",
            "the queries' weight is not copied",
        ),
        Wrong(
            "        target.W_key.weight.copy_(source.W_key.T)\n"
            "        target.W_value.weight.copy_(source.W_value.T)\n",
            "",
            "only the queries' weight is copied",
        ),
        Wrong(
            THREE,
            each("target.{0}.weight.copy_(source.W_query.T)"),
            "all three get the weight of the queries",
        ),
        Wrong(
            "target.W_value.weight.copy_(source.W_value.T)",
            "target.W_value.weight.copy_(source.W_query.T)",
            "the queries' weight goes to the values too",
        ),
        Wrong(
            "source.W_query.T",
            "source.W_key.T",
            "the keys' weight goes to the queries too",
        ),
        Wrong(
            "target.W_key.weight.copy_(source.W_key.T)\n"
            "        target.W_value.weight.copy_(source.W_value.T)",
            "target.W_key.weight.copy_(source.W_value.T)\n"
            "        target.W_value.weight.copy_(source.W_key.T)",
            "keys and values are swapped",
        ),
        Wrong(
            "source.W_key.T",
            "source.W_key",
            "the keys' weight is not transposed: copied as it is, it does not fit",
        ),
        Wrong(
            "source.W_value.T",
            "source.W_value",
            "the values' weight is not transposed: copied as it is, it does not fit",
        ),
        Wrong(
            "source.W_key.T",
            "source.W_key.reshape(target.W_key.weight.shape)",
            "the keys' weight is reshaped, and not transposed",
        ),
        Wrong(
            "source.W_value.T",
            "source.W_value.reshape(target.W_value.weight.shape)",
            "the values' weight is reshaped, and not transposed",
        ),
        Wrong(
            THREE,
            "target.load_state_dict(source.state_dict())",
            "the names of the two modules differ: W_query here, W_query.weight there",
        ),
        Wrong(
            THREE,
            "target.load_state_dict(source.state_dict(), strict=False)",
            "the names of the two modules differ, and strict=False hides "
            "that nothing is read",
            same_as="another name is given to a tensor, and nothing is copied into it",
        ),
        Wrong(
            THREE,
            each("target.{0}.weight.T.copy_(source.{0}.T)"),
            "both sides are turned around, so that they do not fit each other",
        ),
        Wrong(
            THREE,
            each("target.{0}.weight.add_(source.{0}.T)"),
            "the matrices are added to the weights that were there; they "
            "should replace them",
        ),
        Wrong(
            THREE,
            each("target.{0}.weight.clone().copy_(source.{0}.T)"),
            "it is copied into a clone, and the weights stay as they were",
            same_as="another name is given to a tensor, and nothing is copied into it",
        ),
        Wrong(
            THREE,
            each("target.{0} = source.{0}.T"),
            "a matrix is set in place of a layer, which PyTorch refuses",
        ),
        Wrong(
            THREE,
            each("target.{0}.copy_(source.{0}.T)"),
            "a layer has no copy_: its weight has",
        ),
        Wrong(
            THREE,
            each("target.{0}.weight = torch.nn.Parameter(source.{0}.clone())"),
            "the matrices are copied as they are; nn.Linear stores them "
            "the other way around",
        ),
        Wrong(
            THREE,
            each("target.{0}.weight.copy_(source.W_value.T)"),
            "all three get the weight of the values",
        ),
        Wrong(
            THREE,
            each("target.{0}.weight.copy_(source.W_key.T)"),
            "all three get the weight of the keys",
        ),
        Wrong(
            THREE,
            "target.W_query.weight.copy_(source.W_value.T)\n"
            "        target.W_key.weight.copy_(source.W_key.T)\n"
            "        target.W_value.weight.copy_(source.W_query.T)",
            "queries and values are swapped",
        ),
        Wrong(
            THREE,
            each("target.{0}.weight.copy_(source.{0}.weight.T)"),
            "the matrices of the V1 are asked for .weight, which layers have: "
            "they are parameters themselves",
        ),
        Wrong(
            THREE,
            "target.load_state_dict(\n"
            '            {f"{n[:-7]}.weight": getattr(source, n[:-7]) for n in '
            "target.state_dict()}\n"
            "        )",
            "the matrices are read in as they are; nn.Linear stores them the "
            "other way around, and they do not fit",
        ),
        Wrong(
            THREE,
            each(
                "target.{0}.weight = torch.nn.Parameter("
                "source.{0}.detach().T.contiguous())"
            ),
            "contiguous() copies only what does not lie in order already: with "
            "d_out one, both modules have one memory",
        ),
        Wrong(
            "with torch.no_grad():",
            "torch.set_grad_enabled(False)\n    if True:",
            "gradients are switched off for all that follows; `with "
            "torch.no_grad():` switches them on again",
        ),
    ],
    minutes=6,
)
