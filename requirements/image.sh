#!/usr/bin/env bash
# Write image.txt and image-build.txt anew from run.txt and build.txt, with a hash of each wheel that the image may
# take: requirements/image.sh PYTHON
set -euo pipefail
here=$(dirname "$0")
python=$1
version=3.13 # the image's
wheels=$(mktemp -d)
trap 'rm -rf "$wheels"' EXIT

download() { # PINS FOLDER
    for machine in x86_64 aarch64; do
        "$python" -m pip --disable-pip-version-check --no-input --quiet download --no-deps --only-binary :all: \
            --python-version "$version" --implementation cp --platform "manylinux_2_34_$machine" \
            --platform "manylinux_2_28_$machine" --platform "manylinux_2_17_$machine" --platform "manylinux2014_$machine" \
            --requirement "$1" --dest "$2/$machine"
    done
}

lock() { # PINS
    local folder=$wheels/$(basename "$1" .txt)
    download "$1" "$folder"
    echo "# $(basename "$1") for CPython $version on Linux, amd64 and arm64. Made by requirements/image.sh, not by hand."
    grep -v '^#' "$1" | while IFS= read -r pin; do
        name=$(tr 'A-Z.-' 'a-z__' <<<"${pin%%==*}")
        printf '%s' "$pin"
        find "$folder" -iname "$name-${pin##*==}-*.whl" -exec sha256sum {} + | cut -d' ' -f1 | sort -u |
            while IFS= read -r hash; do printf ' \\\n    --hash=sha256:%s' "$hash"; done
        echo
    done
}

lock "$here/run.txt" >"$wheels/run.lock"
lock "$here/build.txt" >"$wheels/build.lock"
cp "$wheels/run.lock" "$here/image.txt"
cp "$wheels/build.lock" "$here/image-build.txt"
