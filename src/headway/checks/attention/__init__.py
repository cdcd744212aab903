"""Checks for attention: a module or a function, compared with the equation.

What a reader hands over goes one way: it becomes a `subject`, which is called to gather
`evidence`; of this each of the `properties` is asked. The `oracle` is the equation that
the evidence is compared with; `run` asks them all.
"""
