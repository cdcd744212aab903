"""Checks for whole language models: token ids in, logits out.

A model becomes a `subject`: a copy with weights that show what it does, and the ways in
which it takes ids, masks, positions and a cache. `evidence` holds what several of the
`properties` need; `run` asks them all.
"""

from headway.checks.model.run_model import check_model

__all__ = ["check_model"]
