"""LiteRT.js, Google's runtime for `.tflite` files in browsers, as files to put beside a page."""

import shutil
import subprocess
from pathlib import Path

from keras_vit.weights.download import cache_folder

PACKAGE, VERSION = "@litertjs/core", "2.5.3"
# What the page loads -> where npm puts it. The engine's three forms: plain, with threads, and for
# browsers without relaxed SIMD.
SCRIPTS = {
    "core.js": "core/dist/index.js",
    "wasm-utils.js": "wasm-utils/dist/index.js",
}
ENGINES = ("", "_threaded", "_compat")


def copy_litertjs(folder):
    """Copies LiteRT.js into a folder; npm fetches it when it is first needed.

    Args:
        folder: the folder, which is made.

    Raises:
        OSError: if it is not kept here and cannot be fetched; the message names the remedy.
    """
    source, folder = installed(), Path(folder)
    (folder / "wasm").mkdir(parents=True, exist_ok=True)
    for name, place in SCRIPTS.items():
        # Its source maps are not copied, so the line that asks for them goes, too.
        lines = (source / place).read_text("utf-8").splitlines(keepends=True)
        kept = [line for line in lines if not line.startswith("//# sourceMappingURL=")]
        (folder / name).write_text("".join(kept), "utf-8")
    for engine in ENGINES:
        for ending in ("js", "wasm"):
            file = f"litert_wasm{engine}_internal.{ending}"
            shutil.copyfile(source / "core" / "wasm" / file, folder / "wasm" / file)
    (folder / "LICENSE.txt").write_text(
        f"{PACKAGE} {VERSION} and @litertjs/wasm-utils: Apache License 2.0, "
        "https://github.com/google-ai-edge/LiteRT\n"
    )


def installed():
    """Returns the folder that holds npm's `core` and `wasm-utils`; installs them if need be.

    Raises:
        OSError: if that fails.
    """
    home = cache_folder() / f"litertjs-{VERSION}"
    found = home / "node_modules" / "@litertjs"
    if (found / SCRIPTS["core.js"]).is_file():
        return found
    command = ["npm", "install", "--prefix", str(home), f"{PACKAGE}@{VERSION}"]
    try:
        home.mkdir(parents=True, exist_ok=True)
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
    except (OSError, subprocess.SubprocessError) as error:
        last = (getattr(error, "stderr", None) or str(error)).strip().splitlines()[-1:]
        raise OSError(
            f"The page needs LiteRT.js, which npm could not fetch ({' '.join(last)}). With npm and "
            f"a network, also on another machine, run: {' '.join(command)} and bring {home} here."
        ) from error
    return found
