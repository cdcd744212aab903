"""What must hold of attention, asked of all in the package and of known mistakes."""

import pytest

# So that a failure shows the values that were compared.
pytest.register_assert_rewrite(
    "tests.properties.of_attention", "tests.properties.of_masks"
)
