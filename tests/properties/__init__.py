"""What must hold of attention, asked of all in the package and of known mistakes."""

import pytest

# So that a failure shows the values that were compared.
pytest.register_assert_rewrite("properties.of_attention", "properties.of_masks")
