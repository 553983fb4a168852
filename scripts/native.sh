#!/usr/bin/env bash
# Build the native engine's kernels: scripts/native.sh [required]
#
# Without a C++ compiler nothing is built and the torch engine does all the work; only `required` then
# fails. A key of all sources, and size and hash of each library beside it, let a repeat end at once.
set -euo pipefail
cd "$(dirname "$0")/.."

required="${1:-}"
out="native/build"
python="${PYTHON:-python3}"

give_up() {
    echo "$1" >&2
    [ -z "$required" ] || exit 1
    exit 0
}

key="$("$python" - <<'END'
from hashlib import blake2b
from pathlib import Path
files = sorted([*Path("native").glob("*.cpp"), *Path("native").glob("*.h")])
text = b"".join(path.name.encode() + b"\n" + path.read_bytes() for path in files)
print(blake2b(text, digest_size=8).hexdigest())
END
)"
# What is written beside the libraries and compared before one is loaded (sandbox/foundations/kernels.py).
record() {
    echo "$key"
    "$python" - "$out"/kernels-*.so <<'END'
import sys
from hashlib import blake2b
from pathlib import Path
for path in map(Path, sys.argv[1:]):
    library = path.read_bytes() if path.is_file() else b""
    print(path.name, len(library), blake2b(library, digest_size=16).hexdigest())
END
}
if [ -f "$out/sources" ] && record | cmp -s - "$out/sources"; then
    exit 0
fi

compiler="$(command -v "${CXX:-g++}" || command -v clang++ || command -v c++ || true)"
[ -n "$compiler" ] || give_up "No C++ compiler: the native engine is not built, the torch engine trains everything (docs/engine.md)."

case "$(uname -m)" in
    x86_64 | amd64) builds=(x86-64-v3 x86-64-v4) ;;
    aarch64 | arm64) builds=("$(uname -m)") ;;
    *) give_up "The native engine knows x86-64 and 64-bit ARM, not $(uname -m); the torch engine trains everything." ;;
esac

# No -ffast-math, no fusing of its own: sums keep their order, a NaN stays one, and builds agree to the bit. Wide vectors are passed inside inlined code only.
flags=(-std=c++17 -O3 -fPIC -shared -ffp-contract=off -fno-math-errno -fno-exceptions -fno-rtti -Wall -Wextra -Wno-psabi)
[ "$(uname -s)" != Linux ] || flags+=(-Wl,--as-needed)

echo "Building the native engine (once; half a minute) ..." >&2
mkdir -p "$out"
work="$(mktemp -d "$out/.building-XXXXXX")"
trap 'rm -rf "$work"' EXIT
pids=()
for build in "${builds[@]}"; do
    case "$build" in
        x86-64-v4) target=(-march=x86-64-v4 -mprefer-vector-width=512) ;;
        x86-64-v3) target=(-march=x86-64-v3) ;;
        *) target=() ;;
    esac
    "$compiler" "${flags[@]}" "${target[@]}" native/*.cpp -o "$work/$build" 2>"$work/$build.log" &
    pids+=($!)
done
failed=""
for pid in "${pids[@]}"; do
    wait "$pid" || failed=yes
done
if [ -n "$failed" ]; then
    tail -n 20 "$work"/*.log >&2
    give_up "The native engine could not be built with $compiler; the torch engine trains everything."
fi
for build in "${builds[@]}"; do
    mv "$work/$build" "$out/kernels-$build.so"
done
record >"$work/sources"
mv "$work/sources" "$out/sources"
