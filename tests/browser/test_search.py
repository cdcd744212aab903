"""The search finds what a reader would type, with the right section first."""

import re
from typing import Any
from urllib.parse import quote

import pytest

# What is typed, and the pages or sections that may come first.
ASKED = {
    "W_query": "basics/(self_attention|scaled_dot_product)/",
    "why divide by the root": "basics/scaling/",
    "what is attention": "($|basics/simple_attention/)",
    "dot product": "basics/(simple_attention|scaled_dot_product)/",
    "causal mask": "basics/masks/",
    "padding mask": "basics/masks/",
    "multi-head attention": "basics/multi_head_attention/",
    "nn.MultiheadAttention": "basics/pytorch/",
    "cross attention": "basics/cross_attention/",
    "kv cache": "decoding/kv_cache/",
    "grouped query attention": "decoding/grouped_query/",
    "sliding window": "decoding/sliding_window/",
    "rope": "positions/rotary/",
    "YaRN": "positions/rotary_scaling/",
    "alibi": "positions/relative_bias/",
    "flash attention": "kernels/flash/",
    "attention sink": "variants/sinks/",
    "linear attention": "variants/linear_attention/",
    "induction heads": "models/induction/",
    "check my code": "($|#check-your-own-code)",
    "github actions": "in_your_ci/",
}


@pytest.mark.parametrize(("typed", "first"), ASKED.items(), ids=ASKED)
def test_the_right_section_comes_first(
    opened: Any, address: Any, typed: str, first: str
) -> None:
    page = opened(f"index.html?q={quote(typed)}").page
    found = page.locator("a.md-search-result__link")
    found.first.wait_for()
    links = [str(one.get_attribute("href")) for one in found.all()[:5]]
    shown = [one.removeprefix(address("")).partition("?")[0] for one in links]
    assert re.match(first, shown[0]), shown
