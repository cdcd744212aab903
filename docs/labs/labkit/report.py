"""Sentences and tables that a program writes about what it has measured."""

from collections.abc import Sequence

from IPython.display import Markdown, display


def say(*sentences: str) -> None:
    """Show sentences as a list."""
    display(Markdown("\n".join(f"- {sentence}" for sentence in sentences)))


def claims(*pairs: tuple[bool, str]) -> None:
    """Show the sentences that the numbers bear out.

    Args:
        pairs: Each sentence, after whether it holds.

    Raises:
        AssertionError: If one does not hold.
    """
    for holds, sentence in pairs:
        if not holds:
            raise AssertionError(sentence)
    say(*(sentence for _, sentence in pairs))


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Show a table; all columns but the first hold numbers."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    display(Markdown("\n".join(f"| {' | '.join(line)} |" for line in lines)))
