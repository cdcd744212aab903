"""Make math.woff2: of the font STIX Two Math, the characters in characters.txt.

The font is the npm package `@fontsource/stix-two-math`, version 5.3.0, file
`files/stix-two-math-latin-400-normal.woff2`. Besides fonttools, which matplotlib brings
along, this needs the package `brotli`:

    python docs/assets/math/make.py stix-two-math-latin-400-normal.woff2
"""

import sys
from pathlib import Path

from fontTools import subset

HERE = Path(__file__).parent

if __name__ == "__main__":
    subset.main(
        [
            sys.argv[1],
            f"--text-file={HERE / 'characters.txt'}",
            "--unicodes=20",
            f"--output-file={HERE / 'math.woff2'}",
            "--flavor=woff2",
            "--no-hinting",
            "--layout-features=ssty",
        ]
    )
