"""Mistakes that `check` cannot see yet, and the property that shows each.

They are exhibits of the museum, by their anchors, in the rooms on positions, caches and
groups: `check` has no positions to ask about and no cache to hand over.
"""

NOT_SEEN_BY_CHECK = {
    "bf16-positions": "only the distance counts",
    "counted-from-zero": "positions are those given",
    "kept-for-one-offset": "position zero turns nothing",
    "two-layouts": "lengths are kept",
    "lost-minus": "lengths are kept",
    "a-speed-for-each-channel": "a step is a rotation",
    "inverted-ramp": "the fastest pair keeps its speed",
    "all-divided": "the fastest pair keeps its speed",
    "base-times-factor": "the slowest pair is divided",
    "far-counts-more": "what is near counts more",
    "slopes-of-twelve": "the slopes are those of models",
    "bias-in-bf16": "only the distance biases",
    "bias-by-length": "the newest stands last",
    "aligned-to-the-first": "cached equals uncached",
    "mask-of-the-queries": "cached equals uncached",
    "cache-by-heads": "cached equals uncached",
    "offset-after-append": "cached equals uncached",
    "a-cache-for-everybody": "texts stay apart",
    "one-key-too-many": "itself and the past, no more",
    "longer-than-the-ring": "itself and the past, no more",
    "the-rest-of-the-page": "freed pages are not read",
    "hidden-but-read": "freed pages are not read",
    "pages-in-a-row": "where pages lie is no matter",
    "tiled-heads": "neighbours share",
    "repeated-tokens": "neighbours share",
    "groups-inside-out": "neighbours share",
    "scale-of-the-latent": "both forms are equal",
    "swapped-widths": "both forms are equal",
    "another-pairing": "both forms are equal",
    "values-by-keys": "both forms are equal",
}
