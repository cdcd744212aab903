"""The live figures in a browser: right, driven by mouse and keys, legible, quiet."""

import cmath
import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor, nn

from headway import (
    MultiHeadAttention,
    SelfAttentionV2,
    delta_rule,
    linear_attention,
    nine_words,
    six_by_rows,
    six_tokens,
    words_guessing_loss,
)
from tests.support.browsing import Visit, new_window, visit
from tests.support.site_server import SITE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page, Route

PAGES = {
    "words": "",
    "query": "basics/scaled_dot_product/",
    "saturation": "basics/scaling/",
    "leak": "basics/masks/",
    "heads": "basics/multi_head_attention/",
    "dropout": "basics/masks/",
    "clock": "positions/rotary/",
    "groups": "decoding/grouped_query/",
    "writing": "decoding/kv_cache/",
    "tiles": "kernels/online_softmax/",
    "memory": "variants/delta_rule/",
    "learning": "models/induction/",
}
ROOT = Path(__file__).parents[2]
WORDS, SIX = six_tokens()


Show = Callable[..., "Locator"]


@pytest.fixture
def show(opened: Callable[..., Visit]) -> Iterator[Show]:
    """Return what opens the page of a figure; the browser may report nothing."""
    seen: list[Visit] = []

    def show(name: str, *, width: int = 1280, **options: Any) -> "Locator":
        size = {"width": width, "height": 900}
        seen.append(opened(PAGES[name], viewport=size, **options))
        if options.get("java_script_enabled", True):
            return start(seen[-1].page, name)
        return find(seen[-1].page, name)

    yield show
    assert [one.messages for one in seen if one.messages] == []


def find(page: "Page", name: str) -> "Locator":
    figure = page.locator(f'[data-live="{name}"]')
    figure.scroll_into_view_if_needed()
    return figure


def start(page: "Page", name: str) -> "Locator":
    """Scroll to a figure, and wait until it answers."""
    figure = find(page, name)
    page.locator(f'.hw-live--on[data-live="{name}"]').wait_for()
    figure.scroll_into_view_if_needed()
    return figure


@pytest.fixture(params=PAGES)
def every(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def live(show: Show, request: pytest.FixtureRequest) -> "Locator":
    """Open the figure that the test is named for."""
    (name,) = [name for name in PAGES if f"_{name}_" in f"{request.node.name}_"]
    return show(name)


def numbers(parts: "Locator") -> Tensor:
    """Read numbers with all digits, and hold to them those that are shown."""
    pairs = parts.evaluate_all("all => all.map(data => [data.value, data.textContent])")
    for value, shown in pairs:
        half = 0.5 * 10 ** -len(shown.partition(".")[2])
        assert abs(float(value) - float(shown)) <= half + 1e-12
        assert (shown == "0") == (float(value) == 0)
    return torch.tensor([float(value) for value, _ in pairs], dtype=torch.float64)


def same(found: Tensor, expected: Tensor) -> None:
    true = expected.detach().double().flatten()
    torch.testing.assert_close(found, true, atol=1e-5, rtol=0)


def said(figure: "Locator") -> str:
    return figure.get_by_role("status").inner_text()


def pick(figure: "Locator", label: str) -> None:
    figure.get_by_role("radio", name=label, exact=True).check()


def slide(figure: "Locator", label: str, value: float) -> None:
    figure.get_by_role("slider", name=label).fill(f"{value:g}")


# ---- What they compute ----


NINE = nine_words().words
SIMILARITY, QUERY = "by similarity", "by query and key"


def shares(reader: int, way: str) -> tuple[Tensor, Tensor]:
    """Compute what a word takes from each word, and what it collects."""
    x = torch.zeros(9, 3, dtype=torch.float64)  # noun, pronoun, living
    x[NINE.index("Boy")] = torch.tensor([1.0, 0.0, 1.0])
    x[NINE.index("he"), 1] = 1
    x[[NINE.index("ice"), NINE.index("cream")], 0] = 1
    if way == SIMILARITY:
        scores = x @ x[reader] / math.sqrt(3)
    else:
        # It asks for nouns and for what lives, if it is a pronoun.
        scores = 4 * x[reader, 1] * (x[:, 0] + x[:, 2]) / math.sqrt(2)
    scores[reader + 1 :] = -math.inf  # it looks back
    weights = torch.softmax(scores, dim=-1)
    return weights, weights @ x


def compare_words(figure: "Locator", reader: int, way: str) -> None:
    weights, context = shares(reader, way)
    seen = figure.locator(".hw-words__shares > :not(.hw-words__unseen) data")
    same(numbers(seen), weights[: reader + 1])
    noun, pronoun, living = (
        # An eighth is rounded up, as JavaScript does.
        f"{math.floor(100 * number + 0.5) / 100:.2f}" if number else "0"
        for number in context.tolist()
    )
    collected = f"It collects noun {noun}, pronoun {pronoun}, living {living}."
    assert said(figure).endswith(collected)
    assert said(figure).startswith(f"“{NINE[reader]}” takes ")
    first = [s for s in range(9) if weights[s] > weights.max() - 1e-9]
    every = 0 < reader == len(first) - 1
    most = ", ".join("itself" if s == reader else f"“{NINE[s]}”" for s in first)
    most = "the same from all that it sees" if every else f"most from {most}"
    assert f"takes {most}.\n" in said(figure)
    # An arc is as wide as its share.
    arcs = figure.locator("path")
    style = "all => all.map(one => parseFloat(getComputedStyle(one).strokeWidth) / 18)"
    widths = torch.tensor(arcs.evaluate_all(style), dtype=torch.float64)
    torch.testing.assert_close(widths, weights, atol=1e-3, rtol=0)


def test_words_by_mouse(show: Show) -> None:
    live = show("words", reduced_motion="reduce")
    he = NINE.index("he")
    compare_words(live, he, QUERY)
    assert "“he” takes most from “Boy”." in said(live)
    for reader, word in enumerate(NINE):
        pick(live, word)
        for way in (SIMILARITY, QUERY):
            pick(live, way)
            compare_words(live, reader, way)


def test_words_has_the_numbers_of_the_program_below_it(show: Show) -> None:
    live = show("words")
    output = live.page.locator("pre", has_text="cream").inner_text()
    lines = [line.split() for line in output.splitlines()[1:10]]
    assert [word for word, *_ in lines] == list(NINE)
    he = NINE.index("he")
    for column, way in enumerate((SIMILARITY, QUERY), 1):
        pick(live, way)
        bars = live.locator(".hw-words__shares data").all_inner_texts()
        assert bars == [line[column] for line in lines[: he + 1]] + [""] * 4
        assert [line[column] for line in lines[he + 1 :]] == ["0.00"] * 4
    collected = [f"{part:.2f}" for part in shares(NINE.index("he"), QUERY)[1].tolist()]
    noun, pronoun, living = collected
    assert f"noun {noun}, pronoun {pronoun}, living {living}" in output


def test_query_by_mouse(live: "Locator") -> None:
    torch.manual_seed(42)
    Q, K, V = (SIX @ torch.rand(3, 2) for _ in range(3))
    for t, word in enumerate(WORDS):
        pick(live, word)
        scores = K @ Q[t]
        weights = torch.softmax(scores / math.sqrt(2), dim=-1)
        body = live.locator(".hw-live__steps tbody")
        same(numbers(body.locator("td:nth-child(2) data")), scores)
        same(numbers(body.locator("td:nth-child(3) data")), weights)
        same(numbers(body.locator("td:nth-child(n + 4) data")), V)
        total = torch.cat([weights.sum()[None], weights @ V])
        same(numbers(live.locator(".hw-live__steps tfoot data")), total)
        assert WORDS[int(weights.argmax())] in said(live)
        assert ", ".join(f"{number:.4f}" for number in weights @ V) in said(live)


def softened(scores: Tensor) -> tuple[Tensor, Tensor]:
    weights = scores.softmax(dim=-1)
    largest = weights.max()
    return weights, torch.stack([largest, largest * (1 - largest)])


def wide_scores() -> dict[int, Tensor]:
    torch.manual_seed(51)
    query = torch.randn(1, 1024, dtype=torch.float64)
    keys = torch.randn(6, 1024, dtype=torch.float64)
    return {d: keys[:, :d] @ query[0, :d] for d in (1, 4, 16, 64, 256, 1024)}


def test_saturation_by_mouse(live: "Locator") -> None:
    for place, (width, scores) in enumerate(wide_scores().items()):
        slide(live, "width d_k", place)
        for power in (-7, -3.25, 0, 1):
            slide(live, "scale", power)
            weights, facts = softened(scores * 2**power)
            same(numbers(live.locator(".hw-live__columns data")), weights)
            same(numbers(live.locator("dd data")), facts)
            assert said(live).startswith("Saturated") == (weights.max() > 0.95)
        live.get_by_role("checkbox").check()
        weights, facts = softened(scores / math.sqrt(width))
        same(numbers(live.locator(".hw-live__columns data")), weights)
        slider = live.get_by_role("slider", name="scale")
        shown = float(slider.get_attribute("aria-valuetext"))
        assert shown == pytest.approx(width**-0.5, abs=0.5001e-4)
        # The scale is kept when the width moves, until it is moved itself.
        slide(live, "width d_k", (place + 1) % 6)
        assert live.get_by_role("checkbox").is_checked()
        other = [*wide_scores()][(place + 1) % 6]
        weights, _ = softened(wide_scores()[other] / math.sqrt(other))
        same(numbers(live.locator(".hw-live__columns data")), weights)
        slide(live, "scale", 0)
        assert not live.get_by_role("checkbox").is_checked()


def attended(x: Tensor, *, causal: bool) -> tuple[Tensor, Tensor]:
    """Attend with PyTorch alone, in 64 bits."""
    torch.manual_seed(789)
    module = SelfAttentionV2(3, 2).double()
    query, key, value = module.W_query(x), module.W_key(x), module.W_value(x)
    mask = torch.ones(6, 6, dtype=torch.bool).tril() if causal else None
    attend = nn.functional.scaled_dot_product_attention
    eye = torch.eye(6, dtype=torch.float64)
    return (
        attend(query, key, eye, attn_mask=mask),
        attend(query, key, value, attn_mask=mask),
    )


def compare_leak(figure: "Locator", token: int, row: list[float], causal: bool) -> None:
    x = SIX.double().mul(100).round().div(100)
    changed = x.clone()
    changed[token] = torch.tensor(row, dtype=torch.float64)
    weights, context = attended(changed, causal=causal)
    moved = (context - attended(x, causal=causal)[1]).abs().amax(dim=-1)
    table = figure.locator(".hw-live__map tbody")
    seen = table.locator("td:not(:has(div), .hw-live__hidden) data")
    same(numbers(seen), weights[weights > 0] if causal else weights)
    found = numbers(table.locator(".hw-live__bar data"))
    same(found, moved)
    if causal:
        assert found[:token].tolist() == [0.0] * token
        assert table.locator(".hw-live__hidden").count() == 15
    leaks = 0 if causal else int((found[:token] > 0).sum())
    assert table.locator(".hw-live__leak").count() == leaks
    assert ("leak" in said(figure)) == (leaks > 0)


@pytest.mark.parametrize("causal", [False, True])
def test_leak_by_mouse(live: "Locator", causal: bool) -> None:
    pick(live, "causal mask" if causal else "no mask")
    compare_leak(live, 5, [9, 9, 9], causal)
    for token in (0, 3, 5):
        pick(live, WORDS[token])
        own = [round(number, 2) for number in SIX[token].tolist()]
        compare_leak(live, token, own, causal)
        assert numbers(live.locator(".hw-live__bar data")).tolist() == [0.0] * 6
        for place, (label, value) in enumerate(
            (("first number", -1), ("second number", 4.37), ("third number", 0.01))
        ):
            slide(live, label, value)
            own[place] = value
        compare_leak(live, token, own, causal)
        live.get_by_role("button", name="Make it").click()
        compare_leak(live, token, [9, 9, 9], causal)
        live.get_by_role("button", name="Put it back").click()
        assert numbers(live.locator(".hw-live__bar data")).tolist() == [0.0] * 6


def digits(tensor: Tensor) -> str:
    return "[" + ", ".join(str(int(index)) for index in tensor) + "]"


def test_heads_by_mouse(live: "Locator") -> None:
    _, x = six_by_rows()
    torch.manual_seed(123)
    projected = MultiHeadAttention(6, 6, 3, 0.0, num_heads=2).W_query(x).detach()
    parts = live.locator(".hw-live__part")
    picks = live.locator(".hw-live__picks input")
    assert live.locator(".hw-live__picks span").all_inner_texts() == [
        f"{number:.2f}" for number in projected.flatten()
    ]
    # Every number is its own address, which says where it went.
    places = torch.arange(18).view(3, 6)
    for heads in (1, 2, 3, 6):
        pick(live, str(heads))
        pick(live, "view and transpose")
        view = projected.view(3, heads, -1)
        same(numbers(parts.nth(0).locator("data")), view)
        same(numbers(parts.nth(1).locator("data")), view.transpose(0, 1))
        same(numbers(parts.nth(2).locator("data")), projected)
        for place in (0, 4, 7, 11, 13, 17):
            picks.nth(place).check()
            same(
                numbers(live.locator(".hw-live__sum data")), projected.flatten()[place]
            )
            cut = places.view(3, heads, -1)
            before, after = (
                (addresses == place).nonzero()[0]
                for addresses in (cut, cut.transpose(0, 1))
            )
            assert f"{digits(before)} by view" in said(live)
            assert f"{digits(after)} by transpose" in said(live)
            assert said(live).endswith(f"In memory it stays at {place}.")
            assert "wrong" not in said(live)
            assert live.locator(".hw-live__cell.hw-live__picked").count() == 3
        pick(live, "one reshape (wrong)")
        same(numbers(parts.nth(0).locator("data")), projected.reshape(heads, 3, -1))
        for place in range(18):
            picks.nth(place).check()
            there = (places.reshape(heads, 3, -1) == place).nonzero()[0]
            true = (places.view(3, heads, -1).transpose(0, 1) == place).nonzero()[0]
            assert f"{digits(there)} by reshape" in said(live)
            assert ("that is wrong" in said(live)) == (not torch.equal(there, true))


class Draws:
    """The random numbers that the page is given, once more."""

    SCRIPT = """() => {
      let n = 7
      Math.random = () => (n = (n * 48271) % 2147483647) / 2147483647
    }"""

    def __init__(self) -> None:
        self._state = 7

    def next(self) -> float:
        self._state = self._state * 48271 % 2147483647
        return self._state / 2147483647

    def kept(self, p: float) -> Tensor:
        """Draw for each weight of the past, row by row."""
        mask = torch.zeros(6, 6, dtype=torch.float64)
        for t in range(6):
            for s in range(t + 1):
                mask[t, s] = self.next() >= p
        return mask


def test_dropout_by_mouse(live: "Locator") -> None:
    weights, _ = attended(SIX.double().mul(100).round().div(100), causal=True)
    live.page.evaluate(Draws.SCRIPT)
    draws = Draws()
    for p in (0.0, 0.5, 0.1, 0.9):
        slide(live, "p", p)
        rows = [draws.kept(p) * weights / (1 - p)]
        for label, times in (("Draw again", 1), ("Draw 100 times", 100)):
            compare_draws(live, rows)
            live.get_by_role("button", name=label).click()
            rows += [draws.kept(p) * weights / (1 - p) for _ in range(times)]
        compare_draws(live, rows)
        assert said(live).startswith("102 draws")
    live.get_by_role("button", name="Begin again").click()
    compare_draws(live, [draws.kept(0.9) * weights / (1 - 0.9)])


def compare_draws(figure: "Locator", rows: list[Tensor]) -> None:
    table = figure.locator(".hw-live__map tbody")
    past = torch.ones(6, 6, dtype=torch.bool).tril()
    seen = table.locator("td:not(:has(div), .hw-live__hidden) data")
    same(numbers(seen), rows[-1][past])
    dropped = int((rows[-1][past] == 0).sum())
    assert table.locator(".hw-live__dropped").count() == dropped
    sums = torch.stack(rows).sum(dim=-1)
    expected = torch.stack([sums[-1], sums.mean(dim=0)], dim=-1)
    same(numbers(table.locator(".hw-live__bar data")), expected)


def scored(apart: int) -> list[float]:
    """Turn by complex numbers: the score of a pair is the real part of a product."""
    query, key = (0.8 + 0.6j, 0.6 + 0.8j), (0.6 + 0.8j, 1.0 + 0.0j)
    parts = [
        (q * cmath.exp(1j * apart * speed) * k.conjugate()).real
        for q, k, speed in zip(query, key, (1.0, 0.1), strict=True)
    ]
    return [*parts, sum(parts)]


def compare_clock(figure: "Locator", query: int, key: int) -> None:
    found = numbers(figure.locator(".hw-live__stage data"))
    same(found, torch.tensor(scored(query - key)))
    assert said(figure) == (
        f"Query at {query}, key at {key}: {query - key} apart, "
        f"score {scored(query - key)[-1]:.4f}."
    )


def test_clock_by_mouse(live: "Locator") -> None:
    compare_clock(live, 7, 5)
    for query, key in ((0, 12), (12, 0), (3, 3)):
        slide(live, "query’s position", query)
        slide(live, "key’s position", key)
        compare_clock(live, query, key)
    hands = live.locator("line")
    before = hands.evaluate_all("all => all.map(one => one.getAttribute('x2'))")
    live.get_by_role("button", name="Move both on").click()
    compare_clock(live, 4, 4)
    after = hands.evaluate_all("all => all.map(one => one.getAttribute('x2'))")
    assert all(a != b for a, b in zip(before, after, strict=True))
    slide(live, "key’s position", 12)
    live.get_by_role("button", name="Move both on").click()
    compare_clock(live, 4, 12)  # there is no thirteenth place


def test_clock_by_keyboard(live: "Locator") -> None:
    keyboard = live.page.keyboard
    live.get_by_role("slider", name="query’s position").focus()
    keyboard.press("ArrowRight")
    ringed(live)
    compare_clock(live, 8, 5)
    keyboard.press("Tab")
    keyboard.press("Tab")
    keyboard.press("Enter")
    ringed(live)
    compare_clock(live, 7, 4)


CUTS = {"a prompt of 5, then 1": [5, 1, 1, 1, 1], "1": [1] * 9, "4": [4, 4, 1]}


def compare_writing(figure: "Locator", sizes: list[int], window: int) -> None:
    """Compare a call, the last of some sizes, with masked attention over the text."""
    end = sum(sizes)
    first = end - sizes[-1]
    x = torch.zeros(9, 3, dtype=torch.float64)
    x[NINE.index("Boy")] = torch.tensor([1.0, 0.0, 1.0])
    x[NINE.index("he"), 1] = 1
    x[[NINE.index("ice"), NINE.index("cream")], 0] = 1
    scores = 4 * x[:, 1:2] * (x[:, 0] + x[:, 2]) / math.sqrt(2)
    t, s = torch.arange(9)[:, None], torch.arange(9)
    weights = scores.masked_fill((s > t) | (t - s >= window), -torch.inf).softmax(-1)
    cells = figure.locator(".hw-live__map td:not(.hw-live__hidden, thead *) data")
    seen = weights[first:end][((s <= t) & (t - s < window))[first:end]]
    same(numbers(cells), seen)
    kept = max(0, first - window + 1)
    assert f": {sizes[-1]} key" in said(figure)
    assert f"{first - kept} found in the cache" in said(figure)
    assert (f"{kept} forgotten" in said(figure)) == (kept > 0)
    without = sum(sum(sizes[: n + 1]) for n in range(len(sizes)))
    assert f"So far {end} computed; without a cache it would be {without}." in said(
        figure
    )
    gone = figure.locator("th.hw-live__gone").all_inner_texts()
    assert gone == list(NINE[:kept])


def test_writing_by_mouse(live: "Locator") -> None:
    for name, cut in CUTS.items():
        pick(live, name)
        for label, window in (("all", 9), ("3 tokens", 3)):
            pick(live, label)
            live.get_by_role("button", name="Begin again").click()
            for call in range(len(cut)):
                compare_writing(live, cut[: call + 1], window)
                live.get_by_role("button", name="Next call").click()
            compare_writing(live, cut, window)  # after the last call there is none


def test_writing_by_keyboard(live: "Locator") -> None:
    keyboard = live.page.keyboard
    live.get_by_role("radio", name="all", exact=True).focus()
    keyboard.press("ArrowRight")
    ringed(live)
    keyboard.press("Tab")
    keyboard.press("Tab")
    keyboard.press("Enter")
    ringed(live)
    compare_writing(live, [5, 1], 3)


def compare_groups(figure: "Locator", groups: int, wrong: bool) -> None:
    right = [head * groups // 8 for head in range(8)]
    dealt = [head % groups for head in range(8)]
    cells = numbers(figure.locator(".hw-live__cell data")).tolist()
    assert cells == [*(dealt if wrong else right), *range(groups)]
    assert numbers(figure.locator(".hw-live__bar data")).tolist() == [512.0 * groups]
    assert f"{groups} of keys and values: {512 * groups} bytes" in said(figure)
    strays = sum(a != b for a, b in zip(right, dealt, strict=True))
    assert (f"{strays} heads read another" in said(figure)) == (wrong and strays > 0)
    assert ("cannot be told" in said(figure)) == (wrong and strays == 0)


def test_groups_by_mouse(live: "Locator") -> None:
    for groups in (8, 4, 2, 1):
        pick(live, str(groups))
        for wrong in (False, True):
            pick(live, "dealt in turn (wrong)" if wrong else "neighbours")
            compare_groups(live, groups, wrong)


def test_groups_by_keyboard(live: "Locator") -> None:
    keyboard = live.page.keyboard
    live.get_by_role("radio", name="2", exact=True).focus()
    keyboard.press("ArrowLeft")
    ringed(live)
    compare_groups(live, 4, wrong=False)
    keyboard.press("Tab")
    keyboard.press("ArrowRight")
    ringed(live)
    compare_groups(live, 4, wrong=True)


KEYS = torch.tensor(
    [
        [0.5, 1.5, 1.0, 3.0, 2.0, -0.5, 2.5, 4.0],
        [1.0, 0.0, 2.0, 0.0, 3.0, 1.0, 3.0, 2.0],
        [0.0, 1.0, 1.0, 3.0, 2.0, 3.0, 0.0, 2.0],
    ],
    dtype=torch.float64,
)


def compare_tiles(figure: "Locator", size: int, step: int) -> None:
    """Compare what is kept after some tiles with one softmax over their keys."""
    first, end = (step - 1) * size, min(step * size, 8)
    scores, *values = KEYS

    def gathered(keys: slice, largest: Tensor) -> Tensor:
        weights = (scores[keys] - largest).exp()
        return torch.stack([weights.sum(), *(weights @ v[keys] for v in values)])

    largest = scores[:end].max()
    after = gathered(slice(end), largest)
    own = gathered(slice(first, end), largest)
    columns = [own, after]
    extremes = [scores[first:end].max(), largest]
    if first:
        before = gathered(slice(first), scores[:first].max())
        columns = [before, gathered(slice(first), largest), *columns]
        extremes.insert(0, scores[:first].max())
    else:
        columns[:0] = [torch.zeros(3).double()] * 2
    state = figure.locator("table:not(.hw-live__numbers) data:not([value=''])")
    same(
        numbers(state),
        torch.cat([*map(torch.atleast_1d, extremes), *torch.stack(columns, dim=-1)]),
    )
    bars = figure.locator(".hw-live__columns .hw-live__bar:not(.hw-tiles__unread) data")
    same(numbers(bars), (scores[:end] - largest).exp())
    weights = scores[:end].softmax(dim=0)
    parts = [(weights @ v[:end]).item() for v in values]
    context = ", ".join(f"{part:.4f}" if part else "0" for part in parts)
    tiles = -(-8 // size)
    assert said(figure).startswith(f"Tile {step} of {tiles}: ")
    if first:
        factor = (scores[:first].max() - largest).exp()
        assert (f"multiplied by {factor:.4f}." in said(figure)) == (factor < 1)
    assert f"so far: {context}." in said(figure) or step == tiles
    assert (f": {context}, the same." in said(figure)) == (step == tiles)


def test_tiles_by_mouse(live: "Locator") -> None:
    on, back = (live.get_by_role("button", name=n) for n in ("Next tile", "Back"))
    for size in (1, 2, 3, 8):
        pick(live, f"{size}")
        assert said(live).startswith("Nothing is read yet")
        back.click()  # there is nothing before
        tiles = -(-8 // size)
        for step in range(1, tiles + 1):
            on.click()
            compare_tiles(live, size, step)
        on.click()  # after the last tile there is none
        compare_tiles(live, size, tiles)
        back.click()
        if tiles > 1:
            compare_tiles(live, size, tiles - 1)


def test_tiles_by_keyboard(live: "Locator") -> None:
    keyboard = live.page.keyboard
    live.get_by_role("radio", name="2", exact=True).focus()
    keyboard.press("ArrowRight")
    ringed(live)
    keyboard.press("Tab")
    keyboard.press("Tab")
    keyboard.press("Enter")
    ringed(live)
    compare_tiles(live, 3, 1)
    keyboard.press("Enter")
    keyboard.press("Shift+Tab")
    keyboard.press("Enter")
    compare_tiles(live, 3, 1)


MEMORY_KEYS = {
    "e₁ (1, 0)": (1, 0),
    "e₂ (0, 1)": (0, 1),
    "between (0.6, 0.8)": (0.6, 0.8),
}
Write = tuple[str, float, float]
FIRST: list[Write] = [("e₁ (1, 0)", 5, 1), ("e₂ (0, 1)", 7, 1)]
WRITES: list[Write] = [
    ("e₁ (1, 0)", 9, 1),
    ("between (0.6, 0.8)", 0, 1),  # to numbers below zero
    ("between (0.6, 0.8)", 9, 0.25),
    ("e₂ (0, 1)", 3, 0),
    ("e₂ (0, 1)", 4, 0.75),
]


def memories(writes: list[Write]) -> Tensor:
    """Give the memories of the delta rule and of a sum, a column each."""
    if not writes:
        return torch.zeros(2, 2, dtype=torch.float64)
    key = torch.tensor([MEMORY_KEYS[name] for name, _, _ in writes]).double()
    key = key.mul(10).round().div(10)
    value, beta = torch.tensor([write[1:] for write in writes]).double().T
    value = value[:, None]
    _, delta = delta_rule(key, key, value, beta)
    plain = {"features": None, "normalise": False}
    _, summed = linear_attention(key, key, beta[:, None] * value, **plain)
    return torch.cat([delta, summed], dim=-1)


def plainly(number: float) -> str:
    return f"{round(number, 2) + 0:g}".replace("-", "−")


def compare_memory(figure: "Locator", writes: list[Write]) -> None:
    memory = memories(writes)
    keys = torch.tensor([*MEMORY_KEYS.values()]).double().mul(10).round().div(10)
    reads = keys @ memory
    body = figure.locator(".hw-memory tbody")
    same(numbers(body.nth(0).locator("data")), memory)
    same(numbers(body.nth(1).locator(".hw-live__bar data")), reads)
    last = {name: f"{value:g}" for name, value, _ in writes}
    shown = body.nth(1).locator("td:nth-child(2)").all_inner_texts()
    assert shown == [last.get(name, "") for name in MEMORY_KEYS]
    below = figure.locator(".hw-memory__below").count()
    assert below == int((reads < -1e-9).sum())
    if not writes:
        assert said(figure) == "Nothing is written. Each key reads 0."
        return
    name, value, beta = writes[-1]
    place = [*MEMORY_KEYS].index(name)
    held = (keys @ memories(writes[:-1]))[place, 0].item()
    now, summed = map(plainly, reads[place].tolist())
    missing, word = plainly(value - held), name.split()[0]
    assert said(figure) == (
        f"Write {len(writes)}: {value:g} under {word}, β = {beta:g}.\n"
        f"Delta rule: it held {plainly(held)}, so {missing} is missing "
        f"and {beta:g} · {missing} is added. It reads {now}.\n"
        f"Sum: {beta:g} · {value:g} is added. It reads {summed}."
    )


def test_memory_by_mouse(live: "Locator") -> None:
    write, undo, empty = (
        live.get_by_role("button", name=name) for name in ("Write", "Undo", "Empty")
    )
    writes = [*FIRST]
    compare_memory(live, writes)
    write.click()  # what the chapter writes next is chosen
    compare_memory(live, [*writes, WRITES[0]])
    assert "It reads 9.\n" in said(live)
    assert said(live).endswith("It reads 14.")
    undo.click()
    for name, value, beta in WRITES:
        pick(live, name)
        slide(live, "value", value)
        slide(live, "β", beta)
        compare_memory(live, writes)  # nothing is written by choosing
        write.click()
        writes.append((name, value, beta))
        compare_memory(live, writes)
    for _ in range(3):
        undo.click()
        writes.pop()
        compare_memory(live, writes)
    empty.click()
    compare_memory(live, [])
    undo.click()  # there is nothing before
    compare_memory(live, [])
    write.click()
    compare_memory(live, WRITES[-1:])


def test_memory_by_keyboard(live: "Locator") -> None:
    keyboard = live.page.keyboard
    live.get_by_role("radio", name="e₁ (1, 0)").focus()
    keyboard.press("ArrowRight")
    ringed(live)
    keyboard.press("Tab")
    keyboard.press("ArrowLeft")
    ringed(live)
    keyboard.press("Tab")
    keyboard.press("ArrowLeft")
    ringed(live)
    keyboard.press("Tab")
    keyboard.press("Enter")
    ringed(live)
    compare_memory(live, [*FIRST, ("e₂ (0, 1)", 8, 0.75)])
    keyboard.press("Tab")
    keyboard.press("Enter")
    compare_memory(live, FIRST)


RECORDED = json.loads(
    (ROOT / "generated/trained/induction_heads.json").read_text("utf-8")
)


def compare_learning(figure: "Locator", at: int) -> None:
    """Compare a step of the training with what was recorded."""
    maps = figure.locator(".hw-learning__map")
    for place, name in enumerate(("first", "second")):
        rows = RECORDED[name][at]
        cells = maps.nth(place).locator("tbody td")
        text = [cell for cell in cells.all_inner_texts() if cell]
        assert text == [f"{share / 100:.2f}" for row in rows for share in row]
    loss = RECORDED["loss"]
    seen = figure.locator(".hw-live__bar:not(.hw-tiles__unread) data")
    same(numbers(seen), torch.tensor(loss[: at + 1]))
    steps = RECORDED["steps"][at]
    where = "below" if loss[at] < words_guessing_loss() else "above"
    assert said(figure) == (
        f"After {steps} step{'s' if steps > 1 else ''} the loss is {loss[at]:.2f}, "
        f"{where} the floor of guessing, {words_guessing_loss():.2f}.\n"
        f"In all texts, one back gets {RECORDED['back'][at]:.2f}, "
        f"and what followed {RECORDED['follows'][at]:.2f}.\n"
        f"After “lemonlemo” the model gives “n” a share of {RECORDED['right'][at]:.2f}."
    )
    slider = figure.get_by_role("slider", name="steps of training")
    assert slider.get_attribute("aria-valuetext") == str(steps)


def test_learning_by_mouse(live: "Locator") -> None:
    last = len(RECORDED["steps"]) - 1
    back, on = (live.get_by_role("button", name=name) for name in ("Back", "Train on"))
    back.click()  # there is nothing before
    compare_learning(live, 0)
    for at in range(1, last + 1):
        on.click()
        compare_learning(live, at)
    on.click()  # the training is over
    compare_learning(live, last)
    slide(live, "steps of training", 4)
    compare_learning(live, 4)
    back.click()
    compare_learning(live, 3)
    # Framed are the letter before, and what followed the letter before.
    text = RECORDED["text"]
    stripes = [
        [s == t - 1 for t in range(9) for s in range(9)],
        [0 < s <= t and text[s - 1] == text[t] for t in range(9) for s in range(9)],
    ]
    for grid, stripe in zip(
        live.locator(".hw-learning__map").all(), stripes, strict=True
    ):
        framed = grid.locator("tbody td").evaluate_all(
            "all => all.map(one => one.classList.contains('hw-live__edited'))"
        )
        assert framed == stripe


def test_learning_by_keyboard(live: "Locator") -> None:
    keyboard = live.page.keyboard
    live.get_by_role("slider", name="steps of training").focus()
    keyboard.press("End")
    ringed(live)
    compare_learning(live, len(RECORDED["steps"]) - 1)
    keyboard.press("Home")
    keyboard.press("ArrowRight")
    compare_learning(live, 1)
    keyboard.press("Tab")
    keyboard.press("Enter")
    ringed(live)
    compare_learning(live, 2)


# ---- By keyboard ----


def focused(figure: "Locator") -> "Locator":
    return figure.locator(":focus")


def ringed(figure: "Locator") -> None:
    """Require an outline around what has the focus, or around its label."""
    style = focused(figure).evaluate(
        "one => getComputedStyle(one.type === 'radio' ? one.nextSibling : one)"
        ".outlineStyle"
    )
    assert style == "solid"


def test_words_by_keyboard(show: Show) -> None:
    live = show("words", reduced_motion="reduce")
    keyboard = live.page.keyboard
    live.get_by_role("radio", name="he", exact=True).focus()
    keyboard.press("ArrowUp")
    ringed(live)
    compare_words(live, 3, QUERY)
    keyboard.press("ArrowDown")
    keyboard.press("Tab")
    keyboard.press("ArrowLeft")
    ringed(live)
    compare_words(live, 4, SIMILARITY)


def test_query_by_keyboard(live: "Locator") -> None:
    page = live.page
    live.get_by_role("radio", name="journey").focus()
    for word in ("starts", "with", "one", "step", "Your"):
        page.keyboard.press("ArrowRight")
        assert said(live).startswith(f"“{word}”")
        ringed(live)


def test_saturation_by_keyboard(live: "Locator") -> None:
    page = live.page
    live.get_by_role("slider", name="width d_k").focus()
    page.keyboard.press("Home")
    ringed(live)
    weights, facts = softened(wide_scores()[1])
    same(numbers(live.locator("dd data")), facts)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowLeft")
    ringed(live)
    weights, facts = softened(wide_scores()[4] * 2**-0.25)
    same(numbers(live.locator(".hw-live__columns data")), weights)
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    ringed(live)
    weights, _ = softened(wide_scores()[4] / 2)
    same(numbers(live.locator(".hw-live__columns data")), weights)


def test_leak_by_keyboard(live: "Locator") -> None:
    page = live.page
    live.get_by_role("radio", name="step").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    ringed(live)
    compare_leak(live, 4, [0.78, 0.25, 0.10], causal=False)
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    ringed(live)
    compare_leak(live, 4, [9, 9, 9], causal=False)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    ringed(live)
    compare_leak(live, 4, [9, 9, 9], causal=True)


def test_heads_by_keyboard(live: "Locator") -> None:
    page = live.page
    live.get_by_role("radio", name="2", exact=True).focus()
    page.keyboard.press("ArrowRight")
    assert said(live).startswith("[2, 1] becomes [2, 0, 1] by view")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert said(live).startswith("[2, 1] becomes [2, 0, 1] by reshape")
    ringed(live)
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert said(live).startswith("[2, 2] becomes")
    ringed(live)


def test_dropout_by_keyboard(live: "Locator") -> None:
    page = live.page
    live.get_by_role("slider", name="p").focus()
    page.keyboard.press("Home")
    sums = numbers(live.locator(".hw-live__bar data"))
    same(sums, torch.ones(12))
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    ringed(live)
    assert said(live).startswith("2 draws")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert said(live).startswith("102 draws")


# ---- For every reader ----


def test_a_table_stands_in_without_scripts(show: Show, every: str) -> None:
    html = (ROOT / f"generated/live/{every}.html").read_text("utf-8")
    cells = re.findall(r"<td>(?:<data [^>]*>)?([^<]+)", html)
    figure = show(every, java_script_enabled=False)
    shown = figure.locator("td:not(thead *)")
    assert shown.all_inner_texts() == cells
    assert len(cells) > 20
    assert all(cell.is_visible() for cell in (shown.first, shown.last))
    assert figure.locator("input, button, .hw-live__stage").count() == 0


def test_with_scripts_the_table_can_be_unfolded(show: Show, every: str) -> None:
    figure = show(every)
    assert not figure.locator(".hw-live__numbers").first.is_visible()
    figure.locator("summary").click()
    assert figure.locator(".hw-live__numbers").last.is_visible()


@pytest.mark.parametrize("scripts", [True, False])
def test_it_fits_on_a_phone(show: Show, every: str, scripts: bool) -> None:
    figure = show(every, width=360, java_script_enabled=scripts)
    if scripts:
        figure.locator("summary").click()
    box = figure.bounding_box()
    inside = figure.locator("*").evaluate_all(
        "all => all.filter(one => one.getClientRects().length)"
        ".map(one => one.getBoundingClientRect())"
        ".map(box => [box.left, box.right])"
    )
    assert min(left for left, _ in inside) >= box["x"] - 0.5
    assert max(right for _, right in inside) <= box["x"] + box["width"] + 0.5
    sizes = figure.locator("td, th, label, button, data, small").evaluate_all(
        "all => all.map(one => parseFloat(getComputedStyle(one).fontSize))"
    )
    assert min(sizes) >= 11


def test_targets_are_large_enough_for_a_finger(show: Show, every: str) -> None:
    touch = {"has_touch": True, "is_mobile": True, "width": 360}
    figure = show(every, **touch)
    boxes = figure.locator("label:has(input), button, input, summary")
    for box in boxes.all():
        if box.get_attribute("type") != "checkbox":
            size = box.bounding_box()
            assert min(size["width"], size["height"]) >= 23.9
    before = said(figure)
    {
        "words": lambda: figure.get_by_role("radio", name="is", exact=True).tap(),
        "query": lambda: figure.get_by_role("radio", name="starts").tap(),
        "saturation": lambda: figure.get_by_text("keep the scale").tap(),
        "leak": lambda: figure.get_by_role("radio", name="causal mask").tap(),
        "heads": lambda: figure.locator(".hw-live__picks input").nth(3).tap(),
        "dropout": lambda: figure.get_by_text("Draw 100 times").tap(),
        "clock": lambda: figure.get_by_text("Move both on").tap(),
        "groups": lambda: figure.get_by_role("radio", name="8").tap(),
        "writing": lambda: figure.get_by_text("Next call").tap(),
        "tiles": lambda: figure.get_by_text("Next tile").tap(),
        "memory": lambda: figure.get_by_role("button", name="Write").tap(),
        "learning": lambda: figure.get_by_text("Train on").tap(),
    }[every]()
    assert said(figure) != before


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_nothing_moves_for_those_who_want_no_motion(
    show: Show, every: str, motion: str
) -> None:
    figure = show(every, reduced_motion=motion)
    times = figure.locator(".hw-live__stage *").evaluate_all(
        "all => all.map(one => getComputedStyle(one))"
        ".map(style => [style.transitionDuration, style.animationName])"
    )
    assert {name for _, name in times} == {"none"}
    moves = any(re.search(r"[1-9]", duration) for duration, _ in times)
    assert moves == (motion == "no-preference")


CONTRASTS = """
figure => {
  const parse = (text) => {
    const parts = text.match(/-?[\\d.]+(?:e-?\\d+)?/g).map(Number)
    const scaled = text.startsWith("color") ? 1 : 255
    const [r, g, b] = parts.slice(0, 3).map((part) => part / scaled)
    return [r, g, b, parts.length > 3 ? parts[3] : 1]
  }
  const over = ([r, g, b, a], [R, G, B]) =>
    [[r, R], [g, G], [b, B]].map(([top, below]) => a * top + (1 - a) * below)
  const background = (one) => {
    if (!one) return [1, 1, 1]
    const below = background(one.parentElement)
    return over(parse(getComputedStyle(one).backgroundColor), below)
  }
  const light = (colour) => {
    const [r, g, b] = colour.map((part) =>
      part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const texts = document.createTreeWalker(figure, NodeFilter.SHOW_TEXT)
  const found = []
  while (texts.nextNode()) {
    const one = texts.currentNode.parentElement
    if (!texts.currentNode.data.trim() || !one.getClientRects().length) continue
    const below = background(one)
    const style = getComputedStyle(one)
    const ink = over(parse(style.color), below)
    const [high, low] = [light(ink), light(below)].sort((a, b) => b - a)
    let opacity = 1
    for (let up = one; up; up = up.parentElement) {
      opacity *= getComputedStyle(up).opacity
    }
    found.push([texts.currentNode.data, (high + 0.05) / (low + 0.05), opacity])
  }
  return found
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("scripts", [True, False])
def test_every_word_is_legible(
    show: Show, every: str, scheme: str, scripts: bool
) -> None:
    options = {"color_scheme": scheme, "reduced_motion": "reduce"}
    figure = show(every, **options)
    if not scripts:
        figure.locator("summary").click()
    shown = figure.page.locator("body").get_attribute("data-md-color-scheme")
    assert (shown == "slate") == (scheme == "dark")
    figure.page.mouse.move(0, 0)
    found = figure.evaluate(CONTRASTS)
    assert len(found) > 20
    assert [one for one in found if one[1] < 4.5 or one[2] < 1] == []


# ---- What is loaded ----


def test_a_script_comes_when_its_figure_does(
    opened: Callable[..., Visit], address: Callable[[str], str], every: str
) -> None:
    seen = opened(PAGES[every], viewport={"width": 1280, "height": 600})
    in_first_screen = PAGES[every] == ""
    if not in_first_screen:
        seen.settle()
        assert not any("/live/" in request.url for request in seen.requests)
    start(seen.page, every)
    seen.settle()
    asked = [request.url for request in seen.requests]
    loaded = [url.rpartition("/live/")[2] for url in asked if "/live/" in url]
    assert loaded[0] == "kit.js"
    assert f"{every}.js" in loaded
    assert len(loaded) == len({*loaded})
    assert all(url.startswith(address("")) for url in asked)


def test_it_works_from_a_file(browser: "Browser", every: str) -> None:
    window = new_window(browser)
    file = SITE / PAGES[every] / "index.html"
    # Without its messages: a font may not be fetched from a file.
    assert said(start(visit(window, file.as_uri()).page, every))
    window.close()


STRICT = "default-src 'self'; script-src 'self'; style-src 'self'"


def add_policy(route: "Route") -> None:
    """Answer as a host does that has a stricter policy than the page."""
    answer = route.fetch()
    headers = {**answer.headers, "content-security-policy": STRICT}
    route.fulfill(response=answer, headers=headers)


def test_it_works_under_a_strict_policy(
    browser: "Browser", address: Callable[[str], str], every: str
) -> None:
    window = new_window(browser)
    window.route(address(PAGES[every]), add_policy)
    window.add_init_script(
        "window.refused = []; addEventListener('securitypolicyviolation',"
        "event => refused.push([event.sourceFile, event.target.outerHTML]))"
    )
    page = visit(window, address(PAGES[every])).page
    start(page, every)
    refused = page.evaluate("refused")
    # The theme has inline scripts; the figures have nothing that is refused.
    assert refused
    assert not [one for one in refused if "live" in f"{one}".split("<script")[0]]
    window.close()


def test_a_figure_stays_a_table_if_its_script_is_lost(
    browser: "Browser", address: Callable[[str], str], every: str
) -> None:
    window = new_window(browser)
    window.route(f"**/live/{every}.js", lambda route: route.abort())
    page = window.new_page()
    with page.expect_event("requestfailed"):
        page.goto(address(PAGES[every]))
        figure = find(page, every)
    figure.locator(".hw-live__numbers").first.wait_for()
    assert figure.locator(".hw-live__stage").count() == 0
    window.close()
