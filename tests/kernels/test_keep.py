"""Which weights dropout keeps depends on their places and the seed, on no tile."""

import math

import pytest
import torch

from headway.kernels._keep import keep_share, keep_tile
from tests.support.compare import close
from tests.support.sizes import B, H, S, T, draw


def test_the_same_weights_are_kept_whatever_the_tile() -> None:
    whole = keep_tile(
        (B, H), slice(0, T), slice(0, S), dropout_p=0.3, seed=5, device="cpu"
    )
    assert whole.shape == (B, H, T, S)
    for rows, columns in ((slice(2, 5), slice(3, 4)), (slice(6, 7), slice(0, 11))):
        tile = keep_tile((B, H), rows, columns, dropout_p=0.3, seed=5, device="cpu")
        assert torch.equal(tile, whole[..., rows, columns])


@pytest.mark.parametrize("seed", [0, 1, 2**32, 2**62 - 1])
@pytest.mark.parametrize("dropout_p", [0.1, 0.5])
def test_what_is_kept_looks_drawn_at_random(seed, dropout_p) -> None:
    """Shares of rows, columns and texts, and of neighbours that are kept together."""
    sides = slice(0, 211), slice(0, 223)
    keep = keep_tile((B, H), *sides, dropout_p=dropout_p, seed=seed).double()
    noise = (keep - (1 - dropout_p)) / math.sqrt(dropout_p * (1 - dropout_p))
    for axes in ((-1,), (-2,), (-2, -1), (0, 1, 2), (0, 1, 3)):
        count = math.prod(keep.shape[axis] for axis in axes)
        shares = noise.mean(dim=axes) * math.sqrt(count)
        assert shares.abs().max() < 5.5
    other = keep_tile((B, H), *sides, dropout_p=dropout_p, seed=seed + 1).double()
    other = (other - (1 - dropout_p)) / math.sqrt(dropout_p * (1 - dropout_p))
    pairs = {
        "next column": noise[..., 1:] * noise[..., :-1],
        "next row": noise[..., 1:, :] * noise[..., :-1, :],
        "diagonal": noise[..., 1:, 1:] * noise[..., :-1, :-1],
        "next head": noise[:, 1:] * noise[:, :-1],
        "next text": noise[1:] * noise[:-1],
        "next seed": noise * other,
        "swapped": noise[..., :211] * noise[..., :211].mT,
    }
    pairs["swapped"] = pairs["swapped"].triu(1)
    for pair in pairs.values():
        count = pair.count_nonzero()
        assert abs(pair.sum() / math.sqrt(count)) < 5


@pytest.mark.parametrize("seed", [0, 2**32 - 1])
def test_no_place_is_always_kept(seed) -> None:
    """A hash that leaves zero as it is would never drop the first weight of all."""
    sides = slice(0, 53), slice(0, 59)
    assert not keep_tile((B, H), *sides, dropout_p=1 - 1e-9, seed=seed).any()
    shares = [
        keep_tile((), slice(0, 1), slice(0, 1), dropout_p=p / 200, seed=seed)
        for p in range(200)
    ]
    assert 0 < sum(share.item() for share in shares) < 199


@pytest.mark.parametrize("seed", [0, 5])
def test_texts_and_heads_drop_other_weights(seed) -> None:
    sides = slice(0, T), slice(0, S)
    keep = keep_tile((B, H), *sides, dropout_p=0.5, seed=seed).flatten(0, 1)
    for one in range(B * H):
        for other in range(one):
            assert not torch.equal(keep[one], keep[other])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_what_is_kept_grows_by_what_is_dropped(dtype) -> None:
    weights = draw(B, H, 5, 3, dtype=dtype)
    sides = slice(1, 6), slice(4, 7)
    share = keep_share(weights, *sides, 0.4, seed=5)
    keep = keep_tile((B, H), *sides, dropout_p=0.4, seed=5)
    close(share, torch.where(keep, 1 / 0.6, 0.0).to(dtype), tolerance=1e-6)
    assert keep.any()
    assert not keep.all()
    assert keep_share(weights, *sides, 0.0, seed=5) == 1.0
