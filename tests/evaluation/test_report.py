"""The report, in a real browser: whole, safe, and readable on a desk, a phone and paper."""

import random
import re
import shutil
from datetime import UTC, datetime

import attrs
import pytest
from playwright.sync_api import sync_playwright

from gateway_core.calibration import Calibrator
from gateway_core.calibration.fitfile import BucketFit, FitFile
from gateway_core.evaluation.report import page, summary
from gateway_core.evaluation.report.svg import quarters, round_end

HOSTILE = "<script>document.title='owned'</script>"
OPTIONS = ("billing", "technical support", f"sales {HOSTILE}", "cancel & refund")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FIT = BucketFit(
    model="model-1", question_type="options", bucket="3-5", temperature=2.5, examples=600
)

OUTSIDE = """() => [...document.querySelectorAll('svg')].flatMap(svg => {
    const frame = svg.getBoundingClientRect();
    return [...svg.querySelectorAll('text')].filter(text => {
        const box = text.getBoundingClientRect();
        return box.left < frame.left - 1 || box.right > frame.right + 1 ||
            box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
    }).map(text => text.textContent);
})"""
OVERLAPS = """() => [...document.querySelectorAll('svg')].flatMap(svg => {
    const boxes = [...svg.querySelectorAll('text')].map(text => text.getBoundingClientRect());
    return boxes.flatMap((a, i) => boxes.slice(i + 1).filter(b =>
        a.left < b.right - 1 && b.left < a.right - 1 &&
        a.top < b.bottom - 1 && b.top < a.bottom - 1));
})"""
SMALLEST = """() => Math.min(...[...document.querySelectorAll('svg text')].map(text =>
    text.getBoundingClientRect().height))"""
CONTRAST = """() => {
    const light = colour => {
        const parts = colour.match(/[0-9.]+/g).slice(0, 3).map(part => {
            const value = part / 255;
            return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
    };
    const page = light(getComputedStyle(document.body).backgroundColor);
    return [...document.querySelectorAll('h1, p, th, td, svg text')].map(element => {
        const style = getComputedStyle(element);
        const ink = light(element.matches('svg text') ? style.fill : style.color);
        return (Math.max(ink, page) + 0.05) / (Math.min(ink, page) + 0.05);
    }).reduce((least, ratio) => Math.min(least, ratio));
}"""


BROKEN_WORDS = """() => [...document.querySelectorAll('thead th')].flatMap(cell => {
    const text = cell.firstChild;
    return [...text.data.matchAll(/[a-zA-Z]+/g)].filter(word => {
        const range = document.createRange();
        range.setStart(text, word.index);
        range.setEnd(text, word.index + word[0].length);
        return word[0].length < 12 && range.getClientRects().length > 1;
    }).map(word => word[0]);
})"""


@pytest.fixture(scope="module")
def report(tmp_path_factory, make_examples):
    """Write a report on two providers, one of them with a fit."""
    draw = random.Random(1)
    examples = [
        attrs.evolve(one, latency_ms=draw.lognormvariate(4, 0.4), options=OPTIONS)
        for name, seed in (("laya", 0), (f"other {HOSTILE}", 1))
        for one in make_examples(600, 2.5, seed=seed, provider=name, model="model-1")
    ]
    fit = FitFile(id="laya-fit", provider="laya", created="", fits=(FIT,))
    found = summary(examples, Calibrator((fit,)))
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(page(found, datetime(2026, 1, 1, tzinfo=UTC)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser():
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.fail("no browser to look at the report with: apt-get install chromium")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def opened(browser, report):
    """Open the report; at the end, nothing else may have been fetched or complained of."""
    pages = []

    def open_page(width=1200, scheme="light"):
        view = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
        requests, complaints = [], []
        view.on("request", lambda request: requests.append(request.url))
        view.on("console", lambda message: complaints.append(message.text))
        view.on("pageerror", lambda error: complaints.append(str(error)))
        view.goto(report.as_uri())
        pages.append((view, requests, complaints))
        return view

    yield open_page
    for view, requests, complaints in pages:
        assert requests == [report.as_uri()]
        assert complaints == []
        view.close()


def test_everything_is_on_the_page(opened):
    view = opened()
    assert view.locator("h2").all_inner_texts() == [
        "Side by side",
        "laya, model-1, 3-5 options",
        f"other {HOSTILE}, model-1, 3-5 options",
    ]
    charts = ["Reliability", "Risk and coverage", "Confidence", "Latency", "Confusion matrix"]
    titles = [*charts, "By option", "Surest mistakes"]
    assert view.locator("figure h3").all_inner_texts() == titles * 2
    assert view.locator("svg").count() == 8
    rows = view.locator("table.stacked tbody tr").count()
    assert rows == 3
    assert "questions that both answered" in view.locator("body").inner_text()


def test_every_chart_says_what_it_shows(opened):
    captions = opened().locator("figure figcaption").all_inner_texts()
    assert len(captions) == 14
    assert all(len(caption) > 30 for caption in captions)
    assert "after calibration" in captions[2]
    assert "as they came" in captions[9]


@pytest.mark.parametrize(
    ("highest", "texts"),
    [
        (170, ["0", "50", "100", "150", "200"]),
        (4, ["0", "1", "2", "3", "4"]),
        (0.7, ["0", "0.2", "0.4", "0.6", "0.8"]),
        (100, ["0", "25", "50", "75", "100"]),
        (21.3, ["0", "10", "20", "30", "40"]),
        (183.4, ["0", "50", "100", "150", "200"]),
        (0.001, ["0", "0.00025", "0.0005", "0.00075", "0.001"]),
    ],
)
def test_axes_are_marked_with_round_numbers(highest, texts):
    assert quarters(round_end(highest)) == texts


def test_the_confusion_matrix_counts_every_answer(opened):
    cells = opened().locator("figure.wide").first.locator("td").all_inner_texts()
    assert len(cells) == 16
    assert sum(map(int, cells)) == 600


def test_a_fit_is_shown_before_and_after(opened):
    view = opened()
    parts = view.locator("section")
    assert parts.nth(0).locator("polyline.calibrated").count() == 2
    assert parts.nth(1).locator("polyline.calibrated").count() == 0
    before, after = (
        float(re.search(r"ECE\t?\s*([0-9.]+)", _row(view, place)).group(1)) for place in (0, 1)
    )
    assert after < before / 2


def _row(view, place):
    cell = view.locator("table.stacked tbody tr").nth(place).locator("td[data-name=ECE]")
    return f"ECE {cell.inner_text()}"


def test_names_from_elsewhere_are_text_and_nothing_more(opened):
    view = opened()
    assert view.title() == "Calibration report"
    assert view.locator("script").count() == 0


@pytest.mark.parametrize("width", [320, 375, 768, 1200, 1920])
def test_it_is_readable_at_any_width(opened, width):
    view = opened(width)
    assert view.evaluate("document.documentElement.scrollWidth") <= width
    assert view.evaluate(OUTSIDE) == []
    assert view.evaluate(OVERLAPS) == []
    assert view.evaluate(SMALLEST) >= 9


@pytest.mark.parametrize(("scheme", "darkest"), [("light", 255), ("dark", 40)])
def test_light_and_dark_are_what_the_reader_wants(opened, scheme, darkest):
    view = opened(scheme=scheme)
    colour = view.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (int(re.search(r"\d+", colour).group()) > 200) == (scheme == "light")
    assert int(re.search(r"\d+", colour).group()) <= darkest
    assert view.evaluate(CONTRAST) >= 4.5


def test_it_prints_in_light_colours_on_whole_pages(opened, tmp_path):
    view = opened(scheme="dark")
    view.emulate_media(media="print", color_scheme="dark")
    assert view.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    broken = view.evaluate(
        "[...document.querySelectorAll('figure')].filter("
        "figure => getComputedStyle(figure).breakInside !== 'avoid').length"
    )
    assert broken == 0
    view.set_viewport_size({"width": 700, "height": 1000})
    assert view.evaluate("document.documentElement.scrollWidth") <= 700
    assert view.evaluate(BROKEN_WORDS) == []
    pages = re.findall(rb"/Type\s*/Page\b", view.pdf(format="A4"))
    assert 2 <= len(pages) <= 5


def test_the_page_names_no_address_and_forbids_itself_any(report):
    text = report.read_text()
    assert "http" not in text.replace("http-equiv", "")
    assert "default-src 'none'" in text
