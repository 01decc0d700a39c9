"""Debian's Chromium, driven by its own protocol: no driver and no further package."""

import asyncio
import base64
import contextlib
import json
import subprocess
import time

import aiohttp

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-sync "
    "--disable-component-update --no-first-run --remote-debugging-port=0"
)
SECONDS = 60


class Page:
    """One page of the browser.

    Args:
        socket: the connection to it.
    """

    def __init__(self, socket):
        self._socket, self._number = socket, 0
        self.events = []

    async def call(self, method, **parameters):
        """Calls a method of the DevTools protocol; returns its result."""
        self._number += 1
        await self._socket.send_json({"id": self._number, "method": method, "params": parameters})
        async with asyncio.timeout(SECONDS):
            while True:
                message = await self._socket.receive_json()
                if message.get("id") == self._number:
                    assert "error" not in message, message
                    return message["result"]
                self.events.append(message)

    async def value(self, expression):
        """The value of a JavaScript expression, awaited."""
        found = await self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    async def until(self, expression):
        """Waits until a JavaScript expression is true; returns its value."""
        async with asyncio.timeout(SECONDS):
            while not (found := await self.value(expression)):
                await asyncio.sleep(0.05)
        return found

    async def choose(self, selector, path):
        """Chooses a file."""
        root = (await self.call("DOM.getDocument"))["root"]["nodeId"]
        node = (await self.call("DOM.querySelector", nodeId=root, selector=selector))["nodeId"]
        await self.call("DOM.setFileInputFiles", files=[str(path)], nodeId=node)

    async def press(self, key, code):
        """Presses a key."""
        for kind in ("keyDown", "keyUp"):
            await self.call(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code
            )

    async def picture(self):
        """The page as it looks, a PNG."""
        return base64.b64decode((await self.call("Page.captureScreenshot"))["data"])


@contextlib.asynccontextmanager
async def opened(url, folder, width=1000, height=800, dark=False):
    """Opens a page in a browser of its own.

    Args:
        url: its address.
        folder: an empty folder for the browser.
        width: of the window.
        height: of the window.
        dark: whether the person prefers dark pages.
    """
    command = ["chromium", *FLAGS.split(), f"--user-data-dir={folder}", "about:blank"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            port = await _port(folder)
            async with aiohttp.ClientSession() as session:
                async with session.get(f"http://127.0.0.1:{port}/json/list") as answer:
                    pages = [one for one in await answer.json() if one["type"] == "page"]
                address = pages[0]["webSocketDebuggerUrl"]
                async with session.ws_connect(address, max_msg_size=0) as socket:
                    page = Page(socket)
                    for domain in ("Page", "Runtime", "Network", "Log"):
                        await page.call(f"{domain}.enable")
                    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
                    await page.call("Emulation.setEmulatedMedia", features=[scheme])
                    await page.call(
                        "Emulation.setDeviceMetricsOverride",
                        width=width,
                        height=height,
                        deviceScaleFactor=1,
                        mobile=width < 600,
                    )
                    await page.call("Page.navigate", url=url)
                    yield page
        finally:
            process.terminate()
            process.wait(SECONDS)


async def _port(folder):
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        with contextlib.suppress(FileNotFoundError, ValueError):
            return int((folder / "DevToolsActivePort").read_text().splitlines()[0])
        await asyncio.sleep(0.05)
    raise TimeoutError("Chromium did not start.")


def requested(page):
    """The addresses that a page asked for."""
    return [
        event["params"]["request"]["url"]
        for event in page.events
        if event.get("method") == "Network.requestWillBeSent"
    ]


def complaints(page):
    """What the browser's console says is wrong."""
    kinds = ("Runtime.exceptionThrown", "Log.entryAdded")
    return [json.dumps(event) for event in page.events if event.get("method") in kinds]
