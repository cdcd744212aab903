"""Same weights, same result

Two modules of the book compute the same: `SelfAttentionV1` keeps matrices of shape
(d_in, d_out), `SelfAttentionV2` keeps layers `nn.Linear`, whose weights are stored as
(d_out, d_in).

Write `copy_weights(source, target)`: copy the three weights of a V1 into a V2, so that
both give the same. The V2 must keep weights of its own: what is trained in one must not
change the other. Both must still learn: what required gradients still does.
"""

from headway.practice import Exercise

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
    minutes=6,
)
