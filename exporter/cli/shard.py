"""From the words of `--shard` to a shard."""

import re
from collections.abc import Mapping

from exporter.cli.complaint import blame
from exporter.config.problem import ConfigError, RefusedError, show
from exporter.discovery.shard import MAX_SHARDS, Shard

INDEX_VARIABLE = "TLSPROBE_SHARD_INDEX"
_FORMS = "INDEX/COUNT with an index from 0 on, such as 0/4, or auto/COUNT"
_WORD = re.compile(r"(auto|[0-9]{1,6})/([0-9]{1,6})")
_ORDINAL = re.compile(r"(?:.*-)?([0-9]{1,6})")


def find_shard(text: str, environment: Mapping[str, str], host_name: str) -> Shard:
    """Return the shard that a text names.

    Args:
        text: `INDEX/COUNT`, or `auto/COUNT` for the number that a StatefulSet gives its pods.
        environment: may hold the number, or a pod's name with the number at its end.
        host_name: stands in for that.

    Raises:
        ConfigError: it is no shard, or there is no number.
    """
    try:
        return _find(text, environment, host_name)
    except RefusedError as refusal:
        raise ConfigError((blame("--shard", refusal),)) from None


def _find(text: str, environment: Mapping[str, str], host_name: str) -> Shard:
    word = _WORD.fullmatch(text)
    if word is None:
        raise RefusedError(f"{show(text)} is no shard", _FORMS)
    count = int(word[2])
    if not 1 <= count <= MAX_SHARDS:
        raise RefusedError(f"{show(text)} means {count} shards", f"1 to {MAX_SHARDS} of them")
    if word[1] != "auto":
        index, whence = int(word[1]), ""
    else:
        index, whence = _ordinal(environment, host_name)
    if index >= count:
        raise RefusedError(f"{show(text)} has no shard {index}{whence}", f"an index from 0 to {count - 1}")
    return Shard(index, count)


def _ordinal(environment: Mapping[str, str], host_name: str) -> tuple[int, str]:
    """Return the number at the end of the first name that is set, and words for where it is from."""
    given = environment.get(INDEX_VARIABLE)
    name = host_name if given is None else given
    source = "the host's name" if given is None else INDEX_VARIABLE
    found = _ORDINAL.fullmatch(name)
    if found is None or (given is None and "-" not in name):
        raise RefusedError(f"{source} is {show(name)}, with no number at its end", "a name such as tlsprobe-3")
    return int(found[1]), f", the number in {source}, {show(name)}"
