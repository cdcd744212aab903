"""A memory that learns

A memory M (D, V) answers a key k with M^T k. Let its loss be half the square of its
error, the sum of (v - M^T k) ** 2 over the numbers of v, divided by two.

Write `learn(memory, key, value, beta, alpha)`: first the memory fades, M becomes
alpha * M; then it makes one step of gradient descent on that loss, with the learning
rate beta. `key` is (D), `value` (V). Use `torch.autograd.grad`, or find the slope by
hand. Give the new memory, (D, V), which needs no gradient.
"""

from headway.practice import Exercise, Property, Wrong

# --- your file ---
import torch
from torch import Tensor


def learn(
    memory: Tensor, key: Tensor, value: Tensor, beta: float, alpha: float
) -> Tensor:
    """Let a memory (D, V) fade, and learn one pair of key (D) and value (V)."""
    # --- write ---
    faded = (alpha * memory).requires_grad_()
    loss = (value - key @ faded).square().sum() / 2
    [slope] = torch.autograd.grad(loss, faded)
    return (faded - beta * slope).detach()
    # --- written ---


if __name__ == "__main__":
    memory, e1 = torch.tensor([[4.0], [0.0]]), torch.tensor([1.0, 0.0])
    print(learn(memory, e1, torch.tensor([8.0]), beta=1.0, alpha=0.5).flatten())
    # tensor([8., 0.])
# --- end of your file ---


EXERCISE = Exercise(
    answer="learn",
    read=("variants/delta_rule/#in-tensors", "In tensors"),
    hints=(
        "What does the memory answer before the step: before it has faded, or after?",
        "Make the faded memory a leaf that wants a gradient, compute the loss from it, "
        "and go against the slope.",
        "grad gives one tensor for each that it is asked for. Take beta times the "
        "slope off the faded memory, and detach what you give back.",
    ),
    draw=lambda d: (
        d.normal(d.D, d.V),
        d.normal(d.D) / d.loud,
        d.normal(d.V),
        0.3,
        0.8,
    ),
    properties=[
        Property(
            "the new memory hangs on no graph",
            lambda learn, *drawn: not learn(*drawn).requires_grad,
        ),
        Property(
            "the memory that is given stays as it is, and asks for no gradient",
            lambda learn, memory, *drawn: (
                learn(memory, *drawn) is not None and not memory.requires_grad
            ),
        ),
    ],
    law="One write of the delta rule is one step of gradient descent: such a layer "
    "learns while it reads.",
    right=[
        """
        # By hand: the slope is minus key times error, and the minus goes away.
        faded = alpha * memory
        return faded + beta * torch.outer(key, value - key @ faded)
        """,
        """
        # As a model is trained: a parameter, backward, and a step without grad.
        layer = torch.nn.Parameter(alpha * memory)
        loss = torch.nn.functional.mse_loss(key @ layer, value, reduction="sum") / 2
        loss.backward()
        with torch.no_grad():
            layer -= beta * layer.grad
        return layer.detach()
        """,
    ],
    wrong=[
        Wrong(
            "    faded = (alpha * memory).requires_grad_()\n"
            "    loss = (value - key @ faded).square().sum() / 2\n"
            "    [slope] = torch.autograd.grad(loss, faded)\n",
            "    faded = alpha * memory\n"
            "    slope = -torch.outer(key, value - key @ memory)\n",
            "the error is taken before the fade: more is taken out than is left",
        ),
        Wrong(
            "faded - beta * slope",
            "faded + beta * slope",
            "it goes up the slope, so that the error grows",
        ),
        Wrong(
            "square().sum() / 2",
            "square().sum()",
            "the half is missing, so that the step is twice as long",
        ),
        Wrong(
            "square().sum() / 2",
            "square().mean() / 2",
            "the loss is a mean over the numbers of the value, and not their sum",
        ),
        Wrong(
            "square().sum() / 2",
            "abs().sum()",
            "the loss is the size of the error, and not its square",
        ),
        Wrong("(alpha * memory)", "memory", "nothing fades"),
        Wrong(
            "(faded - beta * slope)",
            "(alpha * (memory - beta * slope))",
            "what has been learned fades as well",
        ),
        Wrong(
            "(faded - beta * slope)",
            "(memory - beta * slope)",
            "the step is made from the memory as it was before the fade",
        ),
        Wrong(
            "value - key @ faded",
            "value - beta * (key @ faded)",
            "beta acts on the answer as well",
        ),
        Wrong("beta * slope", "slope", "the learning rate is left out"),
        Wrong(
            "    loss = (value - key @ faded).square().sum() / 2\n"
            "    [slope] = torch.autograd.grad(loss, faded)\n",
            "    slope = -torch.outer(value - key @ faded, key)\n",
            "rows and columns are exchanged: the correction is written along the "
            "columns",
        ),
        Wrong(
            "    loss = (value - key @ faded).square().sum() / 2\n"
            "    [slope] = torch.autograd.grad(loss, faded)\n",
            "    slope = faded - torch.outer(key, value)\n",
            "the whole memory gives way to the new pair, and not what stands under the "
            "key alone",
        ),
        Wrong(
            "    loss = (value - key @ faded).square().sum() / 2\n"
            "    [slope] = torch.autograd.grad(loss, faded)\n",
            "    slope = -torch.outer(key, value)\n",
            "nothing is taken off, and the pair is added to what is there",
        ),
        Wrong(
            "beta * slope",
            "beta / 2 * slope",
            "the half of the loss goes into the step as well, though the slope of "
            "half a square has no half",
        ),
        Wrong(
            "    faded = (alpha * memory)",
            "    faded = ((1 - alpha) * memory)",
            "one less alpha is kept, and not alpha",
        ),
        Wrong(
            "faded - beta * slope",
            "-beta * slope",
            "only the step is given, and not the memory that makes it",
        ),
        Wrong(
            "square().sum() / 2",
            "square().mean()",
            "the loss is the mean of the squares, without a half",
        ),
        Wrong(
            "    faded = (alpha * memory)",
            "    alpha, beta = beta, alpha\n    faded = (alpha * memory)",
            "alpha and beta are exchanged",
        ),
        Wrong(
            "    return (faded - beta * slope).detach()",
            "    return (faded - alpha * beta * slope).detach()",
            "the slope is that of the memory before the fade, so that alpha "
            "comes into the step",
            same_as="what has been learned fades as well",
        ),
        Wrong(
            "    faded = (alpha * memory).requires_grad_()\n"
            "    loss = (value - key @ faded).square().sum() / 2\n"
            "    [slope] = torch.autograd.grad(loss, faded)\n",
            "    faded = memory.clone().requires_grad_()\n"
            "    loss = (value - key @ faded).square().sum() / 2\n"
            "    [slope] = torch.autograd.grad(loss, faded)\n"
            "    faded, slope = alpha * faded, alpha * slope\n",
            "the step is made first and the memory fades after it; it should "
            "fade first",
        ),
        Wrong(
            "    faded = (alpha * memory).requires_grad_()\n"
            "    loss = (value - key @ faded).square().sum() / 2\n"
            "    [slope] = torch.autograd.grad(loss, faded)\n",
            "    faded = memory.clone().requires_grad_()\n"
            "    loss = (value - key @ faded).square().sum() / 2\n"
            "    [slope] = torch.autograd.grad(loss, faded)\n"
            "    faded = alpha * memory\n",
            "the slope is taken from the memory before the fade",
            same_as="the error is taken before the fade: more is taken out than "
            "is left",
        ),
        Wrong(
            "(faded - beta * slope)",
            "faded",
            "the memory fades, and nothing is learned",
        ),
        Wrong(
            "    return (faded - beta * slope).detach()",
            "    return slope",
            "the slope is given; the new memory should be",
        ),
        Wrong(
            "    return (faded - beta * slope).detach()",
            "    return loss.detach()",
            "the loss is given; the new memory should be",
        ),
        Wrong(
            "key @ faded",
            "faded @ key",
            "the memory is multiplied from the wrong side: it has a row for "
            "each number of the key",
        ),
        Wrong(
            "square().sum() / 2",
            "square().sum().sqrt()",
            "the root of the squares is taken for the loss, so that each step "
            "has the same length",
        ),
        Wrong(
            "square().sum() / 2",
            "sum()",
            "the errors are added without their squares",
        ),
        Wrong(
            "square().sum() / 2",
            "square().sum() * 2",
            "the loss is doubled; it should be halved",
        ),
        Wrong(
            "value - key @ faded",
            "value + key @ faded",
            "what the memory says is added to the value; it should be taken off",
        ),
        Wrong(
            "(faded - beta * slope)",
            "(faded - beta**2 * slope)",
            "the learning rate comes in twice",
        ),
        Wrong(
            "(faded - beta * slope)",
            "((1 - beta) * faded - beta * slope)",
            "the memory fades by the learning rate as well",
        ),
        Wrong(
            "(alpha * memory)",
            "(alpha * alpha * memory)",
            "the memory fades twice",
        ),
        Wrong(
            "(alpha * memory)",
            "(memory / alpha)",
            "it is divided by alpha; it should be multiplied",
        ),
        Wrong(
            "(alpha * memory)",
            "(beta * memory)",
            "the memory fades by beta, and alpha is not used",
        ),
        Wrong(
            "beta * slope",
            "alpha * slope",
            "alpha is taken for the learning rate, and beta is not used",
        ),
        Wrong(
            "    loss = (value - key @ faded).square().sum() / 2\n"
            "    [slope] = torch.autograd.grad(loss, faded)\n",
            "    slope = -torch.outer(key, value - memory.T @ key * alpha * alpha)\n",
            "the answer fades twice, and the memory once",
        ),
        Wrong(
            "    loss = (value - key @ faded).square().sum() / 2\n"
            "    [slope] = torch.autograd.grad(loss, faded)\n",
            "    slope = torch.outer(key, key @ faded)\n",
            "what the memory says is taken off, and the value is never written",
        ),
        Wrong(
            "    return (faded - beta * slope).detach()",
            "    return (faded - beta * slope).detach(), loss.detach()",
            "the loss is given as well; the new memory alone is asked for",
        ),
        Wrong(
            "    return (faded - beta * slope).detach()",
            "    return key @ (faded - beta * slope).detach()",
            "what the new memory answers is given; the memory itself is asked for",
        ),
        Wrong(
            "    return (faded - beta * slope).detach()",
            "    return alpha * (faded - beta * slope).detach()",
            "the memory fades a second time, after the step",
        ),
        Wrong(
            "    return (faded - beta * slope).detach()",
            "    return (faded - beta * slope / slope.norm()).detach()",
            "the slope is divided by its length",
        ),
        Wrong(
            "    return (faded - beta * slope).detach()",
            "    return (faded - beta / (1 - alpha) * slope).detach()",
            "beta is divided by one less alpha",
        ),
        Wrong(
            "(value - key @ faded).square().sum() / 2",
            "(key @ faded - value * beta).square().sum() / 2",
            "beta acts on the value as well",
        ),
        Wrong(
            "    faded = (alpha * memory).requires_grad_()\n"
            "    loss = (value - key @ faded).square().sum() / 2\n"
            "    [slope] = torch.autograd.grad(loss, faded)\n"
            "    return (faded - beta * slope).detach()",
            "    faded = alpha * memory\n"
            "    error = value - key @ faded\n"
            "    return faded + beta * torch.outer(key, error) / (key @ key)",
            "the step is divided by the squared length of the key",
        ),
        Wrong(
            "    faded = (alpha * memory).requires_grad_()\n"
            "    loss = (value - key @ faded).square().sum() / 2\n"
            "    [slope] = torch.autograd.grad(loss, faded)\n"
            "    return (faded - beta * slope).detach()",
            "    faded = alpha * memory\n"
            "    return faded + beta * torch.outer(key, key @ faded - value)",
            "the error is taken with its sign turned, so that it grows",
            same_as="it goes up the slope, so that the error grows",
        ),
        Wrong(
            "    faded = (alpha * memory).requires_grad_()\n"
            "    loss = (value - key @ faded).square().sum() / 2\n"
            "    [slope] = torch.autograd.grad(loss, faded)\n"
            "    return (faded - beta * slope).detach()",
            "    faded = alpha * memory\n"
            "    return faded + torch.outer(key, beta * value - key @ faded)",
            "beta is multiplied to the value alone, and the old answer is taken off "
            "whole",
        ),
        Wrong(
            "    faded = (alpha * memory).requires_grad_()\n"
            "    loss = (value - key @ faded).square().sum() / 2\n"
            "    [slope] = torch.autograd.grad(loss, faded)\n"
            "    return (faded - beta * slope).detach()",
            "    faded = alpha * memory\n"
            "    return (1 - beta) * faded + beta * torch.outer(key, value)",
            "old memory and new pair are mixed by 1 - beta and beta",
            same_as="the whole memory gives way to the new pair, and not what stands "
            "under the key alone",
        ),
        Wrong(
            "    faded = (alpha * memory).requires_grad_()\n"
            "    loss = (value - key @ faded).square().sum() / 2\n"
            "    [slope] = torch.autograd.grad(loss, faded)\n"
            "    return (faded - beta * slope).detach()",
            "    faded = alpha * memory\n"
            "    return faded + 2 * beta * torch.outer(key, value - key @ faded)",
            "the slope of the square is taken without the half",
            same_as="the half is missing, so that the step is twice as long",
        ),
        Wrong(
            "    faded = (alpha * memory).requires_grad_()\n"
            "    loss = (value - key @ faded).square().sum() / 2\n"
            "    [slope] = torch.autograd.grad(loss, faded)\n"
            "    return (faded - beta * slope).detach()",
            "    faded = alpha * memory\n"
            "    return faded + beta * key[:, None] * (value - faded)",
            "each row of the memory is compared with the value; the answer should be, "
            "the sum of all rows by the key",
        ),
        Wrong(
            "    faded = (alpha * memory).requires_grad_()\n"
            "    loss = (value - key @ faded).square().sum() / 2\n"
            "    [slope] = torch.autograd.grad(loss, faded)\n"
            "    return (faded - beta * slope).detach()",
            "    faded = alpha * memory\n"
            "    return faded + beta * (value - key @ faded)",
            "the error is added to every row alike; each row should get it times its "
            "number of the key",
        ),
        Wrong(
            "    faded = (alpha * memory).requires_grad_()\n"
            "    loss = (value - key @ faded).square().sum() / 2\n"
            "    [slope] = torch.autograd.grad(loss, faded)\n"
            "    return (faded - beta * slope).detach()",
            "    faded = alpha * memory\n"
            "    return faded + beta * (key @ torch.outer(key, value - key @ faded))",
            "the outer product is multiplied by the key once more, and added to every "
            "row",
        ),
        Wrong(
            "    [slope] = torch.autograd.grad(loss, faded)\n",
            "    slope = torch.autograd.grad(loss, faded)\n",
            "grad gives a tuple with one tensor, and the tuple is multiplied by beta",
        ),
        Wrong(
            "    [slope] = torch.autograd.grad(loss, faded)\n",
            "    loss.backward()\n    slope = memory.grad\n",
            "the slope is looked for at the memory that was given; it is at the faded "
            "one",
        ),
        Wrong(
            "(alpha * memory).requires_grad_()",
            "alpha * memory",
            "the faded memory does not ask for a gradient: requires_grad_() is missing",
        ),
        Wrong(
            "square().sum() / 2",
            "square() / 2",
            "the squares are not summed: a loss must be one number",
        ),
        Wrong(
            "    faded = (alpha * memory).requires_grad_()\n"
            "    loss = (value - key @ faded).square().sum() / 2\n"
            "    [slope] = torch.autograd.grad(loss, faded)\n"
            "    return (faded - beta * slope).detach()",
            "    faded = alpha * memory\n"
            "    key = key / key.norm()\n"
            "    return faded + beta * torch.outer(key, value - key @ faded)",
            "the key is divided by its length first; it should be taken as it is",
        ),
        Wrong(
            "    faded = (alpha * memory).requires_grad_()\n"
            "    loss = (value - key @ faded).square().sum() / 2\n"
            "    [slope] = torch.autograd.grad(loss, faded)\n"
            "    return (faded - beta * slope).detach()",
            "    faded = alpha * memory\n"
            "    return faded - beta * torch.outer(key, key @ faded) + "
            "torch.outer(key, value)",
            "beta is multiplied to the old answer alone, and the value is written "
            "whole",
        ),
        Wrong(
            "    faded = (alpha * memory).requires_grad_()\n"
            "    loss = (value - key @ faded).square().sum() / 2\n"
            "    [slope] = torch.autograd.grad(loss, faded)\n"
            "    return (faded - beta * slope).detach()",
            "    faded = alpha * memory\n"
            "    return faded + (1 - alpha) * beta * torch.outer(key, value - key @ "
            "faded)",
            "the step is multiplied by 1 - alpha as well",
        ),
        Wrong(
            "    faded = (alpha * memory).requires_grad_()\n"
            "    loss = (value - key @ faded).square().sum() / 2\n"
            "    [slope] = torch.autograd.grad(loss, faded)\n"
            "    return (faded - beta * slope).detach()",
            "    faded = alpha * memory\n"
            "    return faded + beta * key[:, None] * (value - key @ faded).mean()",
            "the mean of the error is written to all columns; each number of it has "
            "its own",
        ),
        Wrong(
            "    faded = (alpha * memory).requires_grad_()\n"
            "    loss = (value - key @ faded).square().sum() / 2\n"
            "    [slope] = torch.autograd.grad(loss, faded)\n"
            "    return (faded - beta * slope).detach()",
            "    faded = alpha * memory\n"
            "    for _ in range(2):\n"
            "        faded = faded + beta * torch.outer(key, value - key @ faded)\n"
            "    return faded",
            "two steps are made; it should be one",
        ),
        Wrong(
            "    faded = (alpha * memory).requires_grad_()\n"
            "    loss = (value - key @ faded).square().sum() / 2\n"
            "    [slope] = torch.autograd.grad(loss, faded)\n"
            "    return (faded - beta * slope).detach()",
            "    faded = (1 - beta * (1 - alpha)) * memory\n"
            "    return faded + beta * torch.outer(key, value - key @ memory)",
            "the fade is a weight decay of 1 - alpha, which the learning rate makes "
            "smaller, and the error is taken before it",
        ),
        Wrong(
            "(faded - beta * slope)",
            "(faded + slope)",
            "it goes up the slope, and the learning rate is left out",
        ),
        Wrong(
            "(faded - beta * slope)",
            "(memory - slope)",
            "the step is made from the memory before the fade, and the learning rate "
            "is left out",
        ),
        Wrong(
            "(faded - beta * slope)",
            "(memory + beta * slope)",
            "the step is made from the memory before the fade, and up the slope",
        ),
        Wrong(
            "(alpha * memory)",
            "((1 - beta) * memory)",
            "the memory fades by the learning rate, and alpha is not used",
        ),
        Wrong(
            "(alpha * memory)",
            "(memory - alpha)",
            "alpha is taken off the memory; it should be multiplied",
        ),
        Wrong(
            "(faded - beta * slope)",
            "(beta * slope - faded)",
            "the new memory has its sign turned",
        ),
        Wrong(
            "(alpha * memory)",
            "(alpha + memory)",
            "alpha is added to the memory; it should be multiplied",
        ),
    ],
    minutes=12,
    covers=("delta",),
)
