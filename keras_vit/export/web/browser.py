"""A page in a headless Chromium, driven as a person would."""

import contextlib
import functools
import http.server
import shutil
import tempfile
import threading
from pathlib import Path

from keras_vit.layers.extras import require

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
)
SECONDS = 120  # to load LiteRT.js and a model


@contextlib.contextmanager
def chromium(width=1280, height=900):
    """Gives a selenium driver.

    Raises:
        FileNotFoundError: if Chromium or its driver is not installed.
        ImportError: if `selenium` is not installed.
    """
    webdriver = require("selenium.webdriver", extra="page")
    options = webdriver.ChromeOptions()
    options.binary_location = _command("chromium")
    for flag in (*FLAGS, f"--window-size={width},{height}"):
        options.add_argument(flag)
    service = webdriver.ChromeService(_command("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    driver.set_script_timeout(SECONDS)
    try:
        yield driver
    finally:
        driver.quit()


@contextlib.contextmanager
def served(folder):
    """Gives the address of a folder on a plain static server of this machine."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


@contextlib.contextmanager
def page_in_chromium(folder, name):
    """Gives a function from a picture file's bytes to what the page found.

    Args:
        folder: an earlier `write_page`.
        name: of one of its files, such as `"dynamic"`.
    """
    with served(folder) as address, chromium() as driver, tempfile.TemporaryDirectory() as room:
        driver.get(address)
        picture = Path(room) / "picture"

        def look(encoded):
            picture.write_bytes(encoded)
            return ask(driver, picture, name)

        yield look


def ask(driver, picture, name):
    """Chooses a file and a picture; returns the page's `lastAnswer`.

    Args:
        driver: selenium's, with a page of `write_page` open.
        picture: path of a picture file.
        name: of a file of the page.
    """
    wait = require("selenium.webdriver.support.ui", extra="page").WebDriverWait(driver, SECONDS)
    choice = f"#files input[value={name}]"
    wait.until(lambda d: d.find_elements("css selector", choice))
    driver.find_element("css selector", choice).click()
    wait.until(lambda d: not status(d).startswith("Loading"))
    driver.execute_script("self.lastAnswer = null")
    driver.find_element("id", "file").send_keys(str(picture))
    return wait.until(lambda d: d.execute_script("return self.lastAnswer"))


def status(driver):
    """Returns what the page says."""
    return driver.execute_script("return document.getElementById('status').textContent")


def _command(name):
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError(
            f"`{name}` is not installed. On Debian: apt install chromium chromium-driver"
        )
    return found


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Says nothing."""
