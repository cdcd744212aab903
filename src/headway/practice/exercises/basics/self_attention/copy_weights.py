"""Same weights, same result

Two modules of the book compute the same: `SelfAttentionV1` keeps matrices of shape
(d_in, d_out), `SelfAttentionV2` keeps layers `nn.Linear`, whose weights are stored as
(d_out, d_in).

Write `copy_weights(source, target)`: copy the three weights of a V1 into a V2, so that
both give the same. The V2 must keep weights of its own: what is trained in one must not
change the other. Both must still learn: what required gradients still does.
"""

from headway.practice import Exercise, Property, Wrong

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
    copy_weights(one, other)
    learns = all(p.requires_grad for m in (one, other) for p in m.parameters())
    return other(x), one(x), "both can learn" if learns else "frozen"


def of_its_own(copy_weights, x, *weights):  # type: ignore[no-untyped-def]
    one, other = pair(x, weights)
    copy_weights(one, other)
    before = other(x).clone()
    with torch.no_grad():
        for parameter in one.parameters():
            parameter.add_(1.0)
    learns = all(isinstance(p, torch.nn.Parameter) for p in other.parameters())
    return learns and len([*other.parameters()]) == 3 and torch.equal(other(x), before)


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
    ask=run,
    properties=[
        Property(
            "the V2 keeps parameters of its own, which training one does not move "
            "in the other",
            of_its_own,
        ),
    ],
    law="Two modules with the same weights give the same, and still learn apart.",
    right=[
        """
        names = ("W_query", "W_key", "W_value")
        target.load_state_dict({f"{n}.weight": getattr(source, n).T for n in names})
        """,
        """
        for name in ("W_query", "W_key", "W_value"):
            weight = getattr(source, name).detach().T.clone()
            setattr(getattr(target, name), "weight", torch.nn.Parameter(weight))
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
            "another name is given to a tensor, and nothing is copied",
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
    ],
)
