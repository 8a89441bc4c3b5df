"""The explorer in a real browser, from disk; no test may leave an error in its console, or ask a network."""

from __future__ import annotations

import functools
import json
import re
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.explorer.made import FUNC, LONG, MODELS
from toolcal.corrections import lines

pytestmark = [pytest.mark.slow, pytest.mark.browser]
CASE = f"case?model=alpha&scenario={FUNC}&perturbation=baseline&case="


def column(page, field):
    return page.locator(f'.tabulator-row [tabulator-field="{field}"]').all_inner_texts()


def serious(page):
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, options={"preload": False}).response["violations"]
    return [
        (one["id"], node["html"]) for one in found if one["impact"] in ("serious", "critical") for node in one["nodes"]
    ]


def test_the_overview_says_what_ran_and_what_is_missing(reader):
    page = reader.open()
    text = page.inner_text("main")
    assert "2 models in 2 scenarios, 5 cells" in text
    assert "45 conversations with a verdict" in text
    assert "1 conversation without a verdict (not run, or no answer of the endpoint)" in text
    assert serious(page) == []


def test_tables_sort_filter_and_keep_both_in_their_address(reader):
    page = reader.open("table?name=cells")
    page.get_by_label("scenario").select_option(FUNC)
    reader.settled()
    assert set(column(page, "scenario")) == {FUNC}
    page.locator('[role="columnheader"][tabulator-field="acc"]').press("Enter")
    values = [float(text.split()[0]) for text in column(page, "acc")]
    assert values == sorted(values)
    assert re.search(r"\[\d+\.\d, \d+\.\d\]", column(page, "acc")[0])
    address = page.url
    reader.page.goto("about:blank")
    page.goto(address)
    reader.settled()
    assert [float(text.split()[0]) for text in column(page, "acc")] == values
    assert page.get_by_label("scenario").input_value() == FUNC


@pytest.mark.parametrize(
    ("chart", "words"),
    [
        ("gar_acc", "Acc exceeds GAR for"),
        ("shares", "masked: "),
        ("confusion", "the turn called for"),
        ("effects", "sri-full"),
        ("family_effects", "change, points"),
        ("confidence", "stated confidence"),
    ],
)
def test_charts_are_drawn_and_told(reader, chart, words):
    page = reader.open(f"charts?chart={chart}" + ("&perturbation=sri-full" if "effects" in chart else ""))
    figures = page.locator("main figure")
    assert figures.count() > 0
    told = [node.get_attribute("aria-label") or "" for node in page.locator("figure svg[role=img]").all()]
    assert words in page.inner_text("main") + " ".join(told) + page.locator("main").text_content()


def test_a_mark_in_the_chart_leads_to_the_conversations_behind_it(reader):
    page = reader.open("charts?chart=shares")
    page.locator('figure:has-text("miss_func") .parts rect').first.click()
    reader.settled()
    shown = {*column(page, "refined.case_any")}
    assert len(shown) == 1
    assert f"outcome={shown.pop()}" in page.url


def test_the_list_is_chosen_by_all_that_a_reader_may_ask_for(reader):
    page = reader.open(f"cases?scenario={FUNC}&model=alpha")
    of = len(column(page, "case_id"))
    for label, value in {
        "outcome": "masked",
        "class in the decisive turn": "TOOL_CALL",
        "a probe acted": "yes",
        "confidence at the end": "high",
    }.items():
        page.get_by_label(label, exact=True).select_option(value)
        reader.settled()
        left = len(column(page, "case_id"))
        assert 0 < left <= of
        of = left
    assert set(column(page, "perturbation")) == {"sri-full"}
    assert set(column(page, "refined.case_any")) == {"masked"}
    page.get_by_label("labellers differ").select_option("yes")
    reader.settled()
    assert column(page, "case_id") in ([], ["case_1"])


def test_a_conversation_opens_by_its_address_and_leads_on_by_keys(reader):
    page = reader.open(f"{CASE}case_2")
    text = page.inner_text("main")
    assert "Decisive turn. Gold here: REFUSE." in text
    assert "REFUSE = gold" in text
    assert "Taken back by a probe" in text
    assert "Asked how sure it is" in text
    assert "2 of 10" in text
    page.keyboard.press("ArrowRight")
    reader.settled()
    assert page.inner_text("h1").startswith("case_3")
    page.keyboard.press("ArrowLeft")
    reader.settled()
    page.keyboard.press("ArrowLeft")
    reader.settled()
    text = page.inner_text("main")
    assert "the state at the end of a turn is not the one that the reference calls leave" in text
    assert "ticket.7" in text
    assert page.locator(".call details, details.call[open]").count() == 0
    page.locator("details.call summary").first.click()
    assert '"files": [' in page.inner_text("details.call[open]")
    assert serious(page) == []


def test_baseline_and_perturbed_stand_side_by_side_by_turn(reader):
    page = reader.open(f"{CASE}case_2")
    page.get_by_label("beside it").select_option(label="sri-full")
    reader.settled()
    assert "beside=" in page.url
    for turn in page.locator('section[aria-label^="Turn"]').all():
        left, right = turn.locator(".side").all()
        assert left.bounding_box()["y"] == right.bounding_box()["y"]
        assert "baseline" in left.inner_text()
        assert "sri-full" in right.inner_text()
    assert "Probe sri acted here" in page.inner_text("main")


def test_a_user_who_speaks_freely_stands_where_it_spoke(reader):
    page = reader.open("case?model=alpha&scenario=tau2-airline&perturbation=baseline&case=0")
    said = [text.split("\n")[0] for text in page.locator("article h3").all_inner_texts()]
    assert [words.split()[0] for words in said] == ["User", "Model", "User", "Model", "Model"]
    assert "confirmed by the user" in page.inner_text("main")


def test_a_correction_is_kept_saved_as_json_lines_and_read_back(reader, tmp_path):
    page = reader.open(f"{CASE}case_2")
    marks = page.locator("button", has_text="Mark the label")
    assert marks.count() < page.locator(".labels").count()  # native calls have none
    marks.nth(1).click()
    page.get_by_label("right class").select_option("ASK")
    page.get_by_label("a word on it").fill("it asks </script>")
    page.get_by_label("your name").fill("R")
    page.get_by_role("button", name="Mark", exact=True).click()
    reader.open("corrections")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as a file").click()
    file = tmp_path / "c.jsonl"
    download.value.save_as(file)
    (said,) = lines.read(file)  # as the stage that applies them does
    assert (said.labeller, said.was, said.action) == ("refined", "REFUSE", "ASK")
    (line,) = map(json.loads, file.read_text().splitlines())
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", line.pop("time"))
    assert line.pop("labeller_version")
    assert list(line.values()) == [
        "alpha",
        FUNC,
        "baseline",
        "case_2",
        0,
        1,
        0,
        0,
        "refined",
        "REFUSE",
        "ASK",
        "it asks </script>",
        "R",
    ]
    assert list(line)[-4:] == ["was", "action", "note", "by"]
    reader.wrong.clear()  # the question whether to remove them
    page.once("dialog", lambda dialog: dialog.accept())
    kept = file.read_text()
    for at, (bad, words) in enumerate(
        [
            ("no json", "Line 2 is no JSON"),
            (json.dumps(json.loads(kept) | {"action": "PRAY"}), "Line 2: action is not"),
            (json.dumps(json.loads(kept) | {"turn": "1", "case_id": "x"}), "Line 2: turn is not"),
        ]
    ):
        file.with_name(f"{at}.jsonl").write_text(f"{kept}{bad}\n")
        page.get_by_label("take up a file").set_input_files(file.with_name(f"{at}.jsonl"))
        page.get_by_text(words).wait_for()
        assert column(page, "case_id") == ["case_2"]


def test_a_label_can_be_said_to_be_right_and_marks_that_cannot_be_kept_are_told(reader):
    page = reader.open(f"{CASE}case_2")
    page.evaluate("() => { Storage.prototype.setItem = () => { throw new Error('full'); }; }")
    page.locator("button", has_text="Mark the label").nth(1).click()
    page.get_by_label("right class").select_option("REFUSE")
    page.get_by_label("your name").fill("R")
    page.get_by_role("button", name="Mark", exact=True).click()
    page.get_by_text("marked as right").wait_for()
    page.get_by_role("link", name="Corrections (1), not kept").click()
    page.get_by_text("This browser keeps no more").wait_for()
    assert column(page, "action") == column(page, "was") == ["REFUSE"]


def test_hostile_text_is_text(reader):
    page = reader.open(f"{CASE}case_5")
    for summary in page.locator("details.call summary").all():
        summary.click()
    assert page.evaluate("window.hurt") is None
    main = page.locator("main")
    assert main.locator("script, img, iframe, a[href^=javascript]").count() == 0
    text = main.inner_text()
    assert "</script><script>window.hurt = 1</script>" in text
    for mark in ("ESC", "NUL", "RLO", "PDF", "zero-width space"):
        assert main.locator(".mark", has_text=mark).count() > 0
    assert "\u202e" not in text
    more = page.get_by_role("button", name="Show all 1,000,000 characters")
    assert len(text) < 100_000
    more.first.click()
    assert LONG in main.inner_text()


def test_names_of_models_are_no_addresses(reader):
    page = reader.open("cases")
    page.get_by_label("model", exact=True).select_option("beta v2 #1%")
    reader.settled()
    page.locator(".tabulator-row a").first.click()
    reader.settled()
    assert list(MODELS)[1] in page.inner_text("h1")


def test_a_phone_shows_all_of_it_without_scrolling_sideways(reader):
    reader.page.set_viewport_size({"width": 375, "height": 700})
    for view in (
        "",
        "charts",
        "table?name=cells",
        "cases",
        f"{CASE}case_5",
        f"{CASE}case_2&beside=perturbation+sri-full",
    ):
        page = reader.open(view)
        assert page.evaluate("document.documentElement.scrollWidth") <= 375, view


def test_what_is_not_there_is_told(reader):
    page = reader.open(f"{CASE}case_999")
    assert "There is no conversation case_999" in page.inner_text("[role=alert]")
    for name in ("x", "constructor"):
        assert f"This run has no table {name}." in reader.open(f"table?name={name}").inner_text("[role=alert]")
    assert reader.open("constructor").inner_text("h1") == "What ran"
    assert reader.open("cases?labeller=constructor&sure=constructor&model=constructor").inner_text("h1")


def test_a_static_server_serves_the_same(browser, explorer):
    handler = functools.partial(Quiet, directory=str(explorer))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    page = browser.new_page()
    wrong = []
    page.on("console", lambda message: wrong.append(message.text))
    page.goto(f"http://127.0.0.1:{server.server_port}/index.html#/{CASE}case_2")
    page.get_by_role("heading", name="Verdict").wait_for()
    page.close()
    server.shutdown()
    assert wrong == []


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass
