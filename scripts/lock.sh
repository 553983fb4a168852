#!/usr/bin/env bash
# Compile pyproject.toml into requirements.txt and requirements-dev.txt (make lock).
#
# pyproject.toml states torch's needs without CUDA ([[tool.uv.dependency-metadata]]), so the lock
# names neither CUDA wheels nor one build of torch, and no torch wheel is looked at while locking.
set -euo pipefail
cd "$(dirname "$0")/.."
export UV_CUSTOM_COMPILE_COMMAND="make lock"
uv=.venv/bin/uv
[ -x "$uv" ] || uv=uv

"$uv" pip compile --quiet --python-version 3.11 "$@" \
    pyproject.toml --output-file requirements.txt
"$uv" pip compile --quiet --python-version 3.11 "$@" \
    --group dev --constraint requirements.txt --output-file requirements-dev.txt

if grep -nE '^(nvidia|cuda|triton)|\+cpu|\+cu[0-9]' requirements.txt requirements-dev.txt; then
    echo "The lock names one build of torch or its CUDA wheels (lines above); both must stay out." >&2
    exit 1
fi
