#!/bin/sh
# Writes web/src/ui/fonts: the fonts with only the characters, weights and features that the pages
# use, which take a quarter of the space. Other characters come from the complete fonts of the
# packages, or from the system. Requires web/node_modules and Python with fonttools and brotli:
#
#     python3 -m venv /tmp/fonttools && /tmp/fonttools/bin/pip install fonttools==4.68.0 brotli==1.2.1
#     PATH=/tmp/fonttools/bin:$PATH tools/subset-fonts.sh
set -eu
cd "$(dirname "$0")/../web"

# The same characters as in unicode-range of web/src/ui/base.css.
characters='U+0020-007E,U+00A0,U+00B1,U+00B5,U+00B7,U+00D7,U+2013,U+2014,U+2018,U+2019,U+201C,U+201D,U+2026,U+2191,U+2193,U+2212'
instance=$(mktemp --suffix=.ttf)
trap 'rm -f "$instance"' EXIT

# Tabular digits only: Inter's feature also makes hyphens as wide as digits, as in "10 - second".
narrow_punctuation() {
    python3 - "$1" <<'END'
import sys
from fontTools.ttLib import TTFont

DIGITS = {"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}
KEPT = DIGITS | {"comma", "period", "colon", "plus", "minus", "plusminus", "multiply"}
font = TTFont(sys.argv[1])
if "GSUB" in font:
    substitutions = font["GSUB"].table
    for record in substitutions.FeatureList.FeatureRecord:
        if record.FeatureTag != "tnum":
            continue
        for index in record.Feature.LookupListIndex:
            for table in substitutions.LookupList.Lookup[index].SubTable:
                table = getattr(table, "ExtSubTable", table)
                table.mapping = {old: new for old, new in table.mapping.items() if old in KEPT}
    font.save(sys.argv[1])
END
}

# subset PACKAGE WEIGHTS FEATURES
subset() {
    fonttools varLib.instancer -q "node_modules/@fontsource-variable/$1/files/$1-latin-wght-normal.woff2" "wght=$2" -o "$instance"
    case $3 in *tnum*) narrow_punctuation "$instance" ;; esac
    pyftsubset "$instance" --unicodes="$characters" --layout-features="$3" --no-hinting --flavor=woff2 \
        --output-file="src/ui/fonts/$1.woff2"
}
subset inter 400:700 kern,tnum
subset jetbrains-mono 400 kern
