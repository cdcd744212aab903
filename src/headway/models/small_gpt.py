"""A language model small enough to read in one sitting, and trained."""

import math
from collections.abc import Callable, Iterable, Sequence
from importlib import resources

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway import _require
from headway.basics.multi_head_attention import Cache
from headway.decoding.grouped_query import GroupedQueryAttention
from headway.decoding.kv_cache import KeyValueCache
from headway.decoding.sliding_window import RingCache
from headway.models.transformer_block import RMSNorm, SwiGLU, TransformerBlock
from headway.positions.rotary import Rotary

_DATA = resources.files("headway.models") / "data"
# The one model of this chapter.
_WIDTH, _HIDDEN, _BLOCKS, _HEADS, _KV_HEADS, _WINDOW = 64, 96, 2, 4, 2, 64
_LONGEST = 1_000_000  # of a text that it writes; nothing is as long as that in memory


class Characters:
    """Number the different characters of a text in sorted order.

    Args:
        text: The text whose characters are to be known, at least one.

    Attributes:
        index_of: The index of each character, in order.

    Raises:
        ValueError: If `text` is empty.

    Examples:
        >>> characters = Characters("to be or not to be")
        >>> "".join(characters.index_of)
        ' benort'
        >>> characters.encode("note")
        tensor([3, 4, 6, 2])
        >>> characters.decode([3, 4, 6, 2])
        'note'
    """

    def __init__(self, text: str) -> None:
        known = sorted(set(text))
        if not known:
            raise ValueError("text must hold at least one character; got text=''.")
        self.index_of = {character: index for index, character in enumerate(known)}
        self._known = known

    def __len__(self) -> int:  # noqa: DOC201
        """Count the different characters."""
        return len(self._known)

    def encode(self, text: str) -> Int[Tensor, " T"]:
        """Replace each character by its index.

        Args:
            text: A text made of known characters; it may be empty.

        Returns:
            One index for each character, in reading order.

        Raises:
            ValueError: If a character is not known.
        """
        for character in set(text) - self.index_of.keys():
            raise ValueError(
                f"text must be made of known characters; got text with {character!r}."
            )
        return torch.tensor([self.index_of[one] for one in text], dtype=torch.long)

    def decode(self, indices: Int[Tensor, " T"] | Iterable[int]) -> str:
        """Replace each index by its character.

        Args:
            indices: Indices of known characters.

        Returns:
            The characters, joined.

        Raises:
            ValueError: If an index belongs to no character.
        """
        text = []
        for index in map(int, indices):
            if not 0 <= index < len(self):
                raise ValueError(
                    f"indices must be in [0, {len(self)}); got indices with {index}."
                )
            text.append(self._known[index])
        return "".join(text)


class LanguageModel(nn.Module):
    r"""Score each token that may come next, at each position of a text.

    $$x_t = E_{i_t}, \qquad y = B_L(\dots B_1(x)), \qquad z_t = W N(y_t)$$

    The softmax of $z_t$ is the probability of each token to be the one after $i_t$.
    If the attention hides the future, $z_t$ depends on $i_1, \dots, i_t$ alone.

    Args:
        vocab_size: Number of different tokens.
        width: Width of the tokens' vectors.
        blocks: The blocks $B_1, \dots, B_L$, the first one first.
        final_norm: What normalises after the last block, $N$; `None` does not.
        positions: What makes vectors of positions that are added to those of the
            tokens, such as `LearnedPositions`; `None` adds none, as with rotary ones.
        tied: Whether the table of embeddings $E$ is the last matrix $W$ as well. Its
            numbers begin small then, as in GPT-2, so that the scores do.

    Raises:
        ValueError: If a size is not a positive integer.

    Examples:
        >>> attention = GroupedQueryAttention(12, 12, 7, 0.0, 3, num_kv_heads=1)
        >>> model = LanguageModel(11, 12, [TransformerBlock(attention, None)])
        >>> model(torch.tensor([[1, 4, 1, 5, 9]])).shape
        torch.Size([1, 5, 11])

    References:
        Radford et al. (2019), *Language Models are Unsupervised Multitask Learners*,
        section 2.3, for the blocks in a row and the last norm.
    """

    def __init__(
        self,
        vocab_size: int,
        width: int,
        blocks: Sequence[TransformerBlock],
        *,
        final_norm: nn.Module | None = None,
        positions: nn.Module | None = None,
        tied: bool = False,
    ) -> None:
        super().__init__()
        _require.positive(vocab_size=vocab_size, width=width)
        self.embedding = nn.Embedding(vocab_size, width)
        self.positions = positions
        self.blocks = nn.ModuleList(blocks)
        self.final_norm = nn.Identity() if final_norm is None else final_norm
        self.head = nn.Linear(width, vocab_size, bias=False)
        if tied:
            nn.init.normal_(self.embedding.weight, std=0.02)
            self.head.weight = self.embedding.weight

    def forward(
        self,
        ids: Int[Tensor, "*B T"],
        *,
        mask: Bool[Tensor, "*#B #T #S"] | None = None,
        positions: Int[Tensor, "*#B #T"] | None = None,
        caches: Sequence[Cache] | None = None,
    ) -> Float[Tensor, "*B T vocab_size"]:
        """Score the next token.

        Args:
            ids: The tokens' numbers.
            mask: As for the attention.
            positions: Where the tokens stand; `None` counts on from those in `caches`.
            caches: One cache for each block.

        Returns:
            One row of scores, the logits, for each token.

        Raises:
            ValueError: If `ids` are not integers, one of them is no token, or there is
                not one cache for each block.
        """
        _require_ids(ids, self.embedding.num_embeddings)
        kept: Sequence[Cache | None] = [None] * len(self.blocks)
        if caches is not None:
            _require_one_cache_each(caches, len(self.blocks))
            kept = caches
        if positions is None:
            start = caches[0].length if caches else 0
            positions = torch.arange(start, start + ids.shape[-1], device=ids.device)
        x = self.embedding(ids)
        if self.positions is not None:
            x = x + self.positions(positions)
        for block, cache in zip(self.blocks, kept, strict=True):
            x = block(x, mask=mask, positions=positions, cache=cache)
        return self.head(self.final_norm(x))


def small_text() -> str:
    """Return the first twenty chapters of *Pride and Prejudice*.

    Jane Austen's novel was published in 1813 and is in the public domain. The file is
    that of the package [janeaustenr](https://cran.r-project.org/package=janeaustenr)
    1.0.0 by Julia Silge (MIT licence), without the chapters' headings and the
    underscores that stand for italics, and with one line for each paragraph.

    Returns:
        A text of 199,422 characters, 66 of them different, all ASCII.

    Examples:
        >>> small_text()[:50]
        'It is a truth universally acknowledged, that a sin'
    """
    return (_DATA / "pride_and_prejudice.txt").read_text(encoding="ascii")


def small_gpt(*, trained: bool = True) -> LanguageModel:
    """Build the model of this chapter, and load what it has learned.

    It reads and writes the characters of `small_text`: two blocks of grouped queries
    with rotary positions and a window of 64 characters, SwiGLU, and RMSNorm, 70,336
    numbers in all. It was trained on the first nine tenths of the text.

    Args:
        trained: Whether to load the trained numbers; else they are drawn anew.

    Returns:
        The model, in 32 bits and in training mode, as any new module.

    Examples:
        >>> model, characters = small_gpt(), Characters(small_text())
        >>> ids = generate(model, characters.encode("Mr. Darc"), 1, temperature=0.0)
        >>> characters.decode(ids)
        'Mr. Darcy'
    """
    blocks = [
        TransformerBlock(
            GroupedQueryAttention(
                _WIDTH,
                _WIDTH,
                _LONGEST,
                0.0,
                _HEADS,
                num_kv_heads=_KV_HEADS,
                window=_WINDOW,
                rotate=Rotary(_WIDTH // _HEADS),
            ),
            SwiGLU(_WIDTH, _HIDDEN),
            attention_norm=RMSNorm(_WIDTH),
            feed_forward_norm=RMSNorm(_WIDTH),
        )
        for _ in range(_BLOCKS)
    ]
    vocabulary = len(Characters(small_text()))
    model = LanguageModel(vocabulary, _WIDTH, blocks, final_norm=RMSNorm(_WIDTH))
    if trained:
        with (_DATA / "small_gpt.pt").open("rb") as file:
            state = torch.load(file, map_location="cpu", weights_only=True)
        model.load_state_dict(state)
    return model


def draw_passages(
    ids: Int[Tensor, " N"],
    passages: int,
    length: int,
    *,
    generator: torch.Generator | None = None,
) -> tuple[Int[Tensor, "B T"], Int[Tensor, "B T"]]:
    r"""Draw passages of a text, and for each of their tokens the one that follows it.

    $$y_t = x_{t+1}$$

    Args:
        ids: A text, longer than a passage.
        passages: How many to draw, $B$; they may overlap.
        length: How long each is, $T$.
        generator: Where the random numbers come from; `None` means torch's own.

    Returns:
        What is read, and what is to be predicted: the same, one token later.

    Raises:
        ValueError: If a size is not a positive integer, or `ids` is not a text of more
            than `length` integers.

    Examples:
        >>> x, y = draw_passages(torch.arange(9), 1, 8)
        >>> x, y
        (tensor([[0, 1, 2, 3, 4, 5, 6, 7]]), tensor([[1, 2, 3, 4, 5, 6, 7, 8]]))
    """
    _require.positive(passages=passages, length=length)
    _require_one_text(ids, length + 1)
    start = torch.randint(len(ids) - length, (passages, 1), generator=generator)
    window = ids[start.to(ids.device) + torch.arange(length + 1, device=ids.device)]
    return window[:, :-1], window[:, 1:]


@torch.no_grad()
def passage_loss(
    model: Callable[[Tensor], Tensor], ids: Int[Tensor, " N"], length: int
) -> Float[Tensor, ""]:
    r"""Measure how badly a model predicts a text, in nats for each token.

    $$\text{loss} = -\frac{1}{N'} \sum_n \ln p(i_{n+1} \mid \dots, i_n)$$

    The text is cut into passages side by side, each read from its own beginning. What
    is left at the end and fills no passage does not count.

    Args:
        model: A language model: ids in, logits out.
        ids: The text, longer than a passage.
        length: How long a passage is.

    Returns:
        The mean of the cross-entropy; it takes no gradient.

    Raises:
        ValueError: If `length` is not a positive integer, or `ids` is not a text of
            more than `length` integers.

    Examples:
        >>> def even(ids):
        ...     return torch.zeros(*ids.shape, 4)
        >>> passage_loss(even, torch.tensor([3, 1, 2, 0, 1, 0, 2]), 3)
        tensor(1.3863)
    """
    _require.positive(length=length)
    _require_one_text(ids, length + 1)
    whole = (len(ids) - 1) // length * length
    logits = model(ids[:whole].view(-1, length))
    return nn.functional.cross_entropy(logits.flatten(0, 1), ids[1 : whole + 1])


def bigram_loss(
    train: Int[Tensor, " N"], test: Int[Tensor, " M"], vocab_size: int
) -> Float[Tensor, ""]:
    r"""Measure how badly a table of pairs predicts a text, in nats for each token.

    $$p(b \mid a) = \frac{n_{ab} + 1}{\sum_c (n_{ac} + 1)}$$

    $n_{ab}$ is how often $b$ follows $a$ in `train`; the one that is added leaves
    nothing impossible. The table knows the last token alone: a model that makes use of
    what came before it should lose less.

    Args:
        train: The text whose pairs are counted.
        test: The text that is predicted, of at least two tokens.
        vocab_size: Number of different tokens.

    Returns:
        The mean of $-\ln p$.

    Raises:
        ValueError: If `vocab_size` is not a positive integer, or one of the texts does
            not have at least two integers, all of them in [0, `vocab_size`).

    Examples:
        >>> bigram_loss(torch.tensor([0, 1, 0, 1, 0]), torch.tensor([0, 1]), 2).exp()
        tensor(1.3333)
    """
    _require.positive(vocab_size=vocab_size)
    for text in (train, test):
        _require_one_text(text, 2)
        _require_ids(text, vocab_size)
    pairs = train[:-1] * vocab_size + train[1:]
    counts = pairs.bincount(minlength=vocab_size**2).view(vocab_size, vocab_size) + 1.0
    share = counts / counts.sum(dim=1, keepdim=True)
    return -share[test[:-1], test[1:]].log().mean()


@torch.no_grad()
def generate(
    model: LanguageModel,
    ids: Int[Tensor, "*B T"],
    length: int,
    *,
    use_cache: bool = True,
    generator: torch.Generator | None = None,
    temperature: float = 1.0,
) -> Int[Tensor, "*B T+{length}"]:
    r"""Continue a text by drawing the next token and appending it, again and again.

    $$p = \operatorname{softmax}(z_T / \tau)$$

    With a cache each call reads what is new alone. A block with a window has a
    `RingCache`, so that it takes no more memory however long the text becomes; any
    other has a `KeyValueCache`.

    Args:
        model: The model that writes, in evaluation mode if it has dropout.
        ids: What it begins with, at least one token.
        length: How many tokens to add.
        use_cache: Whether to keep keys and values from call to call. The text is the
            same, but for rounding where two tokens are all but equally likely.
        generator: Where the random numbers come from; `None` means torch's own.
        temperature: What divides the scores, $\tau$: less than one makes the likeliest
            token likelier still. Zero takes the likeliest each time, and draws nothing.

    Returns:
        What it began with, and behind it what it has written.

    Raises:
        ValueError: If `ids` are not integers or have no token, `length` is not a
            positive integer, or `temperature` is negative or not finite.

    Examples:
        >>> ids = generate(small_gpt(), torch.tensor([[1, 2], [3, 4]]), 5)
        >>> ids.shape
        torch.Size([2, 7])
    """
    _require.positive(length=length)
    _require_zero_or_more_and_finite(temperature=temperature)
    _require_ids(ids, model.embedding.num_embeddings)
    if ids.ndim == 0 or ids.shape[-1] == 0:
        raise ValueError(
            f"ids must have at least one token; got ids.shape={tuple(ids.shape)}."
        )
    caches = [_new_cache(block) for block in model.blocks] if use_cache else None
    new = ids
    for _ in range(length):
        logits = model(new if use_cache else ids, caches=caches)[..., -1, :]
        new = _draw(logits, temperature, generator).unsqueeze(-1)
        ids = torch.cat([ids, new], dim=-1)
    return ids


def _new_cache(block: nn.Module) -> Cache:
    window = getattr(block.attention, "window", None)
    return KeyValueCache() if window is None else RingCache(window)


def _draw(
    logits: Float[Tensor, "*B vocab_size"],
    temperature: float,
    generator: torch.Generator | None,
) -> Int[Tensor, "*B"]:
    if temperature == 0.0:
        return logits.argmax(dim=-1)
    share = (logits / temperature).softmax(dim=-1)
    rows = share.reshape(-1, share.shape[-1])  # `multinomial` knows one axis of texts
    drawn = torch.multinomial(rows, 1, generator=generator)
    return drawn.view(logits.shape[:-1])


# ---- What is refused ----


def _require_ids(ids: Tensor, vocab_size: int) -> None:
    """Check the numbers of tokens: integers in [0, vocab_size)."""
    _require.integers(ids=ids)
    if torch.compiler.is_compiling():  # numbers are not known while it compiles
        return
    outside = ids[(ids < 0) | (ids >= vocab_size)]
    if outside.numel():
        raise ValueError(
            f"ids must be in [0, {vocab_size}); got ids with {int(outside[0])}."
        )


def _require_one_text(ids: Tensor, least: int) -> None:
    """Check a text without batch axes, of some length."""
    _require.integers(ids=ids)
    if ids.ndim != 1 or len(ids) < least:
        raise ValueError(
            f"ids must have shape (tokens,), with at least {least} tokens; "
            f"got ids.shape={_require.shape(ids)}."
        )


def _require_one_cache_each(caches: Sequence[object], blocks: int) -> None:
    if len(caches) != blocks:
        raise ValueError(
            f"caches must be one for each of {blocks} blocks; "
            f"got len(caches)={len(caches)}."
        )


def _require_zero_or_more_and_finite(**numbers: float) -> None:
    for name, number in numbers.items():
        if not 0.0 <= number < math.inf:
            raise ValueError(
                f"{name} must be zero or more, and finite; got {name}={number!r}."
            )
