"""Where tiles lie, which of them the future holds, and what is hidden in one."""

import itertools

import pytest
import torch

from headway.kernels import _tiles
from tests.support import oracles
from tests.support.compare import close
from tests.support.sizes import D, H, S, T, V, draw

LENGTHS = pytest.mark.parametrize(
    ("rows", "columns"), [(T, S), (S, T), (T, T), (1, S), (T, 1), (12, 16), (16, 12)]
)
SIZES = pytest.mark.parametrize(("query_tile", "key_tile"), [(2, 3), (3, 2), (4, 4)])


@pytest.mark.parametrize("size", [1, 2, 3, T, T + 2])
def test_tiles_of_queries_hold_each_query_once(size):
    tiles = [*_tiles.query_tiles(T, size)]
    held = [t for tile in tiles for t in range(tile.start, tile.stop)]
    assert held == [*range(T)]
    assert all(tile.stop - tile.start == size for tile in tiles[:-1])


def test_without_a_query_there_is_one_empty_tile():
    assert [*_tiles.query_tiles(0, 3)] == [slice(0, 0)]


@LENGTHS
@SIZES
def test_a_tile_of_keys_is_there_if_a_query_sees_one(
    rows, columns, query_tile, key_tile
):
    visible = oracles.past(rows, columns)
    for tile in _tiles.query_tiles(rows, query_tile):
        expected = [
            slice(start, min(start + key_tile, columns))
            for start in range(0, columns, key_tile)
            if any(
                visible[t][s]
                for t in range(tile.start, tile.stop)
                for s in range(start, min(start + key_tile, columns))
            )
        ]
        found = [*_tiles.key_tiles(tile, columns, key_tile, columns - rows)]
        assert found == expected
        every = [*_tiles.key_tiles(tile, columns, key_tile, None)]
        assert len(every) == -(-columns // key_tile)
        assert (every[0].start, every[-1].stop) == (0, columns)


@LENGTHS
@SIZES
@pytest.mark.parametrize("causal", [False, True])
def test_each_tile_hides_what_the_whole_hides(
    rows, columns, query_tile, key_tile, causal
):
    scores, bias = draw(H, rows, columns), draw(rows, columns)
    mask = torch.rand(H, rows, columns) < 0.7
    expected = (scores + bias).masked_fill(~mask, -torch.inf)
    if causal:
        past = torch.tensor(oracles.past(rows, columns))
        expected = expected.masked_fill(~past, -torch.inf)
    shift = columns - rows if causal else None
    for at in _tiles.query_tiles(rows, query_tile):
        for of in _tiles.key_tiles(at, columns, key_tile, shift):
            seen = _tiles.see(scores[..., at, of], at, of, shift, mask, bias)
            close(seen, expected[..., at, of])


@pytest.mark.parametrize("shape", [(1, 1), (1, S), (T, 1), (T, S), (H, 1, 1)], ids=str)
def test_masks_and_biases_may_have_axes_of_length_one(shape):
    scores, bias, mask = draw(H, T, S), draw(*shape), torch.rand(shape) < 0.5
    expected = (scores + bias).masked_fill(~mask, -torch.inf)
    for at, of in itertools.product(_tiles.query_tiles(T, 3), _tiles.query_tiles(S, 4)):
        seen = _tiles.see(scores[..., at, of], at, of, None, mask, bias)
        close(seen, expected[..., at, of])


def test_a_bias_of_another_type_takes_that_of_the_scores():
    whole, scores = slice(0, T), draw(T, T, dtype=torch.float32)
    seen = _tiles.see(scores, whole, whole, None, None, draw(T, T))
    assert seen.dtype == torch.float32


def test_only_half_precision_is_widened():
    for dtype in (torch.float16, torch.bfloat16):
        assert _tiles.widen(torch.zeros(1, dtype=dtype)).dtype == torch.float32
    assert _tiles.widen(draw(1)).dtype == torch.float64


@pytest.mark.parametrize("wrong", ["mask", "bias", "scale", "key", "value"])
def test_what_does_not_fit_is_refused_before_it_is_cut(wrong):
    given = {
        "query": draw(T, D),
        "key": draw(S, D),
        "value": draw(S, V),
        "mask": torch.ones(T, S, dtype=torch.bool),
        "bias": draw(T, S),
        "scale": 0.5,
    }
    assert _tiles.checked(**given) == 0.5
    assert _tiles.checked(**given | {"scale": None}) == pytest.approx(D**-0.5)
    too_large = {
        "mask": torch.ones(T + 1, S, dtype=torch.bool),
        "bias": draw(T, S + 1),
        "scale": -1.0,
        "key": draw(S, D + 1),
        "value": draw(S + 1, V),
    }
    with pytest.raises(ValueError, match=f"^{wrong} must"):
        _tiles.checked(**given | {wrong: too_large[wrong]})
