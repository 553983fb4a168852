#!/usr/bin/env bash
# Make .venv hold exactly what the lock names: scripts/environment.sh run|dev
#
# A stamp named after everything that decides the installation lets a repeat end at once; it is
# written last, so an interrupted installation is taken up again.
set -euo pipefail
cd "$(dirname "$0")/.."

kind="${1:?say run or dev}"
python="${PYTHON:-python3.11}"
torch_index="${TORCH_INDEX:-}"

requirements=(-r requirements.txt)
files=(requirements.txt)
if [ "$kind" = dev ]; then
    requirements+=(-r requirements-dev.txt)
    files+=(requirements-dev.txt)
fi
# The folder is part of the key: the commands in .venv/bin hold absolute paths.
key="$( { cat "${files[@]}"; echo "$torch_index $python $PWD"; } | cksum | tr -c '0-9\n' '-')"
stamp=".venv/.installed-$kind-$key"

if [ -e "$stamp" ] && .venv/bin/python -c '' 2>/dev/null; then
    exit 0
fi

if ! command -v "$python" >/dev/null || ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "Python 3.11 or newer is needed and '$python' is not one: install it, or name one with make PYTHON=/path/to/python." >&2
    exit 1
fi
if [ -x .venv/bin/python ] && [ "$(cat .venv/.place 2>/dev/null)" != "$python $PWD" ]; then
    rm -rf .venv
fi
if ! .venv/bin/python -c '' 2>/dev/null; then
    rm -rf .venv
    if ! "$python" -m venv .venv; then
        rm -rf .venv
        echo "'$python' cannot make environments: on Debian and Ubuntu, apt-get install python3-venv, then try again." >&2
        exit 1
    fi
    echo "$python $PWD" >.venv/.place
fi

pip=(.venv/bin/python -m pip install --quiet --disable-pip-version-check)
echo "Installing the locked requirements into .venv (once; a few minutes) ..." >&2
if [ -n "$torch_index" ]; then
    # Only torch is taken from there; the lock below accepts any build of that version.
    "${pip[@]}" --index-url "$torch_index" "$(grep '^torch==' requirements.txt)"
fi
"${pip[@]}" "${requirements[@]}"

# `import sandbox` then works from any folder, not only from this one.
pwd >"$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/attention_conditioning_sandbox.pth"

rm -f .venv/.installed-"$kind"-*
touch "$stamp"
if [ "$kind" = dev ]; then
    # The development installation holds the other one whole.
    bash "$0" run
fi
