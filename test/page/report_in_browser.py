#!/usr/bin/env python3
"""report_in_browser.py <lapse-report>: opens reports in a real browser, in wide and narrow windows and in both colour schemes.

Needs Chromium; without it, says so and ends with status 77."""
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
HOSTILE = "<img src=x onerror=\"document.title='broken in'\"> & 'co'"
WIDTHS = (340, 700, 1280, 1900)  # of the window, in pixels

# Measures the page when it is laid out, with all parts open.
MEASURE = """<script>
const errors = [];
addEventListener("error", event => errors.push(event.message), true);
function rgb(text) { return text.match(/[\\d.]+/g).slice(0, 3).map(Number); }
function luminance(colour) {
  const [r, g, b] = colour.map(part => { const x = part / 255; return x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function contrast(a, b) {
  const [high, low] = [luminance(rgb(a)), luminance(rgb(b))].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}
function inside(inner, outer) {
  return inner.left >= outer.left - 1 && inner.right <= outer.right + 1 && inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1;
}
function overlap(a, b) {
  return Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1.5 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4;
}
function measure(main) {
  const paper = getComputedStyle(document.body).backgroundColor;
  const charts = [...main.querySelectorAll("svg.chart")].map(chart => {
    const frame = chart.getBoundingClientRect();
    const texts = [...chart.querySelectorAll("text")].map(text => ({text: text.textContent, box: text.getBoundingClientRect(),
      contrast: contrast(getComputedStyle(text).fill, paper)}));
    const lines = [...chart.querySelectorAll(".line")].map(line => ({box: line.getBoundingClientRect(),
      contrast: contrast(getComputedStyle(line).stroke, paper)}));
    const marks = [...chart.querySelectorAll(".mark:not(.back)")].map(mark => ({box: mark.getBoundingClientRect(),
      contrast: contrast(getComputedStyle(mark).fill, paper)}));
    return {name: chart.getAttribute("aria-label"), width: frame.width, height: frame.height,
      texts: texts.length, lines: lines.map(line => line.box.width), marks: marks.length,
      outside: [...texts.filter(each => !inside(each.box, frame)).map(each => each.text),
                ...[...lines, ...marks].filter(each => !inside(each.box, frame)).map(() => "a line or mark")],
      covered: texts.flatMap((a, i) => texts.slice(i + 1).filter(b => overlap(a.box, b.box)).map(b => a.text + " | " + b.text)),
      pale: [...texts.filter(each => each.contrast < 4.5).map(each => each.text),
             ...[...lines, ...marks].filter(each => each.contrast < 3).map(each => "a line or mark: " + each.contrast)]};
  });
  const wide = [...main.querySelectorAll("*")].filter(each => !each.closest(".scroll") || each.matches(".scroll"));
  const end = document.documentElement.getBoundingClientRect().right;
  return {paper, charts, too_wide: wide.filter(each => each.getBoundingClientRect().right > end + 1).map(each => each.outerHTML.slice(0, 80)),
    images: [...main.querySelectorAll("img")].map(image => image.naturalWidth)};
}
addEventListener("load", () => {
  for (const part of document.querySelectorAll("details")) part.open = true;
  const measured = WIDTHS.map(width => {
    document.documentElement.style.width = width + "px";
    return [...document.querySelectorAll("main")].map(measure);
  });
  const result = document.createElement("pre");
  result.id = "measured";
  result.textContent = JSON.stringify({errors, measured});
  document.body.append(result);
});
</script>"""


def histories():
    """Of two runs: evaluated at times, with a null, and with numbers of very different size."""
    first = [{"epoch": e, "loss": 10 / e, "error": 10.0 ** -e, "seconds": 0.5 + 0.01 * e, "local_share": 1 - 0.3 / e,
              **({"valid": {"all": {"mrr": 0.1 * e ** 0.5}}} if e % 3 == 0 else {})} for e in range(1, 31)]
    second = [{"epoch": e, "loss": 12 / e if e != 4 else None, "error": 12.0 ** -e, "seconds": 123.25, "local_share": 1} for e in range(1, 9)]
    return first, second


def write_summary(path, history, **more):
    path.write_text(json.dumps({"command": f"/bin/train '{HOSTILE}' --epochs {len(history)} --fast", "version": "0.1.0", "data": HOSTILE,
                                "ended": "2026-01-31 12:00 UTC", "best_loss": 0.5, "technique": HOSTILE, **more, "history": history}))


def write_words(folder):
    words = [f"word{number}" for number in range(300)] + ["<b>bold</b>&", "\u00fcber", "W" * 60]
    lines = [f"{word} {(number * 7919 % 101) / 50 - 1} {(number * 104729 % 97) / 48 - 1} {number % 5}" for number, word in enumerate(words)]
    (folder / "words.txt").write_text(f"{len(words)} 3\n" + "\n".join(lines) + "\n", encoding="utf-8")
    (folder / "words.txt.json").write_text(json.dumps({
        "format": "lapse model 1", "kind": "word_vectors", "program": "word_vectors", "version": "0", "command": "word_vectors " + HOSTILE,
        "parameters": {"encoding": "text", "words": len(words), "dimensions": 3},
        "files": {"vectors": {"file": "words.txt", "holds": "word2vec"}}, "formula": "a"}))


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = folder = pathlib.Path(cls.temporary.name)
        first, second = histories()
        write_summary(folder / "first.json", first)
        write_summary(folder / "second.json", second, auc=0.75)
        write_summary(folder / "one.json", first[:1])
        write_summary(folder / "none.json", [])
        write_words(folder)
        (folder / "labels.txt").write_text("word1\tone\tfirst\nword2\ttwo\tsecond\n\u00fcber\n", encoding="utf-8")
        several = [f"run {number} with a name that is rather long={folder / 'second.json'}" for number in range(11)]
        cls.pages = {
            "one run": cls.make("page", folder / "first.json"),
            "two runs": cls.make("page", f"{HOSTILE.replace('=', '')}={folder / 'first.json'}", f"other={folder / 'second.json'}"),
            "many runs": cls.make("page", *several),
            "one epoch": cls.make("page", folder / "one.json"),
            "no epoch": cls.make("page", folder / "none.json"),
            "words": cls.make("embedding", folder / "words.txt"),
            "labels": cls.make("embedding", folder / "words.txt", "--labels", folder / "labels.txt", "--points", "50", "--unit-length"),
        }

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def make(cls, command, *arguments, suffix="html"):
        page = cls.folder / f"{len(list(cls.folder.iterdir()))}.{suffix}"
        subprocess.run([sys.argv[1], command, page, *arguments], check=True, capture_output=True)
        return page

    def show(self, pages, dark=False):
        """What is measured of each page, as a list by width; all are shown in one window, as their styles are equal."""
        documents = [page.read_text(encoding="utf-8") for page in pages]
        styles = {re.search(r"<style>.*?</style>", document, re.DOTALL)[0] for document in documents}
        self.assertEqual(len(styles), 1)
        mains = "".join(re.search(r"<main>.*</main>", document, re.DOTALL)[0] for document in documents)
        script = MEASURE.replace("WIDTHS", json.dumps(WIDTHS))
        shown = self.folder / "shown.html"
        shown.write_text(f'<!doctype html><html lang="en"><head><meta charset="utf-8">{script}{styles.pop()}</head><body>{mains}</body></html>',
                         encoding="utf-8")
        with tempfile.TemporaryDirectory() as profile:
            result = subprocess.run(
                [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", f"--window-size={max(WIDTHS)},900",
                 f"--blink-settings=preferredColorScheme={0 if dark else 1}", "--virtual-time-budget=3000", "--dump-dom", shown.as_uri()],
                capture_output=True, text=True, timeout=100, check=True)
        measured = re.search(r'<pre id="measured">(.*?)</pre>', result.stdout, re.DOTALL)
        self.assertIsNotNone(measured)
        found = json.loads(html.unescape(measured[1]))
        self.assertEqual(found["errors"], [])
        return list(zip(*found["measured"]))

    def check(self, measured):
        for width, page in zip(WIDTHS, measured):
            with self.subTest(width=width):
                self.assertEqual(page["too_wide"], [])
            for chart in page["charts"]:
                with self.subTest(chart=chart["name"], width=width):
                    self.assertEqual(chart["outside"], [])
                    self.assertEqual(chart["covered"], [])
                    self.assertEqual(chart["pale"], [])
                    self.assertGreater(chart["height"], 100)
                    self.assertGreater(chart["texts"], 4)
                    self.assertGreater(chart["marks"], 0)
                    self.assertTrue(all(line > 5 for line in chart["lines"]))

    def test_charts_are_whole_at_every_width_with_contrast_in_both_colour_schemes(self):
        papers = set()
        for dark in (False, True):
            for name, measured in zip(self.pages, self.show(self.pages.values(), dark)):
                with self.subTest(page=name, dark=dark):
                    self.check(measured)
                    papers.add(measured[0]["paper"])
                    self.check_charts(name, {chart["name"].split(":")[0]: chart for chart in measured[-1]["charts"]})
        self.assertEqual(len(papers), 2)

    def check_charts(self, page, charts):
        """charts: by title."""
        if page == "two runs":
            self.assertLess({"loss", "loss by time", "error (logarithmic)", "valid all MRR", "seconds of an epoch", "remote share of accesses"},
                            {*charts, "error (logarithmic)"})
            lines = {title: len(chart["lines"]) for title, chart in charts.items()}
            self.assertEqual(lines["seconds of an epoch"], 2)
            self.assertEqual(lines["loss"], 3)  # one is interrupted
            self.assertEqual(lines["valid all MRR"], 1)  # over the epochs without evaluation
        elif page == "no epoch":
            self.assertEqual(charts, {})
        elif page == "one epoch":
            self.assertTrue(charts and all(chart["lines"] == [] for chart in charts.values()))

    def test_texts_of_others_are_no_markup(self):
        for name in ("two runs", "words"):
            document = self.pages[name].read_text(encoding="utf-8")
            for markup in ("<img", "<b>", "<script", "<link"):
                self.assertNotIn(markup, document)
            self.assertIn(html.escape("'co'", quote=False), document)

    def test_pictures_of_their_own(self):
        images = ""
        for by in ("epoch", "time"):
            picture = self.make("chart", "--series", "loss", "--series", "error", "--by", by, f"{HOSTILE.replace('=', '')}={self.folder / 'first.json'}",
                                suffix="svg")
            xml.etree.ElementTree.parse(picture)
            images += f'<img src="{picture.name}">'
        page = self.folder / "pictures.html"
        page.write_text(f"<html><head><style></style></head><body><main>{images}</main></body></html>")
        measured = self.show([page])[0][0]
        self.assertEqual(len(measured["images"]), 2)
        self.assertGreater(min(measured["images"]), 300)


if __name__ == "__main__":
    if BROWSER is None:
        print("SKIPPED: reports are not tested in a browser: Chromium is missing (package chromium)")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
