"""Attention without weights: the figures of the sources, the oracle, and overflow."""

import math

import pytest
import torch

from headway import (
    context_vectors,
    naive_softmax,
    nine_words,
    similarity_scores,
    six_tokens,
    stable_softmax,
)
from tests.support import oracles
from tests.support.compare import close, printed
from tests.support.sizes import D, S, T, draw


def test_figure_e03_scores_of_the_second_token() -> None:
    inputs = six_tokens().vectors
    figure = [0.9544, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865]
    printed(similarity_scores(inputs[1], inputs), figure)


@pytest.mark.parametrize("softmax", [naive_softmax, stable_softmax])
def test_figure_e06_weights_of_the_second_token(softmax) -> None:
    inputs = six_tokens().vectors
    figure = [0.1385, 0.2379, 0.2333, 0.1240, 0.1082, 0.1581]
    printed(softmax(similarity_scores(inputs[1], inputs)), figure)


def test_figure_b01_to_b08_one_word_by_hand() -> None:
    words, inputs = nine_words()
    he = inputs[words.index("he")]
    printed(he, [0.7700, 0.2500, 0.1000])
    scores = similarity_scores(he, inputs)
    printed(
        scores,
        [0.4576, 0.7070, 0.7154, 0.3474, 0.6654, 0.2935, 0.1374, 0.5934, 0.7454],
    )
    weights = stable_softmax(scores)
    printed(
        weights,
        [0.1025, 0.1315, 0.1326, 0.0918, 0.1262, 0.0870, 0.0744, 0.1174, 0.1367],
    )
    printed(context_vectors(he, inputs), [0.4756, 0.5429, 0.5594])


def test_figure_b11_all_context_vectors() -> None:
    inputs = nine_words().vectors
    printed(
        context_vectors(inputs, inputs),
        [
            [0.4565, 0.5421, 0.5943],
            [0.4567, 0.5928, 0.5867],
            [0.4579, 0.5912, 0.5860],
            [0.4378, 0.5738, 0.5715],
            [0.4756, 0.5429, 0.5594],
            [0.4266, 0.5912, 0.5798],
            [0.4278, 0.5562, 0.5752],
            [0.4536, 0.5793, 0.5849],
            [0.4745, 0.5521, 0.5873],
        ],
    )


@pytest.mark.parametrize("rows", [(), (T,), (2, T)], ids=str)
def test_scores_and_contexts_equal_the_loops(rows: tuple[int, ...]) -> None:
    query, inputs = draw(*rows, D), draw(S, D)
    tables = query.reshape(-1, D)
    loops = torch.tensor(
        [[oracles.dot(q, x) for x in inputs.tolist()] for q in tables.tolist()],
        dtype=torch.float64,
    )
    scores = similarity_scores(query, inputs)
    assert scores.shape == (*rows, S)
    close(scores.reshape(-1, S), loops)
    mixed = oracles.attention(tables, inputs, inputs, scale=1.0)
    close(context_vectors(query, inputs), mixed.reshape(*rows, D))


@pytest.mark.parametrize("softmax", [naive_softmax, stable_softmax])
def test_softmax_equals_the_loops_and_torch(softmax) -> None:
    scores = 5 * draw(2, T, S)
    close(softmax(scores), oracles.softmax(scores))
    close(softmax(scores), torch.softmax(scores, dim=-1))
    close(softmax(scores[0, 0]), torch.softmax(scores[0, 0], dim=-1))


@pytest.mark.parametrize("softmax", [naive_softmax, stable_softmax])
def test_the_gradient_of_softmax_is_right(softmax) -> None:
    assert torch.autograd.gradcheck(softmax, draw(2, D).requires_grad_())


def test_only_the_naive_softmax_overflows() -> None:
    last_safe = math.floor(math.log(torch.finfo(torch.float32).max))
    assert last_safe == 88
    safe = torch.tensor([0.0, float(last_safe)])
    assert naive_softmax(safe).isfinite().all()
    over = torch.tensor([0.0, last_safe + 1.0])
    assert naive_softmax(over)[1].isnan()
    close(stable_softmax(over), torch.tensor([0.0, 1.0]), 1e-6)
    assert stable_softmax(torch.tensor([-1e30, 1e30, 1e30])).tolist() == [0.0, 0.5, 0.5]


def test_simple_attention_does_not_overflow() -> None:
    inputs = 1e9 * draw(T, D)
    assert context_vectors(inputs, inputs).isfinite().all()
