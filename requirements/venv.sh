#!/usr/bin/env bash
# Make a virtual environment, unless there is one of the same Python version: requirements/venv.sh PYTHON FOLDER
set -euo pipefail
here=$(dirname "$0")
python=$1
folder=$2

version_of() {
    "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null
}

if [[ $python == "$folder"/* ]] && ! "$python" -m pip --version >/dev/null 2>&1; then
    python=python3 # what is there was left half made, or its Python has gone
fi
if ! version=$(version_of "$python"); then
    echo "$python is not there or does not run. Python 3.11 or newer is needed: make PYTHON=/path/to/python3.12 ..." >&2
    exit 1
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "$python is Python $version, but 3.11 or newer is needed: make PYTHON=/path/to/python3.12 ..." >&2
    exit 1
fi
if "$folder/bin/python" -m pip --version >/dev/null 2>&1 && [[ $(version_of "$folder/bin/python") == "$version" ]]; then
    exit 0
fi
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    "$here/debian.sh" "python$version-venv"
fi
echo "==> virtual environment in $folder, Python $version"
"$python" -m venv --clear "$folder"
