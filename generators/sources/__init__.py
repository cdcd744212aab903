"""The tables of the section on the sources, and the ledger that they follow from."""
