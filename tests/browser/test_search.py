"""The search finds what a reader would type, with the right section first."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.site_server import SITE

ASK = Path(__file__).with_name("ask_search.js")

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


@pytest.fixture(scope="module")
def found() -> dict[str, list[str]]:
    """Ask the search of the built site; return the addresses that it finds.

    What a reader sees of it is tried in a browser elsewhere; here the order counts.
    """
    node = shutil.which("node")
    if node is None and "CI" not in os.environ:
        pytest.skip("needs a program node")
    assert node
    asked = subprocess.run(
        [node, str(ASK), str(SITE)],
        input=json.dumps([*ASKED]),
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return dict(zip(ASKED, json.loads(asked.stdout), strict=True))


@pytest.mark.xdist_group("search")
@pytest.mark.parametrize(("typed", "first"), ASKED.items(), ids=ASKED)
def test_the_right_section_comes_first(
    found: dict[str, list[str]], typed: str, first: str
) -> None:
    assert re.match(first, found[typed][0]), found[typed][:5]
