"""What the labs share: it reports, draws and measures, and knows nothing of attention.

A program of a lab imports it from the folder that both are in.
"""
