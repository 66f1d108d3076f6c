"""What the pages need to know, and the one that people see first."""

import html
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from string import Template

from exporter.web.scrapes import Render

_ROOT = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>TLS resumption exporter</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 40em; margin: 3em auto; padding: 0 1em; color: #222; }
@media (prefers-color-scheme: dark) { body { background: #181818; color: #ddd; } a { color: #8ab4f8; } }
</style>
</head>
<body>
<h1>TLS resumption exporter</h1>
<p>Version $version, probing $targets.</p>
<ul>
<li><a href="metrics">Metrics</a></li>
<li><a href="-/healthy">Health</a></li>
<li><a href="-/ready">Readiness</a></li>
</ul>
</body>
</html>
""")


@dataclass(frozen=True, slots=True)
class Pages:
    """What the pages are made from.

    Attributes:
        render: makes the exposition; called in a thread, one call at a time.
        why_not_ready: why we are not ready, or None when we are.
        targets: how many are being probed.
        version: ours.
        reload: reads the configuration anew and gives why that came to nothing, or None when it is taken up.
    """

    render: Render
    why_not_ready: Callable[[], str | None]
    targets: Callable[[], int]
    version: str
    reload: Callable[[], Awaitable[str | None]] | None = None


def root_page(pages: Pages) -> str:
    """Return the HTML of the page with links to the others, relative ones, so that a prefix in front does no harm."""
    number = pages.targets()
    return _ROOT.substitute(
        version=html.escape(pages.version), targets="1 target" if number == 1 else f"{number} targets"
    )
