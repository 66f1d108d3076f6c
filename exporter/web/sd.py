"""Our targets in Prometheus's form, so that it can ask for each of them by itself (its "HTTP SD")."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from aiohttp import web

from exporter.model.target import Target
from exporter.web.door import Door


def list_targets(targets: Sequence[Target], address: str, prefix: str) -> list[dict[str, object]]:
    """Return one group for each target, which leads a scrape to its page of probes.

    Args:
        address: ours, as HOST:PORT.
        prefix: in front of our paths.
    """
    return [
        {
            "targets": [address],
            "labels": {
                # The owner's labels first: those that Prometheus goes by are ours to say.
                **dict(target.labels),
                "__metrics_path__": f"{prefix}/probe",
                "__param_target": target.name,
                "instance": target.name,  # or all of them would have the same, and `up` of one hide that of another
            },
        }
        for target in targets
    ]


def answer(request: web.Request, targets: Sequence[Target], door: Door) -> web.Response:
    """Return the list, in which we have the address under which we were asked for it."""
    asked_outside = door.external_url is not None and urlsplit(door.external_url).netloc == request.host
    prefix = door.external_path if asked_outside else door.prefix
    return web.json_response(list_targets(targets, request.host, prefix))
