"""Whether we are ready: pure."""

_LONGEST_WAIT = 10.0  # seconds; a sidecar that is not ready keeps its whole pod out of service


def why_not_ready(*, loaded: bool, targets: int, begun: int, waited: float) -> str | None:
    """Return why we are not ready, or None when we are.

    Args:
        loaded: whether a configuration has been read.
        targets: how many there are.
        begun: how many of them have had their first round begin.
        waited: seconds since the start; a slow target holds readiness for no longer than ten of them.
    """
    if not loaded:
        return "no configuration loaded yet"
    if begun < targets and waited < _LONGEST_WAIT:
        return f"first round begun for {begun} of {targets} targets; ready after {_LONGEST_WAIT:g} s at the latest"
    return None
