"""Where a verdict sends the reader: sections of the book, and rooms of the museum.

Where the build of the package knew where the book is, its whole address opens. In a
clone of the book the file of the page does. Anywhere else its title must do: half an
address opens nothing.
"""

import os
from pathlib import Path

from headway._published import url_of

# The titles are those of the nav in mkdocs.yml; a test compares them.
ROOMS = {
    "masks": "Masks",
    "triangles": "Triangles",
    "softmax": "Scale and softmax",
    "heads": "Heads and layout",
    "dropout": "Dropout and modes",
    "padding": "Padding and fully masked rows",
    "state": "State, precision and sizes",
    "positions": "Positions",
    "caches": "Caches and windows",
    "groups": "Groups and latents",
    "pieces": "Pieces and tiles",
    "gradients": "Gradients by hand",
    "processes": "Many processes",
    "variants": "Variants",
    "models": "Parts of models",
    "whole_models": "Whole models",
    "running_models": "Running models",
}
CHAPTERS = {
    "basics/embedding": "Words become vectors",
    "basics/simple_attention": "Finding by similarity",
    "basics/scaled_dot_product": "Queries, keys and values",
    "basics/scaling": "Why divide by √d_k?",
    "basics/self_attention": "Self-attention as a module",
    "basics/training": "A head that has learned",
    "basics/masks": "Hiding the future",
    "basics/multi_head_attention": "Several heads",
    "basics/cross_attention": "Attention to a second text",
    "basics/checks": "Is it right?",
    "positions/sinusoidal": "A wave for each position",
    "positions/rotary": "Rotary positions",
    "positions/rotary_scaling": "Longer than trained",
    "positions/relative_bias": "A bias for distance",
    "decoding/kv_cache": "The key-value cache",
    "decoding/grouped_query": "Heads that share keys and values",
    "decoding/sliding_window": "A window on the past",
    "decoding/paged_cache": "A cache in pages",
    "decoding/latent_attention": "Keys and values from one small vector",
    "kernels/online_softmax": "One softmax in pieces",
    "kernels/flash": "Attention in tiles",
    "kernels/flash_backward": "The backward pass by hand",
    "kernels/flex": "Masks as functions",
    "variants/sinks": "A place for unused attention",
    "variants/norms_and_gates": "Norms and gates",
    "variants/sparse_attention": "Choosing keys",
    "variants/linear_attention": "Attention without the softmax",
    "variants/delta_rule": "A memory that overwrites",
    "distributed/tensor_parallel": "Heads over processes",
    "distributed/ring": "Tokens in a ring",
    "models/transformer_block": "A block",
    "models/small_gpt": "A model that writes",
    "models/induction": "Heads that continue a pattern",
    "models/attention_maps": "Reading attention",
    "basics/pytorch": "The same thing in PyTorch",
    "basics/packing": "Several texts in one row",
}
_CLONE = Path(__file__).parents[4]  # or some folder of Python, where it is installed


def to_section(address: str, title: str) -> str:
    """Name a section, and what opens it.

    Args:
        address: Where it stands, from the first page of the book; or the address of
            a page elsewhere.
        title: Its title.
    """
    page = _page(address)
    return f'Read "{title}"{_opens(address, CHAPTERS.get(page, page))}'


def to_exhibit(address: str) -> str:
    """Name the room of an exhibit, and what opens it.

    Args:
        address: Where it stands, from the first page of the book:
            `museum/triangles/#wrong-corner`.
    """
    room = _page(address).removeprefix("museum/")
    title = f'in "{ROOMS[room]}"' if room in ROOMS else "too"
    return f"The museum shows it {title}{_opens(address, '')}"


def _page(address: str) -> str:
    return address.partition("#")[0].rstrip("/")


def _opens(address: str, chapter: str) -> str:
    """Say what opens a page: its whole address, or its file; else its title, if any.

    The set of a teacher may name other sites.
    """
    if url := address if "://" in address else url_of(address):
        return f": {url}"
    here, file = Path.cwd(), _CLONE / "docs" / f"{_page(address)}.md"
    if here.is_relative_to(_CLONE) and file.exists():
        return f": {Path(os.path.relpath(file, here)).as_posix()}"
    return f' in "{chapter}".' if chapter else "."
