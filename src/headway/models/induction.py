"""Heads that continue a pattern: a task, a model that learns it, and two scores."""

import math
from collections.abc import Callable, Sequence
from importlib import resources
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway import _require
from headway.basics.fused import fused_attention
from headway.basics.multi_head_attention import MultiHeadAttention
from headway.basics.scaled_dot_product import attention, attention_weights
from headway.models.small_gpt import LanguageModel
from headway.models.transformer_block import TransformerBlock
from headway.positions.rotary import Rotary

_DATA = resources.files("headway.models") / "data"
# The one size of this chapter.
_TOKENS, _LENGTH, _WIDTH, _LONGEST = 26, 33, 32, 64
_DISTANCES = range(5, 17)
_WORDS, _LENGTHS = 5, range(2, 5)


def words_task(
    texts: int,
    lengths: Sequence[int] = _LENGTHS,
    *,
    generator: torch.Generator | None = None,
) -> tuple[Int[Tensor, "B 33"], Bool[Tensor, "B 32"]]:
    """Draw texts that repeat five invented words, in any order.

    Each text has words of its own, of tokens out of 26, no token twice. They are of one
    length, drawn from `lengths`, and each word that is said is drawn anew from the
    five. The text is 33 tokens long, wherever in a word that is.

    Args:
        texts: How many texts to draw.
        lengths: The lengths of words to draw from, each as likely as the others.
        generator: Where the random numbers come from; `None` means torch's own.

    Returns:
        The tokens, and after which of them the next one follows from what was said: the
            present one was said before, and is not the last of its word.

    Raises:
        ValueError: If `texts` is not a positive integer, or `lengths` is empty or holds
            one that is not from 2 to 5.

    Examples:
        >>> ids, asked = words_task(7)
        >>> ids.shape, asked.shape
        (torch.Size([7, 33]), torch.Size([7, 32]))
    """
    _require.positive(texts=texts)
    _require_from_two(_TOKENS // _WORDS, lengths=lengths)
    drawn = torch.randint(len(lengths), (texts, 1), generator=generator)
    length = torch.tensor(lengths)[drawn]
    # Stable, so that two equal numbers have one order on every processor.
    order = torch.rand(texts, _TOKENS, generator=generator).argsort(dim=1, stable=True)
    said = torch.randint(_WORDS, (texts, _LENGTH), generator=generator)
    place = torch.arange(_LENGTH)
    word = said.gather(1, place // length)
    ids = order.gather(1, word * length + place % length)
    before = (ids[:, :, None] == ids[:, None, :]).tril(-1).any(dim=-1)
    asked = before & (place % length < length - 1)
    return ids, asked[:, :-1]


def words_guessing_loss(lengths: Sequence[int] = _LENGTHS) -> float:
    r"""Compute the loss of a guess that knows every token except the present one.

    Whatever the words before were, the present one is equally likely to be each of the
    $m$ that have been said, and so is the next token to be each of $m$: the loss is
    $\ln m$. How likely $m$ different words are after $n$ draws is counted exactly.

    Args:
        lengths: As for `words_task`.

    Returns:
        The mean of $-\ln$ of the share that the right token gets, over the places that
            `words_task` asks for.

    Raises:
        ValueError: If `lengths` is empty or holds one that is not from 2 to 5.

    Examples:
        >>> words_guessing_loss([2]) > words_guessing_loss([4])  # more words are said
        True
    """
    _require_from_two(_TOKENS // _WORDS, lengths=lengths)
    total = places = 0.0
    for length in lengths:
        said = [1.0] + [0.0] * _WORDS  # how likely each number of different words is
        for start in range(0, _LENGTH, length):
            inside = min(length, _LENGTH - start) - 1
            again = [share * m / _WORDS for m, share in enumerate(said)]
            places += inside * sum(again)
            total += inside * sum(again[m] * math.log(m) for m in range(1, _WORDS + 1))
            new = [0.0, *(share - old for share, old in zip(said, again, strict=True))]
            said = [old + fresh for old, fresh in zip(again, new[:-1], strict=True)]
    return total / places


def repeat_task(
    texts: int,
    distances: Sequence[int] = _DISTANCES,
    *,
    generator: torch.Generator | None = None,
) -> tuple[Int[Tensor, "B 33"], Bool[Tensor, "B 32"]]:
    """Draw texts that repeat one block of different tokens.

    Each text has a block of its own, of tokens out of 26, and a length of it of its
    own, drawn from `distances`. The text is 33 tokens long, wherever in the block that
    is. The next token is always the one that was not said for longest, so that a layer
    which looks at distances alone can do well; `words_task` has no such texts.

    Args:
        texts: How many texts to draw.
        distances: The lengths to draw from, each as likely as the others: how far a
            token stands from where it is said again.
        generator: Where the random numbers come from; `None` means torch's own.

    Returns:
        The tokens, and after which of them the next one follows from what was said:
            those of the first block but not of the others.

    Raises:
        ValueError: If `texts` is not a positive integer, or `distances` is empty or
            holds one that is not from 2 to 26.

    Examples:
        >>> ids, asked = repeat_task(7, [5])
        >>> bool((ids[:, 5:] == ids[:, :-5]).all())
        True
    """
    _require.positive(texts=texts)
    _require_from_two(_TOKENS, distances=distances)
    drawn = torch.randint(len(distances), (texts,), generator=generator)
    distance = torch.tensor(distances)[drawn]
    # Stable, so that two equal numbers have one order on every processor.
    order = torch.rand(texts, _TOKENS, generator=generator).argsort(dim=1, stable=True)
    place = torch.arange(_LENGTH) % distance[:, None]
    asked = torch.arange(_LENGTH - 1) >= distance[:, None]
    return order.gather(1, place), asked


def guessing_loss(distances: Sequence[int] = _DISTANCES) -> float:
    r"""Compute the loss of a guess that knows a block, but not the order of its tokens.

    $$\frac{\sum_d (32 - d) \ln(d - 1)}{\sum_d (32 - d)}$$

    The next token is one of the block, and not the present one: $d - 1$ are left, and
    each is as likely as the others. After $32 - d$ tokens of a text of 33 the next one
    has been said before, and so has the present one.

    Args:
        distances: As for `repeat_task`.

    Returns:
        The mean of $-\ln$ of the share that the right token gets.

    Raises:
        ValueError: If `distances` is empty or holds one that is not from 2 to 26.

    Examples:
        >>> round(guessing_loss([5]), 4) == round(math.log(4), 4)
        True
    """
    _require_from_two(_TOKENS, distances=distances)
    places = [_LENGTH - 1 - d for d in distances]
    losses = [math.log(d - 1) for d in distances]
    total = sum(n * loss for n, loss in zip(places, losses, strict=True))
    return total / sum(places)


def copying_loss(
    model: Callable[[Tensor], Tensor],
    ids: Int[Tensor, "B 33"],
    asked: Bool[Tensor, "B 32"],
) -> Float[Tensor, ""]:
    r"""Measure how well a model predicts what it has read before.

    The mean of $-\ln$ of the share that the right token gets, over all places that are
    asked.

    Args:
        model: What gives a score to each token that may come next, of `ids`.
        ids: Texts of `words_task` or `repeat_task`.
        asked: After which of their tokens the next one is asked.

    Returns:
        One number.

    Examples:
        >>> ids, asked = words_task(7)
        >>> alike = lambda ids: torch.zeros(*ids.shape, 26)
        >>> copying_loss(alike, ids, asked).exp().round()
        tensor(26.)
    """
    scores = model(ids[:, :-1])[asked]
    return nn.functional.cross_entropy(scores, ids[:, 1:][asked])


def attention_only_model(layers: int = 2, num_heads: int = 1) -> LanguageModel:
    """Build a model that has nothing but attention between its two tables.

    Args:
        layers: Number of blocks, each an attention and the residual connection.
        num_heads: Number of heads in each; must divide 32 into even widths.

    Returns:
        A model of 26 tokens and width 32 with random weights. It takes texts of at most
            64 tokens.

    Raises:
        ValueError: If `layers` or `num_heads` is not a positive integer, or a head is
            not of an even width.

    Examples:
        >>> model = attention_only_model(layers=1)
        >>> model(torch.zeros(7, 33, dtype=torch.long)).shape
        torch.Size([7, 33, 26])
    """
    _require.positive(layers=layers, num_heads=num_heads)
    _require.divides(num_heads=num_heads, width=_WIDTH)
    rotate = Rotary(_WIDTH // num_heads)
    sizes = (_WIDTH, _WIDTH, _LONGEST, 0.0, num_heads)
    return LanguageModel(
        _TOKENS,
        _WIDTH,
        [
            TransformerBlock(MultiHeadAttention(*sizes, rotate=rotate), None)
            for _ in range(layers)
        ],
    )


def train_induction(
    layers: int = 2,
    num_heads: int = 1,
    task: Callable[[int], tuple[Tensor, Tensor]] = words_task,
    *,
    steps: int = 150,
    seed: int = 0,
) -> LanguageModel:
    """Train an attention-only model to continue repeated texts, in 64 bits.

    With two layers it takes some seconds on one thread; call `torch.set_num_threads(1)`
    before. Torch's own random numbers are left as they were.

    Args:
        layers: Number of blocks.
        num_heads: Number of heads in each.
        task: What draws texts, and says which of their places are asked.
        steps: How many times 64 texts are drawn, and the weights moved.
        seed: What the weights and the texts are drawn with.

    Returns:
        The model. Two processors, or two versions of torch, may round otherwise in the
            last digits, and then come to slightly other weights.

    Raises:
        ValueError: If `layers`, `num_heads` or `steps` is not a positive integer.

    Examples:
        >>> model = train_induction(layers=1, steps=2)
        >>> len(model.blocks)
        1
    """
    _require.positive(steps=steps)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = attention_only_model(layers, num_heads).double()
        optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
        for _ in range(steps):
            loss = copying_loss(model, *task(64))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return model


def induction_model() -> LanguageModel:
    """Return the trained model of two layers with one head each.

    It is what `train_induction()` came to once, with weights rounded to 16 bits: the
    same numbers on every processor.

    Returns:
        A model of its own at each call.

    Examples:
        >>> ids, asked = words_task(100)
        >>> bool(copying_loss(induction_model(), ids, asked) < 0.5)
        True
    """
    model = attention_only_model()
    # Made by `torch.save(train_induction().half().state_dict(), path)`.
    with (_DATA / "induction.pt").open("rb") as file:
        model.load_state_dict(torch.load(file, weights_only=True))
    return model


@torch.no_grad()
def recorded_weights(
    model: LanguageModel, ids: Int[Tensor, "*B T"]
) -> list[Float[Tensor, "*B H T T"]]:
    """Read the attention weights of all layers while a model reads texts.

    The fused kernel returns no weights. So each attention is lent another function,
    which computes the same in the open, and gets its own back.

    Args:
        model: A model whose blocks attend with `attention` or `fused_attention`.
        ids: The tokens' numbers.

    Returns:
        For each block the weights of its heads, before any dropout.

    Raises:
        ValueError: If a block attends with another function: its weights are others.

    Examples:
        >>> first, second = recorded_weights(induction_model(), torch.arange(5))
        >>> first.shape
        torch.Size([1, 5, 5])
        >>> torch.allclose(second.sum(dim=-1), torch.ones(5))
        True
    """
    modules: list[Any] = [block.attention for block in model.blocks]
    own = [module.attend for module in modules]
    _require_plain_attention(own, (attention, fused_attention))
    recorded = []

    def attend(
        query: Tensor,
        key: Tensor,
        value: Tensor,
        *,
        mask: Tensor | None = None,
        bias: Tensor | None = None,
        causal: bool = False,
        dropout_p: float = 0.0,
        scale: float | None = None,
    ) -> Tensor:
        weights = attention_weights(
            query, key, mask=mask, bias=bias, causal=causal, scale=scale
        )
        # Heads that share keys have two axes: the group, and the place in it.
        recorded.append(weights.reshape(*ids.shape[:-1], -1, *weights.shape[-2:]))
        return nn.functional.dropout(weights, dropout_p) @ value

    try:
        for module in modules:
            module.attend = attend
        model(ids)
    finally:
        for module, function in zip(modules, own, strict=True):
            module.attend = function
    return recorded


def previous_token_score(weights: Float[Tensor, "*B H T T"]) -> Float[Tensor, " H"]:
    r"""Measure how much each head looks at the token right before.

    $$\frac{1}{T - 1} \sum_{t=1}^{T-1} \alpha_{t,\,t-1}$$

    Args:
        weights: Attention weights, a row for each query, of at least two tokens.

    Returns:
        For each head the mean over all texts and all tokens but the first.

    Raises:
        ValueError: If `weights` are not floating-point, or there are not as many keys
            as queries, and at least two.

    Examples:
        >>> weights = torch.tensor([[1.0, 0.0, 0.0], [0.7, 0.3, 0.0], [0.1, 0.8, 0.1]])
        >>> previous_token_score(weights[None])
        tensor([0.7500])
    """
    _require_weights_of_one_text(weights)
    back = weights.diagonal(offset=-1, dim1=-2, dim2=-1)
    return back.mean(dim=-1).reshape(-1, weights.shape[-3]).mean(dim=0)


def induction_score(
    weights: Float[Tensor, "*B H T T"], ids: Int[Tensor, "*B T"]
) -> Float[Tensor, " H"]:
    r"""Measure how much each head looks at what followed the present token before.

    $$\frac{1}{|R|} \sum_{t \in R} \; \sum_{s \le t,\; x_{s-1} = x_t} \alpha_{t s}$$

    The inner sum is over the tokens that stand right after an earlier copy of token
    $t$, and $R$ are the tokens that have such a copy.

    Args:
        weights: Attention weights, a row for each query.
        ids: The tokens' numbers, $x$.

    Returns:
        For each head the mean over all texts and all tokens with an earlier copy.

    Raises:
        ValueError: If `weights` are not floating-point, there are not as many keys as
            queries and at least two, `ids` do not fit, or no token has an earlier copy.

    Examples:
        >>> ids = torch.tensor([3, 1, 4, 3])  # right after the first 3: a 1
        >>> weights = torch.tensor([0.0, 0.75, 0.25, 0.0]).expand(1, 4, 4)
        >>> induction_score(weights, ids)
        tensor([0.7500])
    """
    _require_weights_of_one_text(weights)
    _require_one_id_per_token(ids, weights)
    same = ids[..., :, None] == ids[..., None, :-1]
    follows = nn.functional.pad(same, (1, 0)).tril()  # none stands before the first
    found = (weights * follows.unsqueeze(-3)).sum(dim=-1)  # (*B, H, T)
    rows = follows.any(dim=-1)
    _require_a_copy(rows)
    return found.movedim(-2, -1)[rows].mean(dim=0)


# ---- What is refused ----


def _require_from_two(most: int, **numbers: Sequence[int]) -> None:
    for name, given in numbers.items():
        if not len(given) or any(not 2 <= one <= most for one in given):
            raise ValueError(
                f"{name} must be numbers from 2 to {most}, at least one; "
                f"got {name}={given}."
            )


def _require_plain_attention(
    functions: Sequence[object], plain: Sequence[object]
) -> None:
    for attend in functions:
        if attend not in plain:
            raise ValueError(
                "model must attend with attention or fused_attention; "
                f"got attend={attend}."
            )


def _require_weights_of_one_text(weights: Tensor) -> None:
    _require.floating(weights=weights)
    if weights.ndim < 3 or weights.shape[-1] != weights.shape[-2]:
        raise ValueError(
            "weights must have shape (..., heads, tokens, tokens); "
            f"got weights.shape={_require.shape(weights)}."
        )
    if weights.shape[-1] < 2:
        raise ValueError(
            "weights must be of at least two tokens; "
            f"got weights.shape={_require.shape(weights)}."
        )


def _require_one_id_per_token(ids: Tensor, weights: Tensor) -> None:
    _require.integers(ids=ids)
    if ids.shape != (*weights.shape[:-3], weights.shape[-1]):
        raise ValueError(
            "ids must have one number for each token; "
            f"got ids.shape={_require.shape(ids)}, "
            f"weights.shape={_require.shape(weights)}."
        )


def _require_a_copy(repeated: Tensor) -> None:
    if not repeated.any():
        raise ValueError(
            "ids must hold a token that has been said before; got ids without one."
        )
