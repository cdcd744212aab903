"""The weights of a layer, for the oracle."""

from headway.checks.attention.evidence.weights import Projections
from tests.support.sizes import D_IN, D, H, draw

D_OUT = 23
GROUPS, GROUPED = 2, 6  # heads of keys, heads of queries


def weights(
    heads: int = H,
    groups: int = H,
    *,
    out: bool = True,
    bias: bool = True,
    width: int = D,
) -> Projections:
    """Draw the weights of a layer."""
    wide, narrow = heads * width, groups * width
    shapes = {"query": wide, "key": narrow, "value": narrow, "out": D_OUT}
    if not out:
        del shapes["out"]
    three = [draw(n, D_IN) for n in (wide, narrow, narrow)]
    last = draw(D_OUT, wide) if out else None
    biases = {role: draw(n) for role, n in shapes.items()} if bias else {}
    return Projections(*three, last, biases, heads, "")
