"""Same weights, same result

Two modules of the book compute the same: `SelfAttentionV1` keeps matrices of shape
(d_in, d_out), `SelfAttentionV2` keeps layers `nn.Linear`, whose weights are stored as
(d_out, d_in).

Write `copy_weights(source, target)`: copy the three weights of a V1 into a V2, so that
both give the same. The V2 must keep weights of its own: what is trained in one must not
change the other.
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
    return other(x)


def of_its_own(copy_weights, x, *weights):  # type: ignore[no-untyped-def]
    one, other = pair(x, weights)
    copy_weights(one, other)
    before = other(x).clone()
    with torch.no_grad():
        for parameter in one.parameters():
            parameter.add_(1.0)
    learns = all(isinstance(p, torch.nn.Parameter) for p in other.parameters())
    return learns and len([*other.parameters()]) == 3 and torch.equal(other(x), before)


EXERCISE = Exercise(
    answer="copy_weights",
    read=(
        "basics/self_attention/#same-weights-same-result",
        "Same weights, same result",
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
            "queries and keys change places",
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
            "with torch.no_grad():",
            "if True:",
            "parameters are written to while PyTorch records, which it refuses",
        ),
    ],
)
