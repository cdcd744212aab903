"""Make math.woff2: of the font TeX Gyre Pagella Math, what characters.txt lists.

Other fonts look as good, but their roots, when Chromium sets them in a line of text,
have a gap behind them. The font is in the Debian package `fonts-texgyre-math`, as
`texgyrepagella-math.otf`, version 1.632. Its licence, which stands beside, asks that a
changed font has a name of its own. Besides fonttools, which matplotlib brings along,
this needs the package `brotli`:

    python docs/assets/math/make_math_font.py texgyrepagella-math.otf
"""

import sys
from pathlib import Path

from fontTools import subset

HERE = Path(__file__).parent
COPYRIGHT, LICENSE = 0, 13
NAMES = {1: "Headway Math", 2: "Regular", 4: "Headway Math", 6: "HeadwayMath"}

if __name__ == "__main__":
    options = subset.Options(
        flavor="woff2",
        hinting=False,
        layout_features=[],
        name_IDs=[COPYRIGHT, *NAMES, LICENSE],
        drop_tables=["FFTM"],
    )
    font = subset.load_font(sys.argv[1], options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(text=(HERE / "characters.txt").read_text() + " ")
    subsetter.subset(font)
    for record in font["name"].names:
        if record.nameID in NAMES:
            record.string = NAMES[record.nameID]
    font["CFF "].cff.fontNames = [NAMES[6]]
    subset.save_font(font, HERE / "math.woff2", options)
