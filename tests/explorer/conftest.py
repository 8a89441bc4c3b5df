from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.explorer import made

CHROMIUM = shutil.which("chromium")
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]

SETTLED = """() => document.getElementById("main").dataset.drawn === (location.hash || "#/")
  && !document.querySelector(".grid:not([data-built]), .steps:not([data-built])")"""


@pytest.fixture(scope="session")
def explorer(tmp_path_factory) -> Path:
    """The folder of an explorer of the small panel."""
    return made.write(tmp_path_factory.mktemp("made"))


# Of one file: as long as Playwright is there, an event loop runs in this thread, and no other test could start its own.
@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("no chromium on the path (Debian: apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield chromium
        chromium.close()


class Reader:
    """Somebody at the page, opened from disk; what goes wrong in the browser is kept."""

    def __init__(self, page, address: str):
        self.page, self.address = page, address
        self.wrong: list[str] = []
        self.asked: list[str] = []
        page.on("console", lambda message: message.type in ("error", "warning") and self.wrong.append(message.text))
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("dialog", lambda dialog: self.wrong.append(dialog.message) or dialog.dismiss())
        page.on("request", lambda request: self.asked.append(request.url))

    def open(self, view: str = ""):
        self.page.goto("about:blank")
        self.page.goto(f"{self.address}#/{view}")
        self.settled()
        return self.page

    def settled(self):
        """Wait until what the address asks for is drawn."""
        for _ in range(300):
            if self.page.evaluate(SETTLED):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"{self.page.url} is not drawn: {self.wrong}")


@pytest.fixture
def reader(browser, explorer):
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    context.set_default_timeout(15_000)
    reader = Reader(context.new_page(), (explorer / "index.html").as_uri())
    yield reader
    context.close()
    assert reader.wrong == []
    outside = [url for url in reader.asked if not url.startswith((explorer.as_uri(), "data:", "blob:", "about:"))]
    assert outside == []
