"""A place for servers that will not run as root, or whose sockets need a short path."""

import grp
import os
import pwd
import shutil
import tempfile
import weakref
from pathlib import Path

from exporter.model.target import Address
from tests.servers.process import Server, find_program

_ACCOUNT = "nobody"


class Lodging:
    """A folder of few letters, of the account that the server runs as: nobody if we are root, else ourselves.

    Attributes:
        account: the name of that account.
        group: the name of its first group.
        prefix: words to put before a command, so that it runs as that account.
    """

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="tlsprobe-"))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        user = pwd.getpwnam(_ACCOUNT) if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
        self.account, self.group = user.pw_name, grp.getgrgid(user.pw_gid).gr_name
        self.prefix: tuple[str, ...] = ()
        if os.geteuid() == 0:
            words = ("--reuid", self.account, "--regid", self.group, "--clear-groups")
            self.prefix = (find_program("setpriv"), "--pdeathsig", "TERM", *words, "--")
        shutil.chown(self.folder, self.account)

    def adopt(self, file: Path) -> Path:
        """Return a copy of a file that only the server can read."""
        copy = self.folder / file.name
        shutil.copyfile(file, copy)
        copy.chmod(0o600)
        shutil.chown(copy, self.account)
        return copy

    def make_folder(self, name: str) -> Path:
        """Make a folder in which only the server can write."""
        folder = self.folder / name
        folder.mkdir(mode=0o700)
        shutil.chown(folder, self.account)
        return folder

    def write(self, name: str, text: str) -> Path:
        """Write a file that everybody may read, and the server not change."""
        file = self.folder / name
        file.write_text(text)
        file.chmod(0o644)
        return file


class Lodger(Server):
    """A server in a lodging, which is gone when nobody holds the server any more; its log stays in `folder`."""

    def __init__(self, address: Address, command: tuple[str, ...], folder: Path, lodging: Lodging) -> None:
        self._lodging = lodging
        super().__init__(address, (*lodging.prefix, *command), folder)
