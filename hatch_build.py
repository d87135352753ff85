"""Puts prebuilt kernels into a wheel: `make wheel` names their folder in ``ARBORETUM_PACKS``.

Without it, as in ``pip install .``, a wheel is plain Python for every machine and compiles on first use.
With it, it is for one Python and one platform.
"""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PrebuiltKernels(BuildHookInterface):
    """Adds the packs of a folder, and says in the wheel's name what they are for."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add packs to the files of the wheel."""
        folder = os.environ.get("ARBORETUM_PACKS")
        if not folder or self.target_name != "wheel" or version == "editable":
            return
        packs = sorted(Path(folder).glob("*.pack"))
        if not packs:
            raise FileNotFoundError(
                f"no *.pack in {folder}: run python -m arboretum.engine.compiler.make_packs {folder}"
            )
        self._check_versions(packs)
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        for pack in packs:
            build_data["force_include"][str(pack.resolve())] = (
                f"arboretum/engine/compiler/packs/{pack.name}"
            )

    def _check_versions(self, packs: list[Path]) -> None:
        """Raise if a pack was made with other versions than the extra ``kernels`` installs."""
        pins = sorted(self.metadata.core.optional_dependencies["kernels"])
        for pack in packs:
            with open(pack, "rb") as file:
                file.readline()
                head = json.loads(
                    zlib.decompress(file.read(int.from_bytes(file.read(8), "little")))
                )
            made_with = sorted(f"{name}=={version}" for name, version in head["versions"].items())
            if made_with != pins:
                raise ValueError(
                    f"{pack} was made with {', '.join(made_with)}; the extra kernels of pyproject.toml "
                    f"installs {', '.join(pins)}"
                )
