"""Compiles the parts that are in C, where there is a compiler; without one they are done without.

`pip install mannerly` calls this, and so does an editable install, whose result stays beside the
sources.
"""

import os
import shlex
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCES = [
    Path("src/mannerly/_quick.c"),
    Path("src/mannerly/parse/_bare.c"),
    Path("src/mannerly/parse/_blocks.c"),
    Path("src/mannerly/parse/_simhash.c"),
    Path("src/mannerly/parse/_treeless.c"),
    Path("src/mannerly/url/_links.c"),
    Path("src/mannerly/url/_patterns.c"),
]
FLAGS = ["-O3", "-fPIC", "-shared"]


class CompiledParts(BuildHookInterface):
    """One extension module for each of `SOURCES`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        del version
        if self.target_name != "wheel":
            return
        for source in SOURCES:
            target = source.with_suffix(sysconfig.get_config_var("EXT_SUFFIX"))
            if not self._compiled(source, target):
                continue
            inside = Path(*target.parts[1:])
            build_data["force_include"][str(Path(self.root, target))] = str(inside)
            build_data["pure_python"] = False
            build_data["infer_tag"] = True

    def _compiled(self, source: Path, target: Path) -> bool:
        compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
        include = sysconfig.get_paths()["include"]
        command = [*compiler, *FLAGS, f"-I{include}", str(source), "-o", str(target)]
        try:
            subprocess.run(  # noqa: S603  (the compiler Python was built with)
                command, cwd=self.root, check=True, capture_output=True, text=True
            )
        except (OSError, subprocess.CalledProcessError) as error:
            told = getattr(error, "stderr", None) or str(error)
            self.app.display_warning(f"{source.name} is not compiled, pages cost more: {told}")
            Path(self.root, target).unlink(missing_ok=True)
            return False
        return True
