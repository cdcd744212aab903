"""A table of which row sees which token has a name."""

import pytest
import torch
from torch import Tensor

from headway.checks.attention.evidence.influence import pattern_name, window_size

FULL = torch.ones(7, 7, dtype=torch.bool)


def not_own(table: Tensor, empty: int, full: bool) -> Tensor:
    """A row moves with its own token, but the one that sees nothing need not."""
    table = table.clone()
    table[empty] = full
    return table


@pytest.mark.parametrize(
    ("visible", "name"),
    [
        (FULL, "every token"),
        (FULL.tril(), "itself and the past"),
        (FULL.triu(), "itself and the future"),
        (FULL.tril(1), "the past, itself and the next token"),
        (FULL.triu(-1), "the token before, itself and the future"),
        (FULL.tril().triu(), "only itself"),
        (not_own(FULL.tril(), 0, False), "the past and not itself"),
        (not_own(FULL.tril(), 0, True), "the past and not itself"),
        (not_own(FULL.triu(), -1, False), "the future and not itself"),
        (not_own(FULL.triu(), -1, True), "the future and not itself"),
        (not_own(FULL.tril(), 3, True), ""),
        (FULL.tril().triu(-2), ""),
        (FULL.tril(1).triu(-2), "the past, itself and the next token"),
        (not_own(FULL.tril().triu(-2), 0, False), "the past and not itself"),
        (not_own(FULL.tril().triu(-2), 0, True), "the past and not itself"),
        (FULL.tril() | FULL.triu(6), ""),
    ],
)
def test_a_table_of_who_sees_whom_has_a_name(visible: Tensor, name: str) -> None:
    assert pattern_name(visible) == name


def test_a_window_has_a_size() -> None:
    sizes = {size: window_size(FULL.tril().triu(1 - size)) for size in range(1, 8)}
    assert sizes == {1: None, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 7: None}
    assert window_size(FULL) is None
