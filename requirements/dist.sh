#!/usr/bin/env bash
# Make all files of a release out of the last commit, the same ones each time: requirements/dist.sh PYTHON TOOLS FOLDER
# PYTHON has the exporter's own packages, TOOLS is the bin folder with those of release.txt.
set -euo pipefail
umask 022 # modes are kept in what is packed
here=$(cd "$(dirname "$0")" && pwd)
python=$(realpath -s "$1")
tools=$(realpath -s "$2")
folder=$(realpath -m "$3")

cd "$here/.."
if ! SOURCE_DATE_EPOCH=$(git log -1 --format=%ct); then
    echo "A release is made from a commit, and this is no git repository (or belongs to another user)." >&2
    exit 1
fi
export SOURCE_DATE_EPOCH
[[ -z $(git status --porcelain) ]] || echo "==> left out: what is not committed (git status)"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/source" "$work/dist"
git archive HEAD | tar -x -C "$work/source"
cd "$work/source"

echo "==> manual"
mkdir -p docs/man
"$python" -P -c 'import sys; sys.path.insert(0, "."); from exporter.cli import main; sys.exit(main(["manual"]))' >docs/man/tlsprobe.1

echo "==> source and wheel"
"$tools/python" -m build --no-isolation --outdir "$work/dist" . >"$work/build.log" 2>&1 || { cat "$work/build.log" >&2; exit 1; }
cd "$work/dist"
sources=(*.tar.gz)
name=${sources[0]%.tar.gz}
# setuptools packs times, owners and an order that differ each time.
mkdir "$work/sdist"
tar -xzf "$name.tar.gz" -C "$work/sdist"
tar -c --sort=name --format=ustar --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
    --mode='u+rwX,go=rX' -C "$work/sdist" "$name" | gzip -9n >"$name.tar.gz"

echo "==> bill of materials"
"$tools/python" -m venv --without-pip "$work/run"
"$tools/python" -m pip --disable-pip-version-check --no-input --quiet --python "$work/run/bin/python" install \
    --no-deps --requirement "$here/run.txt"
# The version stands elsewhere, where the program does not look for it.
sed "s/^dynamic = .*/version = \"${name##*-}\"/" "$work/source/pyproject.toml" >"$work/project.toml"
"$tools/cyclonedx-py" environment --pyproject "$work/project.toml" --mc-type application --output-reproducible \
    --spec-version 1.6 --output-format JSON --output-file "$name.cdx.json" "$work/run/bin/python"
cp "$here/run.txt" "$name.pins.txt"

sha256sum -- "$name"* >SHA256SUMS
mkdir -p "$folder"
rm -rf "${folder:?}"/*
cp ./* "$folder/"
echo "==> $folder"
cat SHA256SUMS
