"""The pictures of the book show the numbers of its pages, to every reader."""

import math
import re
import shutil
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch
from torch import Tensor, nn

from generators.pictures import readme
from generators.pictures.__main__ import main
from headway import MultiHeadAttention, he_finds_boy
from tests.support import oracles
from tests.support.made_now import made_now

ROOT = Path(__file__).parents[2]
FIGURES = ROOT / "generated" / "pictures"
FILES = sorted(FIGURES.glob("*.svg"))
COMMAND = "python -m generators.pictures"
# A phone of 360 pixels leaves this much between the margins of a page.
PHONE = 328
SIX = torch.tensor(
    [
        [0.43, 0.15, 0.89],
        [0.55, 0.87, 0.66],
        [0.57, 0.85, 0.64],
        [0.22, 0.58, 0.33],
        [0.77, 0.25, 0.10],
        [0.05, 0.80, 0.55],
    ]
)
PAST = torch.tensor(oracles.past(6, 6))

every_picture = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


def draw(*arguments: str) -> int:
    """Run the generator in this process, which has loaded torch already."""
    return main(arguments)


def figure(path: Path) -> ElementTree.Element:
    return ElementTree.fromstring(path.read_text("utf-8"))  # noqa: S314


def caption_of(path: Path) -> str:
    caption = figure(path).find("figcaption")
    assert caption is not None
    return "".join(caption.itertext())


def panels(path: Path) -> list[ElementTree.Element]:
    return list(figure(path).iter("svg"))


def width_of(panel: ElementTree.Element) -> float:
    return float(panel.attrib["viewBox"].split()[2])


def texts(name: str, panel: int | None = None) -> list[str]:
    """Read what a picture says, in the order in which it was drawn."""
    found = panels(FIGURES / f"{name}.svg")
    chosen = found if panel is None else [found[panel]]
    return [text.text or "" for one in chosen for text in one.iter("text")]


def numbers(name: str, panel: int | None = None) -> list[str]:
    """Read the numbers of a picture that have decimals."""
    return [text for text in texts(name, panel) if re.fullmatch(r"-?\d+\.\d+", text)]


def show(found: list[str], expected: Tensor) -> None:
    """Require numbers that differ from the true ones by rounding only."""
    true = expected.double().flatten().tolist()
    assert len(found) == len(true)
    for text, number in zip(found, true, strict=True):
        decimals = len(text.partition(".")[2])
        # The last part is what 32-bit numbers may be off.
        assert abs(float(text) - number) <= 0.5 * 10**-decimals + 1e-6, (text, number)


# The files


def test_the_book_has_the_pictures_that_are_drawn_now() -> None:
    drawn = made_now("pictures")
    assert drawn == {path.name: path.read_text("utf-8") for path in FILES}
    assert len(drawn) >= 14


def test_check_finds_nothing_in_the_book(capsys: pytest.CaptureFixture[str]) -> None:
    assert draw("--check") == readme.main(["--check"]) == 0
    assert capsys.readouterr().out == ""


def test_check_names_each_picture_that_is_not_as_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "figures"
    shutil.copytree(FIGURES, folder)
    changed, missing, foreign = FILES[0].name, FILES[1].name, "foreign.svg"
    edited = (folder / changed).read_text("utf-8").replace("2", "3")
    (folder / changed).write_text(edited, "utf-8")
    (folder / missing).unlink()
    (folder / foreign).write_text("<figure/>\n", "utf-8")
    before = {path.name: path.read_bytes() for path in folder.glob("*.svg")}

    assert draw("--check", "--to", str(folder)) == 1
    said = {
        name: f"{folder / name} must be as made now; run {COMMAND}."
        for name in (changed, missing)
    }
    said[foreign] = f"{folder / foreign} must not be there: {COMMAND} does not make it."
    assert capsys.readouterr().out.splitlines() == [said[n] for n in sorted(said)]
    assert before == {path.name: path.read_bytes() for path in folder.glob("*.svg")}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_picture_of_the_readme_shows_what_the_home_page_prints(scheme: str) -> None:
    root = figure(readme.FOLDER / f"{scheme}.svg")
    said = [text.text or "" for text in root.iter("{http://www.w3.org/2000/svg}text")]
    home = (ROOT / "docs/index.md").read_text("utf-8")
    rows = re.findall(r"^(\w+) +0\.\d\d +(\d\.\d\d)$", home, re.MULTILINE)
    he = [word for word, _ in rows].index("he")
    shown = [share if s <= he else "hidden" for s, (_, share) in enumerate(rows)]
    assert said == [
        part for (word, _), at in zip(rows, shown, strict=True) for part in (word, at)
    ]
    assert f"{rows[0][1]} of what it collects from “Boy”" in root.attrib["aria-label"]
    text = (readme.FOLDER / f"{scheme}.svg").read_text("utf-8")
    assert not re.findall(r"var\(|currentColor|url\(|href", text)
    others = {"light": "dark", "dark": "light"}
    other = (readme.FOLDER / f"{others[scheme]}.svg").read_text("utf-8")
    colours = {*re.findall("#[0-9a-f]{6}", text)}
    assert not colours & {*re.findall("#[0-9a-f]{6}", other)}
    assert f"figures/readme/{scheme}.svg" in (ROOT / "README.md").read_text("utf-8")


def test_each_picture_stands_on_one_page() -> None:
    pages = [path.read_text("utf-8") for path in (ROOT / "docs").rglob("*.md")]
    shown = re.findall(r'^--8<-- "(.+\.svg)"$', "\n".join(pages), flags=re.MULTILINE)
    assert sorted(shown) == [path.name for path in FILES]


@every_picture
def test_markdown_takes_it_as_one_small_block(path: Path) -> None:
    lines = path.read_text("utf-8").splitlines()
    assert lines[0] == '<figure class="hw-figure">'
    assert lines[-1] == "</figure>"
    assert all(line.strip() for line in lines)
    assert path.stat().st_size < 24_000


@every_picture
def test_it_is_well_formed_and_needs_nothing_else(path: Path) -> None:
    root = figure(path)
    drawing = {"svg", "text", "rect", "path", "circle", "polygon", "a"}
    assert {element.tag for element in root.iter()} - drawing <= {
        "figure",
        "div",
        "figcaption",
        "code",
    }
    # A page may hold two pictures, so neither may name a part of itself.
    attributes = {name for element in root.iter() for name in element.attrib}
    assert not attributes & {"id", "src"}
    assert "url(" not in path.read_text("utf-8")


@every_picture
def test_it_can_be_read_without_being_seen(path: Path) -> None:
    assert re.fullmatch(r"[A-Z“].{40,300}[.]", caption_of(path))
    labels = [panel.attrib["aria-label"] for panel in panels(path)]
    for panel, label in zip(panels(path), labels, strict=True):
        # An image hides its links from a screen reader, a group does not.
        links = panel.find(".//a") is not None
        assert panel.attrib["role"] == ("group" if links else "img")
        assert len(label) > 80
        assert re.search(r"\d", label)
        assert label.endswith(".")
    assert len(set(labels)) == len(labels)


@every_picture
def test_it_is_described_with_the_numbers_that_it_shows(path: Path) -> None:
    shown = set(numbers(path.stem))
    labels = [panel.attrib["aria-label"] for panel in panels(path)]
    for words in (caption_of(path), *labels):
        described = re.findall(r"-?\d+\.\d+", words.replace("p = 0.5", ""))
        assert set(described) <= shown


# How they look


def schemes() -> dict[str, dict[str, str]]:
    """Read the colours of both schemes where the site has them."""
    css = (ROOT / "docs" / "assets" / "styles" / "palette.css").read_text("utf-8")
    found = {}
    selectors = {"default": "", "slate": '="slate"'}
    for scheme, value in selectors.items():
        block = re.search(
            rf"^ *\[data-md-color-scheme{value}\] {{(.*?)}}", css, re.DOTALL | re.M
        )
        assert block
        pairs = re.findall(r"--(hw-[\w-]+): (#[0-9a-f]{6});", block[1])
        found[scheme] = dict(pairs)
    return found


VARIABLE = re.compile(r"var\(--(hw-[\w-]+), (#[0-9a-f]{6})\)")


@every_picture
def test_its_colours_are_those_of_the_page(path: Path) -> None:
    markup = path.read_text("utf-8")
    light = schemes()["default"]
    assert all(light[name] == colour for name, colour in VARIABLE.findall(markup))
    for element in figure(path).iter():
        for name in ("fill", "stroke"):
            value = VARIABLE.sub("", element.get(name, ""))
            assert value in ("", "none", "currentColor")
        assert "color" not in element.get("style", "")
    assert not re.search(r"#[0-9a-f]{3}|rgb|hsl", VARIABLE.sub("", markup))


def channels(colour: str, scheme: dict[str, str]) -> tuple[float, ...]:
    name = "hw-fg" if colour == "currentColor" else VARIABLE.sub(r"\1", colour)
    return tuple(int(scheme[name][at : at + 2], 16) / 255 for at in (1, 3, 5))


def luminance(colour: tuple[float, ...]) -> float:
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def written(panel: ElementTree.Element) -> Iterator[tuple[ElementTree.Element, list]]:
    """Go through the texts of a panel, each with the rectangles behind it."""
    behind: list[ElementTree.Element] = []
    for element in panel.iter():
        if element.tag == "rect" and element.get("fill") != "none":
            behind.append(element)
        if element.tag == "text":
            x, y = float(element.attrib["x"]), float(element.attrib["y"]) - 4
            yield (
                element,
                [
                    rect
                    for rect in behind
                    if 0 <= x - float(rect.attrib["x"]) <= float(rect.attrib["width"])
                    and 0 <= y - float(rect.attrib["y"]) <= float(rect.attrib["height"])
                ],
            )


@every_picture
@pytest.mark.parametrize("scheme", ["default", "slate"])
def test_its_words_stand_out_in_both_schemes(path: Path, scheme: str) -> None:
    colours = schemes()[scheme]
    for panel in panels(path):
        for text, rects in written(panel):
            below = tuple(
                int(colours["hw-bg"][at : at + 2], 16) / 255 for at in (1, 3, 5)
            )
            for rect in rects:
                share = float(rect.get("fill-opacity", "1"))
                fill = channels(rect.attrib["fill"], colours)
                below = tuple(
                    share * f + (1 - share) * b
                    for f, b in zip(fill, below, strict=True)
                )
            ink = channels(text.get("fill", "currentColor"), colours)
            dark, light = sorted([luminance(ink), luminance(below)])
            assert (light + 0.05) / (dark + 0.05) >= 4.5, text.text


# Widths in a wide font, as shares of its size; letters that are not here have 0.62.
WIDTHS = {
    letter: width
    for letters, width in (("ijl.,:'", 0.3), ("frt()- ", 0.41), ("mwMWQ@", 0.95))
    for letter in letters
}


def extent(text: ElementTree.Element) -> tuple[float, float, float, float]:
    """Estimate the box that a text fills."""
    size = float(text.get("font-size", "12"))
    length = size * sum(WIDTHS.get(letter, 0.62) for letter in text.text or "")
    if text.get("font-weight") == "700":
        length *= 1.1
    x, y = float(text.attrib["x"]), float(text.attrib["y"])
    left = {"start": x, "middle": x - length / 2, "end": x - length}
    at = left[text.get("text-anchor", "middle")]
    return at, y - 0.75 * size, at + length, y + 0.2 * size


@every_picture
def test_its_words_have_room_and_size_on_a_phone(path: Path) -> None:
    for panel in panels(path):
        width, height = map(float, panel.attrib["viewBox"].split()[2:])
        assert float(panel.attrib["width"]) <= 640
        found = list(panel.iter("text"))
        for text in found:
            size = float(text.get("font-size", "12"))
            assert size * min(1, PHONE / width) >= 11, text.text
            left, top, right, bottom = extent(text)
            assert left >= -1, text.text
            assert top >= -1, text.text
            assert right <= width + 1, text.text
            assert bottom <= height + 1, text.text
        for one, other in combinations(found, 2):
            a, b = extent(one), extent(other)
            across = min(a[2], b[2]) - max(a[0], b[0])
            down = min(a[3], b[3]) - max(a[1], b[1])
            assert across <= 0 or down <= 1, (one.text, other.text)


# What they show


def bars(name: str, panel: int = 0) -> list[float]:
    """Measure the level bars of a picture: those that are 16 or 18 high."""
    return [
        float(rect.attrib["width"])
        for rect in panels(FIGURES / f"{name}.svg")[panel].iter("rect")
        if rect.attrib["height"] in ("16", "18")
    ]


def in_proportion(lengths: list[float], values: Tensor) -> None:
    true = values.flatten() / values.max() * max(lengths)
    torch.testing.assert_close(
        torch.tensor(lengths, dtype=torch.float64), true, atol=0.06, rtol=0
    )


def fills(name: str, panel: int = 0) -> list[float]:
    return [
        float(rect.attrib["fill-opacity"])
        for rect in panels(FIGURES / f"{name}.svg")[panel].iter("rect")
    ]


def heat(name: str, weights: Tensor, panel: int = 0) -> None:
    """Require the numbers of a heat map, and fills that grow with them evenly."""
    shown = weights[weights > 0].flatten()
    show(numbers(name, panel), shown)
    drawn = torch.tensor(fills(name, panel), dtype=torch.float64)
    even = 0.03 + (drawn.max() - 0.03) * shown / shown.max()
    torch.testing.assert_close(drawn, even, atol=0.006, rtol=0)


def hidden_cells(name: str, panel: int = 0) -> int:
    """Count hatched cells by the squares on which the strokes of the hatch begin."""
    strokes = [
        re.findall(r"M([\d.]+) ([\d.]+)", path.attrib["d"])
        for path in panels(FIGURES / f"{name}.svg")[panel].iter("path")
        if path.get("stroke-opacity") == "0.55"
    ]
    return sum(len(starts) for starts in strokes)


def test_words_lead_to_their_rows() -> None:
    words = ["The", "quick", "brown", "fox", "jumps", "over", "a", "lazy", "dog"]
    order = [sorted(words).index(word) for word in words]
    torch.manual_seed(123)
    table = nn.Embedding(9, 3).weight.detach()
    said = texts("embedding-lookup")
    assert [said.index(word) for word in words] == list(range(3, 12))
    assert said[12:21] == [str(index) for index in order]
    show(numbers("embedding-lookup"), table)

    curves = [
        tuple(map(float, re.findall(r"[\d.]+", path.attrib["d"])))
        for path in panels(FIGURES / "embedding-lookup.svg")[0].iter("path")
    ]
    # A curve begins at the height of its word and ends at the height of its row.
    heights = sorted(curve[1] for curve in curves)
    assert [heights.index(curve[1]) for curve in curves] == list(range(9))
    assert [heights.index(curve[-1]) for curve in curves] == order
    strong = [
        text.text
        for text in panels(FIGURES / "embedding-lookup.svg")[0].iter("text")
        if text.get("font-weight") == "700"
    ]
    fox = [f"{number:.2f}" for number in table[4].tolist()]
    assert strong == ["fox", "4", *fox]


def test_boy_is_four_changes_away_or_one_look() -> None:
    words = ["Boy", "is", "crying", "because", "he", "wants", "an", "ice", "cream"]
    read, looked = panels(FIGURES / "attention-reach.svg")
    for panel in (read, looked):
        said = [text.text for text in panel.iter("text")]
        assert [word for word in said if word in words] == words
    *changes, bracket = read.iter("path")
    assert len(changes) == len(words) - 1
    strong = [line.get("stroke-width") == "2" for line in changes]
    assert strong == [True] * 4 + [False] * 4
    boxes = [float(box.attrib["y"]) + 9 for box in read.iter("rect")]
    ends = re.findall(r"(\d+)h", bracket.attrib["d"])
    assert [*map(float, ends)] == [boxes[words.index(one)] for one in ("Boy", "he")]

    looks = [
        (*map(float, re.findall(r"[\d.]+", arc.attrib["d"])), arc.get("stroke-width"))
        for arc in looked.iter("path")
    ]
    here = boxes[words.index("he")]
    assert {look[1] for look in looks} == {here}
    assert [look[-2] for look in looks] == [one for one in boxes if one != here]
    assert [look[-1] for look in looks] == ["2"] + ["1"] * 7


# Noun, pronoun, living, for each word of "Boy is crying because he wants an ice cream".
NINE = torch.zeros(9, 3)
NINE[[0, 7, 8], 0] = NINE[4, 1] = NINE[0, 2] = 1


def test_scores_of_boy_and_their_weights() -> None:
    scores = torch.tensor(
        [oracles.dot(NINE[0].tolist(), x) for x in NINE.tolist()], dtype=torch.float64
    )
    weights = oracles.softmax(scores[None])[0]
    found = [text for text in texts("simple-attention-bars") if text[0].isdigit()]
    assert found[:10] == [f"{score:.0f}" for score in [*scores, scores.sum()]]
    show(found[10:], torch.cat([weights, weights.sum()[None]]))
    lengths = bars("simple-attention-bars")
    in_proportion(lengths[:3], scores[scores > 0])
    in_proportion(lengths[3:], weights)


def test_all_weights_of_the_nine_words() -> None:
    heat("simple-attention-weights", oracles.attention_weights(NINE, NINE, scale=1.0))


def test_one_query_from_its_token_to_its_context() -> None:
    torch.manual_seed(42)
    matrices = [torch.rand(3, 2) for _ in range(3)]
    query, keys, values = (
        torch.tensor(oracles.linear(SIX.tolist(), matrix.T.tolist()))
        for matrix in matrices
    )
    scores = torch.tensor([oracles.dot(query[1].tolist(), k) for k in keys.tolist()])
    weights = oracles.softmax(scores[None] / math.sqrt(2))[0]
    context = torch.tensor(oracles.mix(weights.tolist(), values.tolist()))

    pairs = torch.stack([scores, scores / math.sqrt(2)], dim=-1)
    expected = [SIX[1], query[1], keys.flatten(), pairs.flatten()]
    show(numbers("qkv-flow", 0), torch.cat(expected))
    expected = [context, values.flatten(), weights]
    show(numbers("qkv-flow", 1), torch.cat(expected))
    in_proportion(bars("qkv-flow", 1), weights)


def test_the_division_keeps_softmax_soft() -> None:
    expected: list[list[float]] = [[], []]
    for d in (1, 4, 16, 64, 256, 1024):
        torch.manual_seed(123)
        q = torch.randn(512, d, dtype=torch.float64)
        k = torch.randn(512, 64, d, dtype=torch.float64)
        scores = (k @ q[:, :, None])[:, :, 0]
        for line, divisor in zip(expected, (1, math.sqrt(d)), strict=True):
            powers = (scores / divisor).exp()
            line.append((powers.amax(-1) / powers.sum(-1)).mean().item())
    found = [text for text in numbers("sqrt-dk") if text not in ("0.25", "0.75", "0.5")]
    # Both lines begin in one point, whose number is written once.
    show(found, torch.tensor(expected[0][1:] + expected[1]))

    circles = list(panels(FIGURES / "sqrt-dk.svg")[0].iter("circle"))
    heights = [float(circle.attrib["cy"]) for circle in circles]
    flat = torch.tensor(expected[0] + expected[1], dtype=torch.float64)
    drawn = (226 - torch.tensor(heights, dtype=torch.float64)) / 190
    torch.testing.assert_close(drawn, flat, atol=0.001, rtol=0)


def test_shapes_are_drawn_to_scale() -> None:
    said = [
        text.replace("\N{MULTIPLICATION SIGN}", " ")
        for text in texts("self-attention-shapes")
    ]
    shapes = [tuple(map(int, t.split())) for t in said if re.fullmatch(r"\d \d", t)]
    frames = [
        (float(rect.attrib["height"]), float(rect.attrib["width"]))
        for panel in panels(FIGURES / "self-attention-shapes.svg")
        for rect in panel.iter("rect")
        if rect.get("stroke-width")
    ]
    assert shapes == [
        (9, 3),
        *[(3, 2), (9, 2)] * 3,
        (9, 2),
        (2, 9),
        (9, 9),
        *[(9, 2)] * 2,
    ]
    assert frames == [(14.0 * rows, 14.0 * columns) for rows, columns in shapes]


def cloakroom(texts: int) -> tuple[Tensor, Tensor]:
    """Draw what `recall_task` draws, a text and a guest at a time."""
    order = [torch.rand(texts, 8).argsort(dim=1, stable=True) for _ in range(2)]
    places = torch.randint(5, (texts,)).tolist()
    x = torch.zeros(texts, 6, 24, dtype=torch.float64)
    answers = []
    for text, place in enumerate(places):
        names, hooks = (one[text, :5].tolist() for one in order)
        for guest, (name, hook) in enumerate(zip(names, hooks, strict=True)):
            x[text, guest, name] = x[text, guest, 16 + hook] = 1.0
        x[text, 5, 8 + names[place]] = 1.0
        answers.append(hooks[place])
    return x, torch.tensor(answers)


def test_a_head_before_and_after_training() -> None:
    torch.manual_seed(123)
    layers = [nn.Linear(24, 8, bias=False).double() for _ in range(3)]
    pictured = []
    measured = []
    optimizer = torch.optim.Adam([layer.weight for layer in layers], lr=0.02)
    for step in range(101):
        if step in (0, 100):
            # The columns of a nickname and of a name are what their ones pick.
            query, key = (layer.weight.detach().T for layer in layers[:2])
            pictured.append(oracles.attention_weights(query[8:14], key[:6]))
        x, answer = cloakroom(64)
        q, k, v = (layer(x) for layer in layers)
        weights = (q[:, -1:] @ k.transpose(1, 2) / math.sqrt(8)).softmax(dim=-1)
        scores = (weights @ v)[:, 0]
        loss = nn.functional.cross_entropy(scores, answer)
        hooks = x[:, :, 16:].argmax(dim=-1)
        holds = (hooks == answer[:, None]) & (x[:, :, 16:].sum(dim=-1) > 0)
        measured.append(
            [
                loss.item(),
                (scores.argmax(dim=-1) == answer).double().mean().item(),
                (weights[:, 0] * holds).sum(dim=-1).mean().item(),
            ]
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    for panel, weights in enumerate(pictured):
        show(numbers("head-learned", panel), weights)
        drawn = torch.tensor(fills("head-learned", panel), dtype=torch.float64)
        even = 0.03 + 0.39 * weights.flatten()
        torch.testing.assert_close(drawn, even, atol=0.006, rtol=0)
    losses, rights, weights_of = zip(*measured, strict=True)
    guesses = [math.log(8), math.log(5)]
    show(numbers("head-learns", 0), torch.tensor([*guesses, losses[-1]]))
    show(numbers("head-learns", 1), torch.tensor([rights[50], weights_of[50]]))
    drawn_curves = [
        [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", path.attrib["d"])]
        for panel in panels(FIGURES / "head-learns.svg")
        for path in panel.iter("path")
        if path.attrib["d"].count("L") == 100
    ]
    for heights, values, highest in zip(
        drawn_curves, (losses, rights, weights_of), (2.4, 1.0, 1.0), strict=True
    ):
        true = [216 - 180 * value / highest for value in values]
        assert heights == pytest.approx(true, abs=0.06)


def test_a_real_head_finds_what_followed() -> None:
    text = "johnmarymaryjohn"
    said = [words for words in texts("head-of-a-model") if len(words) == 1]
    assert said == [letter for letter in text for _ in range(2)]
    places = [(t, s) for t in range(16) for s in range(t + 1)]
    shades = dict(zip(places, fills("head-of-a-model"), strict=True))
    for t in range(8, 16):
        followed = text.index(text[t]) + 1
        assert shades[t, followed] > 0.03 + 0.9 * 0.39 - 0.006


def test_who_notices_another_word() -> None:
    (words, x), W_query, W_key = he_finds_boy()
    state = {
        "W_query.weight": W_query.T,
        "W_key.weight": W_key.T,
        "W_value.weight": torch.eye(3),
    }
    changed = x.clone()
    changed[7] = torch.tensor([1.0, 0.0, 1.0])
    moved = [
        (
            oracles.self_attention(changed, state, causal=causal)
            - oracles.self_attention(x, state, causal=causal)
        )
        .abs()
        .amax(dim=-1)
        for causal in (False, True)
    ]
    assert words[7] == "ice"
    assert moved[1][:7].tolist() == [0.0] * 7
    drawn = torch.cat([moved[0], moved[1][7:]])
    show(numbers("leak"), drawn)
    # An exact zero is written as such.
    assert texts("leak").count("0") == 7
    in_proportion(bars("leak"), drawn)


def test_two_questions_find_more_than_one() -> None:
    nouns, living, to_eat = torch.zeros(3, 9).double()
    nouns[[0, 7, 8]] = living[0] = to_eat[[7, 8]] = 1.0
    scores = {
        "who": 4 * (nouns + living) / 3**0.5,
        "what": 4 * (nouns + to_eat) / 3**0.5,
        "both": 4 * (2 * nouns + living + to_eat) / 6**0.5,
    }
    rows = torch.stack([one.softmax(dim=0) for one in scores.values()])
    collected = torch.stack([rows @ living, rows @ to_eat])
    show(numbers("two-questions"), torch.cat([rows.flatten(), collected.flatten()]))


def test_one_product_holds_the_numbers_of_two() -> None:
    x = [[1, 2], [0, 1], [2, 0]]
    narrow = [[[1, 0], [1, 1]], [[3, 1], [1, 3]]]
    columns = [[list(column) for column in zip(*w, strict=True)] for w in narrow]
    heads = [oracles.linear(x, weight) for weight in columns]

    def digits(*matrices: list[list[float]]) -> list[str]:
        return [f"{n:.0f}" for matrix in matrices for row in matrix for n in row]

    two = [t for t in texts("one-product", 0) if t.isdigit()]
    assert two == digits(x, narrow[0], heads[0], x, narrow[1], heads[1])
    one = [t for t in texts("one-product", 1) if t.isdigit()]
    # A part of the wide matrix, of the wide result, and a head, twice.
    assert one == digits(
        x, narrow[0], heads[0], heads[0], narrow[1], heads[1], heads[1]
    )


def test_a_block_adds_what_is_equally_wide() -> None:
    said = texts("block")
    assert sum("(T, 768)" in text for text in said) == 2
    assert sum("(T, 3072)" in text for text in said) == 1
    assert said.count("+") == said.count("residual") == said.count("normalisation") == 2


def test_two_heads_side_by_side() -> None:
    torch.manual_seed(123)
    states = [
        {
            f"W_{name}.weight": nn.Linear(3, 2, bias=False).weight.detach()
            for name in ("query", "key", "value")
        }
        for _ in range(2)
    ]
    results = []
    for panel, state in enumerate(states):
        query, key = (
            torch.tensor(
                oracles.linear(SIX.tolist(), state[f"W_{name}.weight"].tolist())
            )
            for name in ("query", "key")
        )
        heat("two-heads", oracles.attention_weights(query, key, PAST), panel)
        assert hidden_cells("two-heads", panel) == 15 * 5
        results.append(oracles.self_attention(SIX, state, causal=True))
    # The table is drawn a head at a time.
    show(numbers("two-heads", 2), torch.cat([result.flatten() for result in results]))


def test_heads_are_split_and_not_mixed() -> None:
    digits = [[t for t in texts("split-heads", p) if t.isdigit()] for p in range(3)]
    x = torch.arange(12)
    assert digits[0] == [str(number) for number in range(12)]
    right = [
        [row[2 * h + d] for row in x.reshape(3, 4).tolist() for d in (0, 1)]
        for h in (0, 1)
    ]
    assert digits[1] == [str(number) for head in right for number in head]
    assert digits[2] == digits[0]
    tokens = [
        [t for t in texts("split-heads", p) if t.startswith("token ")] for p in (1, 2)
    ]
    assert tokens[0] == ["token 1", "token 2", "token 3"] * 2
    assert [t[-1] for t in tokens[1]] == ["1", "1", "2", "2", "3", "3"]
    # Four numbers stand in the wrong head, and a dashed line says so.
    dashed = [
        sum("stroke-dasharray" in rect.attrib for rect in panel.iter("rect"))
        for panel in panels(FIGURES / "split-heads.svg")
    ]
    assert dashed == [0, 0, 4]


def test_one_rule_two_masks() -> None:
    letters = [
        [t for t in texts("mask-polarity", p) if t in ("T", "F")] for p in (0, 1)
    ]
    past = [yes for row in oracles.past(5, 5) for yes in row]
    assert letters[0] == ["T" if yes else "F" for yes in past]
    assert letters[1] == ["F" if yes else "T" for yes in past]
    for panel in (0, 1):
        assert len(fills("mask-polarity", panel)) == sum(past)
        assert hidden_cells("mask-polarity", panel) == (25 - sum(past)) * 4


def test_the_path_leads_to_each_chapter_in_order() -> None:
    nav = re.findall(
        r"- (\d+\.\d+) (.+): basics/(.+)\.md", (ROOT / "mkdocs.yml").read_text("utf-8")
    )
    links = list(figure(FIGURES / "stages.svg").iter("a"))
    assert [link.attrib["href"] for link in links] == [f"basics/{n[2]}/" for n in nav]
    for (number, title, _), link in zip(nav, links, strict=True):
        bold = [
            text.text or "" for text in link.iter("text") if text.get("font-weight")
        ]
        assert " ".join(bold).removeprefix("Q K V ") == f"{number} {title}"


def test_three_words_look_up_three_others() -> None:
    kinds = [0, 2, 1]  # the: article, black: colour, cat: animal
    for panel, strength in enumerate((1, 8)):
        high = math.exp(strength) / (math.exp(strength) + 2)
        low = 1 / (math.exp(strength) + 2)
        weights = [[high if s == kind else low for s in range(3)] for kind in kinds]
        show(numbers("cross-attention-lookup", panel), torch.tensor([high] * 3))
        # Each English word has an arrow to each French one, as wide as its weight.
        root = panels(FIGURES / "cross-attention-lookup.svg")[panel]
        lines = [path for path in root.iter("path") if path.get("stroke-width")]
        widths = torch.zeros(3, 3, dtype=torch.float64)
        for line in lines:
            ends = [float(n) for n in re.findall(r"[\d.]+", line.attrib["d"])]
            t, s = (round((y - 62) / 52) for y in (ends[1], ends[3]))
            widths[t, s] = float(line.attrib["stroke-width"])
        even = 0.6 + 5.4 * torch.tensor(weights, dtype=torch.float64)
        torch.testing.assert_close(widths, even, atol=0.051, rtol=0)
        assert len(list(root.iter("polygon"))) == 3


def test_the_table_of_who_reaches_whom_is_the_printed_one() -> None:
    page = (ROOT / "docs/basics/checks.md").read_text("utf-8")
    printed = re.search(
        r"^tensor\(\[(\[.*?\])\], dtype=torch.int32\)$", page, re.M | re.S
    )
    assert printed
    wrong = re.findall(r"\b[01]\b", printed[1])
    past = [str(int(token <= row)) for row in range(7) for token in range(7)]
    for panel, table in enumerate((wrong, past)):
        said = [text for text in texts("who-reaches-whom", panel) if text.isdigit()]
        # Before the cells stand the numbers of the rows and of the tokens.
        assert said[14:] == table
        root = panels(FIGURES / "who-reaches-whom.svg")[panel]
        leaks = sum(cell > seen for cell, seen in zip(table, past, strict=True))
        dashed = ["stroke-dasharray" in rect.attrib for rect in root.iter("rect")]
        assert len(dashed) == table.count("1")
        assert sum(dashed) == leaks
        assert hidden_cells("who-reaches-whom", panel) == table.count("0") * 4


def test_two_texts_in_a_row_make_two_small_triangles() -> None:
    ids = [0, 0, 1, 1, 1]
    same = sum(s <= t and ids[s] == ids[t] for t in range(5) for s in range(5))
    for panel, (visible, dashed) in enumerate(((15, 15 - same), (same, 0))):
        root = panels(FIGURES / "packed-rows.svg")[panel]
        rects = list(root.iter("rect"))
        assert len(rects) == visible
        assert sum("stroke-dasharray" in rect.attrib for rect in rects) == dashed
        assert hidden_cells("packed-rows", panel) == (25 - visible) * 5


def test_a_sink_takes_half_and_first_tokens_stay_in_sight() -> None:
    shares = [float(share) for share in numbers("sinks", 0) if "." in share]
    assert shares == [0.1, 0.2, 0.3, 0.4, 0.05, 0.1, 0.15, 0.2, 0.5]
    seen = sum(min(t + 1, 5) for t in range(8))
    assert len([*panels(FIGURES / "first-tokens.svg")[0].iter("rect")]) == seen


def test_heads_are_joined_to_those_that_they_ask() -> None:
    for panel, groups in enumerate((4, 2, 1)):
        root = panels(FIGURES / "shared-heads.svg")[panel]
        said = texts("shared-heads", panel)
        assert f"{2 * groups * 128 * 2:,} bytes a token" in said
        digits = [text for text in said if text.isdigit()]
        assert digits == [str(g) for g in range(groups)] + ["0", "1", "2", "3"]
        boxes = [float(rect.attrib["x"]) + 19 for rect in root.iter("rect")]
        shared, asking = boxes[:groups], boxes[groups:]
        joined = [
            tuple(float(x) for x in re.findall(r"[ML]([\d.]+)", path.attrib["d"]))
            for path in root.iter("path")
        ]
        assert joined == [(asking[h], shared[h * groups // 4]) for h in range(4)]


def test_the_bias_for_distance_shows_reach_and_buckets() -> None:
    slopes = [2.0**-h for h in range(1, 9)]
    halves = [str(math.ceil(math.log(2) / slope)) for slope in slopes]
    assert texts("distance-bias", 0)[5::2] == halves
    weights = torch.tensor(
        [[math.exp(-s * d) for d in range(6, -1, -1)] for s in slopes]
    )
    rects = [*panels(FIGURES / "distance-bias.svg")[0].iter("rect")]
    shades = torch.tensor([float(rect.attrib["fill-opacity"]) for rect in rects])
    torch.testing.assert_close(
        shades, 0.03 + 0.39 * weights.flatten(), rtol=0, atol=0.0051
    )
    found = texts("distance-bias", 1)
    assert "113" in found
    assert "91" in found
    assert len([*panels(FIGURES / "distance-bias.svg")[1].iter("rect")]) == 32 + 16


def test_hands_point_where_their_positions_say() -> None:
    root = panels(FIGURES / "clock-hands.svg")[0]
    drawn = []
    for path in root.iter("path"):
        ends = re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path.attrib["d"])
        (x, y), (to_x, to_y) = ((float(a), float(b)) for a, b in ends)
        drawn.append(math.atan2(to_x - x, y - to_y))
    angles = [p * 10000 ** (-2 * i / 6) for p in range(8) for i in range(3)]
    assert len(drawn) == len(angles)
    for found, angle in zip(drawn, angles, strict=True):
        assert math.cos(found - angle) > 0.999


def test_a_matrix_stands_on_the_side_of_the_keys_or_of_the_queries() -> None:
    latent = torch.tensor([3, 1])
    matrices = torch.tensor([[[2, 1], [1, 3]], [[0, 1], [1, -1]]])
    queries = torch.tensor([[1, 2], [2, 1]])
    for panel, name in enumerate(("key", "moved query")):
        said = texts("latent-absorbed", panel)
        assert said[:2] == [("expanded", "absorbed")[panel], "latent (3, 1)"]
        for head, (W, q) in enumerate(zip(matrices, queries, strict=True)):
            made, asked = (W.T @ q, latent) if panel else (W @ latent, q)
            a, b = made.tolist()
            assert said[2 + 4 * head : 6 + 4 * head] == [
                f"{name} ({a}, {b})",
                f"query ({q[0]}, {q[1]})",
                "Wᵀ" if panel else "W",
                f"score {made @ asked}",
            ]
        root = panels(FIGURES / "latent-absorbed.svg")[panel]
        tips = [path.attrib["d"] for path in root.iter("path")]
        ways = [re.findall(r"[ML][\d.]+ ([\d.]+)", d) for d in tips]
        assert [float(a) > float(b) for a, b in ways] == [bool(panel)] * 2


def test_a_query_and_a_key_keep_their_score_wherever_they_stand() -> None:
    true = math.cos(2 * math.radians(30))  # two steps of 30 degrees
    for panel in range(3):
        show(numbers("rotary-turn", panel), torch.tensor([true]))


def test_chunks_are_triangles_beside_what_the_state_gives() -> None:
    root = panels(FIGURES / "linear-chunks.svg")[0]
    rects = [*root.iter("rect")]
    cells = [rect for rect in rects if "stroke" not in rect.attrib]
    blocks = [rect for rect in rects if "stroke" in rect.attrib]
    assert len(cells) == 3 * 6  # three triangles of three tokens
    size = float(cells[0].attrib["width"]) + 2
    shapes = [
        tuple(round((float(b.attrib[s]) + 2) / size) for s in ("width", "height"))
        for b in blocks
    ]
    assert shapes == [(3, 3), (6, 3)]
    # Together they are all pairs of nine words with their past.
    assert len(cells) + sum(w * h for w, h in shapes) == 9 * 10 / 2


def test_one_memory_overwrites_and_the_other_adds() -> None:
    for panel, rows in enumerate(([5, 0, 5, 7, 9, 7], [5, 0, 5, 7, 14, 7])):
        held = [text for text in texts("delta-memory", panel) if text.isdigit()]
        assert held == [str(number) for number in rows]


def test_one_head_looks_one_back_and_one_at_what_followed() -> None:
    text = "planetplane"
    places = [(t, s) for t in range(11) for s in range(t + 1)]
    for panel, back in enumerate((1, 5)):
        said = [words for words in texts("two-layers", panel) if len(words) == 1]
        assert said == [letter for letter in text for _ in range(2)]
        shades = dict(zip(places, fills("two-layers", panel), strict=True))
        for t in range(6, 11):
            row = [shades[t, s] for s in range(t + 1)]
            assert row.index(max(row)) == t - back
            assert max(row) > 0.03 + 0.9 * 0.39 - 0.006


def squares(stem: str, panel: int) -> list[float]:
    """Read how dark the squares of a panel are, row by row, where paths share it."""
    found = {
        (int(y), int(x)): float(path.attrib["fill-opacity"])
        for path in panels(FIGURES / f"{stem}.svg")[panel].iter("path")
        for x, y in re.findall(r"M(\d+) (\d+)h", path.attrib["d"])
    }
    return [found[place] for place in sorted(found)]


def test_two_heads_look_alike_and_one_of_them_brings_little() -> None:
    text = "planetplane"
    places = [(t, s) for t in range(11) for s in range(t + 1)]
    shades = []
    for panel in range(4):
        said = [words for words in texts("weights-and-sizes", panel) if len(words) == 1]
        assert said == [letter for letter in text for _ in range(2)]
        dark = squares("weights-and-sizes", panel)
        shades.append(dict(zip(places, dark, strict=True)))
    back = [[shade[t, t - 1] for t in range(1, 11)] for shade in shades]
    for panel in (0, 1):  # weights: more than half, but for one letter
        assert sum(shade > 0.03 + 0.5 * 0.39 for shade in back[panel]) >= 9
    # Sizes, on one scale: those of head 0 are less than half of those of head 1.
    assert max(back[2]) - 0.03 < 0.5 * (min(back[3]) - 0.03)


def test_two_streams_and_their_sizes() -> None:
    steps = {
        "pre-norm": lambda x, norm, half: x + half(norm(x)),
        "post-norm": lambda x, norm, half: norm(x + half(x)),
    }
    for panel, (name, step) in enumerate(steps.items()):
        said = texts("two-streams", panel)
        assert said[0] == name
        order = ["norm", "attention", "+", "norm", "feed-forward", "+"]
        if name == "post-norm":
            order = ["attention", "+", "norm", "feed-forward", "+", "norm"]
        assert [text for text in said if text in order] == order
        # In the stream itself stand all norms of one panel, and none of the other.
        boxes = [
            float(rect.attrib["x"])
            for rect in panels(FIGURES / "two-streams.svg")[panel].iter("rect")
        ]
        assert sum(x < 100 for x in boxes) == (2 if name == "post-norm" else 0)
        sizes = []
        for blocks in (1, 4, 16):
            torch.manual_seed(7)
            x = torch.randn(20, 32).double()
            halves: list[nn.Module] = []
            for _ in range(blocks):
                halves.append(MultiHeadAttention(32, 32, 20, 0.0, 4).double())
                up, down = nn.Linear(32, 128).double(), nn.Linear(128, 32).double()
                halves.append(nn.Sequential(up, nn.GELU("tanh"), down))
            for weight in (w for half in halves for w in half.parameters()):
                if weight.ndim == 2:
                    nn.init.xavier_normal_(weight)
                else:
                    nn.init.zeros_(weight)
            norm = nn.RMSNorm(32, eps=1e-6).double()
            for half in halves:
                x = step(x, norm, half)
            sizes.append(x.detach().square().mean().sqrt())
        show(numbers("two-streams", panel), torch.stack(sizes))
