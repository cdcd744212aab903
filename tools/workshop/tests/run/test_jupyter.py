"""Notebooks run in Jupyter, several at once."""

import socket

from nbformat.v4 import new_code_cell, new_notebook

from workshop.run.jupyter import execute


def test_a_kernel_takes_no_port_that_another_may_have_chosen(monkeypatch) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        # Each port that seems to be free is taken before the kernel comes to it.
        find = "jupyter_client.connect.LocalPortCache.find_available_port"
        monkeypatch.setattr(find, lambda *_: taken)
        notebook = new_notebook(cells=[new_code_cell("print(6 * 7)")])
        assert execute(notebook, limit=3600) == ""
    assert notebook.cells[0].outputs[0].text == "42\n"
