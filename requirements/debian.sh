#!/usr/bin/env bash
# Install Debian packages, without starting the services that they bring: requirements/debian.sh PACKAGE...
set -euo pipefail
install=(apt-get install --yes --no-install-recommends "$@")
policy=/usr/sbin/policy-rc.d
quiet=(-qq -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300)

if ! command -v apt-get >/dev/null; then
    echo "Missing here, and no apt-get to install it with; by its Debian name: $*" >&2
    exit 1
fi
if ((EUID == 0)); then
    root=()
elif sudo -n true 2>/dev/null; then
    root=(sudo -n)
else
    echo "Packages are missing and installing them needs root. Run this, and then make again:" >&2
    echo "    sudo ${install[*]}" >&2
    exit 1
fi

echo "==> Debian packages: $*"
if [[ ! -e $policy ]]; then # Debian asks this file whether a service may start; 101 is no
    trap '"${root[@]}" rm -f "$policy"' EXIT
    trap 'exit 1' INT TERM HUP
    printf '#!/bin/sh\nexit 101\n' | "${root[@]}" tee "$policy" >/dev/null
    "${root[@]}" chmod 755 "$policy"
fi
"${root[@]}" apt-get "${quiet[@]}" update
"${root[@]}" env DEBIAN_FRONTEND=noninteractive "${install[@]}" "${quiet[@]}" </dev/null
