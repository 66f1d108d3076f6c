"""A place where a program is an ordinary user and can write no file at all."""

import shutil
import subprocess

# Bound mounts keep the options that they came with, since a user namespace may not take one away.
_SCRIPT = r"""
while read -r _ _ _ _ point options _; do
    case $point in /proc*|/dev*|/sys*) continue ;; esac
    mount -o "remount,bind,${options/rw/ro}" "$point"
done </proc/self/mountinfo
exec unshare --user --map-user=65534 --map-group=65534 -- "$@"
"""
SEALED = ("unshare", "--user", "--map-root-user", "--mount", "bash", "-c", _SCRIPT, "sealed")


def can_seal() -> bool:
    """Say whether this machine lets programs have namespaces of their own, which some containers forbid."""
    if shutil.which("unshare") is None:
        return False
    return subprocess.run([*SEALED, "true"], capture_output=True, timeout=20, check=False).returncode == 0
