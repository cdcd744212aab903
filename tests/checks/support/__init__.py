"""What the tests of the checks share: right and wrong attention, and how to ask."""
