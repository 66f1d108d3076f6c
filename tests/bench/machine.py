"""What the figures were taken on."""

import os
import platform
import ssl
import subprocess
from datetime import UTC, datetime
from pathlib import Path

from tests.servers.process import find_program


def describe() -> str:
    """Give the machine and the programs as a Markdown section."""
    facts = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}, load average before it {os.getloadavg()[0]:.1f}",
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "kernel": f"{platform.system()} {platform.release()}",
        "Python": f"{platform.python_version()}, {ssl.OPENSSL_VERSION}",
        "nginx": _say("nginx", "-v").rpartition("/")[2],
        "blackbox_exporter": _say("prometheus-blackbox-exporter", "--version").partition("version ")[2].split(" ")[0],
    }
    return "## Machine\n\n" + "".join(f"- {name}: {fact}\n" for name, fact in facts.items())


def _processor() -> str:
    models = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return models[0].partition(": ")[2] if models else platform.machine()


def _say(program: str, option: str) -> str:
    """Return the first line that a program says of itself, on whichever stream."""
    done = subprocess.run(
        [find_program(program), option], check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return done.stdout.splitlines()[0]
