#!/usr/bin/env bash
# See that the browser tests have a Chromium or Chrome; install Debian's where that is possible.
set -euo pipefail

if [ -n "${CHROMIUM:-}" ]; then
    [ -x "$CHROMIUM" ] && exit 0
    echo "CHROMIUM names '$CHROMIUM', which cannot be run: point it at a Chromium or Chrome, or unset it." >&2
    exit 1
fi
for name in chromium chromium-browser google-chrome google-chrome-stable; do
    if command -v "$name" >/dev/null; then
        exit 0
    fi
done

as_root=()
if [ "$(id -u)" != 0 ]; then
    as_root=(sudo -n)
fi
if command -v apt-get >/dev/null && "${as_root[@]}" true 2>/dev/null; then
    echo "Installing Chromium for the browser tests (once) ..." >&2
    "${as_root[@]}" apt-get update -qq >&2
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >&2
    exit 0
fi
cat >&2 <<'TEXT'
The browser tests need Chromium or Chrome, and it cannot be installed from here (no apt, or no root).
Install it (Debian, Ubuntu: sudo apt-get install chromium; Fedora: sudo dnf install chromium;
macOS: brew install --cask google-chrome), or set CHROMIUM=/path/to/the/browser.
`make test-fast` runs every test that needs no browser.
TEXT
exit 1
