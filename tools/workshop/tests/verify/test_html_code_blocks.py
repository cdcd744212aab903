import pytest
from bs4 import BeautifulSoup

from workshop.verify.html_code_blocks import Block, blocks, copied, offered


def code(inside: str, around: str = "<pre>{}</pre>") -> str:
    page = BeautifulSoup(around.format(f"<code>{inside}</code>"), "html.parser")
    found = page.find("code")
    assert found is not None
    return copied(found)


def block(text: str, kind: str = "python") -> str:
    return (
        f'<div class="language-{kind} highlight"><pre><span></span><code>'
        f"{text}\n</code></pre></div>"
    )


# ---- What the button copies ----


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        ('<span class="kn">import</span> <a id="1-1" href="#x"></a>x\n', "import x"),
        ("a &lt; b &amp;&amp; c", "a < b && c"),
        ("  a\n\n  b  \n \n", "  a\n\n  b"),
        ("a<br>b<br/>c", "a\nb\nc"),
        ('<span class="hll">a\n</span>b', "a\nb"),
        ('a <span class="md-annotation">(1<i>!</i>)</span>b', "a b"),
        ("a<!-- not shown --><b hidden>x</b>", "a"),
    ],
)
def test_what_is_copied_is_what_is_seen(inside: str, text: str) -> None:
    assert code(inside) == text


def test_a_block_has_the_text_of_its_colours_and_of_nothing_hidden() -> None:
    text = (
        '<span class="kn">import</span> <span class="n">x</span>'
        '<span class="md-annotation">(1)</span><span class="k" hidden>y</span>'
    )
    (found,) = blocks(block(text))
    assert found.text == "import x"


def test_what_is_given_to_copy_goes_first() -> None:
    around = '<div data-copy="far"><pre data-copy="near &lt;\n">{}</pre></div>'
    assert code("seen", around) == "near <"
    assert code("seen", '<div data-copy="far"><pre>{}</pre></div>') == "far"


def test_copying_changes_nothing() -> None:
    page = BeautifulSoup("<code>a<br><i hidden>b</i></code>", "html.parser")
    before = str(page)
    copied(page.code)
    assert str(page) == before


# ---- Blocks ----


def test_blocks_with_their_headings_and_what_stands_below() -> None:
    html = f"""
      <h1 id="menu">Not the page</h1>
      <article>
      {block("0")}
      <h1 id="title">Title</h1>
      {block("1 &lt; 2")}
      <!--pytest-codeblocks:expected-output-->
      {block("True", "text")}
      {block("Error", "text")}
      <h2 id="next">Next</h2><h2>without a name</h2>
      <p>Words.</p>
      {block("alone", "text")}
      {block("$ make", "console")}
      </article>
      {block("after the page")}
    """
    assert blocks(html) == [
        Block("top", True, "0"),
        Block("title", True, "1 < 2", ("True", "Error")),
        Block("next", False, "alone"),
        Block("next", False, "$ make"),
    ]


def test_an_output_stands_right_below() -> None:
    separated = block("1") + "<p>It prints:</p>" + block("1", "text")
    assert [found.below for found in blocks(separated)] == [(), ()]
    two = block("1") + block("2") + block("2", "text")
    assert [found.below for found in blocks(two)] == [(), ("2",)]
    box = block("1") + f"<div class='tip'>{block('2', 'text')}</div>"
    assert [found.below for found in blocks(box)] == [(), ()]
    double = block("1") + "<div class='highlight'><pre>a</pre><pre>b</pre></div>"
    assert [found.below for found in blocks(double)] == [(), (), ()]
    in_box = f"<details><p>Q</p>{block('1')}{block('2', 'text')}</details>"
    assert [found.below for found in blocks(in_box)] == [("2",)]


def test_empty_lines_around_a_text_are_not_seen() -> None:
    html = block("\n\n1\n\n") + block("\n 2\n \n", "text")
    assert blocks(html) == [Block("top", True, "1", (" 2\n ",))]


@pytest.mark.parametrize(
    "html",
    [
        '<div class="language-python highlight"><pre><code>1</code></pre></div>',
        '<div class="highlight-ipynb hl-python"><pre>1</pre></div>',
        '<pre class="highlight"><code class="language-python">1</code></pre>',
        '<pre class="language-py">1</pre>',
        '<div class="language-ipython3"><div><pre><code>1</code></pre></div></div>',
        '<div class="language-pycon highlight"><pre><code>1</code></pre></div>',
    ],
)
def test_all_that_is_shown_as_python_is_python(html: str) -> None:
    assert blocks(html) == [Block("top", True, "1")]


@pytest.mark.parametrize("name", ["text", "pythonic", "pytb", "py-not", "console"])
def test_other_languages_are_not(name: str) -> None:
    assert blocks(block("1", name)) == [Block("top", False, "1")]


def test_raw_blocks_count_too() -> None:
    html = "<pre><code>a</code></pre><pre>b</pre><p><code>c</code></p>"
    assert blocks(html) == [Block("top", False, "a"), Block("top", False, "b")]
    html = block("1") + "<pre>printed</pre>"
    assert blocks(html) == [Block("top", True, "1", ("printed",))]


def test_line_numbers_are_no_block() -> None:
    table = (
        '<div class="language-python highlight"><table class="highlighttable"><tr>'
        '<td class="linenos"><div class="linenodiv"><pre>1</pre></div></td>'
        '<td class="code"><div><pre><code>x</code></pre></div></td></tr></table></div>'
    )
    html = table + block("y", "text")
    assert blocks(html) == [Block("top", True, "x", ("y",))]


def test_what_comes_from_elsewhere_is_left_out() -> None:
    html = f"<div class='doc'>{block('1')}</div>{block('2')}"
    assert [found.text for found in blocks(html, ".doc pre")] == ["2"]


def test_the_files_that_a_page_offers() -> None:
    html = (
        '<a href="a.ipynb" download>Notebook</a><a href="b.py">read</a>'
        '<a href="https://example.org/c.py" download>far</a><a download>none</a>'
    )
    assert offered(html) == ["a.ipynb"]
