"""Where the manuals come from: Debian's packages, unpacked and not installed."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

INSTALLED = Path("/")
"""Where the files of a package are that is installed."""


@dataclass(frozen=True, slots=True)
class Manual:
    """One package as one web site."""

    host: str
    package: str
    root: str
    """What is served as `/`, inside the package."""
    start: str = "/"

    @property
    def seed(self) -> str:
        return f"http://{self.host}{self.start}"


MANUALS = (
    Manual("python.test", "python3.11-doc", "usr/share/doc/python3.11/html"),
    Manual("postgres.test", "postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html"),
    Manual("java.test", "openjdk-17-doc", "usr/share/doc/openjdk-17-jre-headless"),
    Manual("rust.test", "rust-doc", "usr/share/doc/rust-doc/html"),
    Manual(
        "cpp.test",
        "cppreference-doc-en-html",
        "usr/share/cppreference/doc/html",
        "/en/index.html",
    ),
)
"""`python3-doc` is a link to the first of them."""


def unpacked(manual: Manual, folder: Path) -> Path:
    """The root of a manual, fetched with apt and unpacked below `folder` if it is not there yet."""
    home = folder / manual.package
    if not home.exists():
        fetched = folder / "packages"
        fetched.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            ["apt-get", "download", "-qq", manual.package],
            cwd=fetched,
            check=True,
            stderr=subprocess.DEVNULL,
        )
        package = next(fetched.glob(f"{manual.package}_*.deb"))
        making = folder / f"{manual.package}.new"
        subprocess.run(["dpkg-deb", "-x", package, making], check=True)
        making.rename(home)
    return home / manual.root
