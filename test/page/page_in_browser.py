#!/usr/bin/env python3
"""page_in_browser.py <lapse-viewer>: opens the viewer's page in a real browser, with each of its tools.

Needs node and Chromium; without one of them, says so and ends with status 77."""
import html
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
NODE = shutil.which("node")
HOSTILE = "<img src=x onerror=\"document.title='broken in'\"> & 'co'"


def text_of(document):
    return html.unescape(re.sub(r"<[^>]+>", " ", re.sub(r"<(script|style).*?</\1>", "", document, flags=re.DOTALL)))


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        subprocess.run([NODE, HERE / "write_traces.mjs", cls.folder.name], check=True)
        cls.page = pathlib.Path(cls.folder.name, "page.html")
        trace = f"{cls.folder.name}/random"
        subprocess.run([sys.argv[1], "page", cls.page, f"plain={trace}", f"{HOSTILE.replace('=', '')}={trace}"], check=True,
                       capture_output=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def show(self, link, page=None):
        """The document after the page's script has run."""
        with tempfile.TemporaryDirectory() as profile:
            result = subprocess.run(
                [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--window-size=1280,900",
                 "--virtual-time-budget=3000", "--dump-dom", f"{(page or self.page).as_uri()}#{link}"],
                capture_output=True, text=True, timeout=60, check=True)
        self.assertIn('data-ready="true"', result.stdout)
        return result.stdout

    def test_each_tool_shows_the_run(self):
        wanted = {"summary": ["relocations", "plain, table t: per second"], "replay": ["plain, table t, at 0.00 ms", "domain 3:"],
                  "map": ["plain, table t: 40 keys"],
                  "layers": ["plain, table t: 8 keys in layers", "option allocation_trace_events"], "affinity": ["share of time at each domain"],
                  "cluster": ["relocations between domains", "0, 1, 2, 3"],
                  "tour": ["Station 1 of 6", "Distributed training and parameter servers"]}
        for tool, texts in wanted.items():
            with self.subTest(tool=tool):
                document = self.show(f"tool={tool}&run=plain")
                for text in texts:
                    self.assertIn(text, text_of(document))
                self.assertRegex(document, r'<p id="problem" role="alert"></p>')
                self.assertEqual("<canvas" in document, tool not in ("affinity", "cluster"))

    def test_a_link_restores_focus_time_choice_and_a_second_run(self):
        document = self.show("tool=map&run=plain&other=plain&focus=5-8,250&time=0.001&selected=6")
        self.assertEqual(len(re.findall("plain, table t: 5 keys", text_of(document))), 2)
        self.assertIn("key 6 is chosen", text_of(document))
        self.assertIn("1.00 ms of", text_of(document))

    def test_names_are_texts_and_damage_is_reported(self):
        document = self.show("tool=summary")
        self.assertIn("<title>Allocation of parameters</title>", document)
        self.assertNotIn("<img", document)
        self.assertIn(HOSTILE.replace("=", ""), text_of(document))
        broken = pathlib.Path(self.folder.name, "broken.html")
        broken.write_text(self.page.read_text().replace('data-file="random.1">', 'data-file="random.1">AAAA', 1))
        self.assertIn("random.1: this is no trace of allocation", text_of(self.show("", broken)))


if __name__ == "__main__":
    if NODE is None or BROWSER is None:
        print("SKIPPED: the page is not tested in a browser: Chromium or node is missing (packages chromium, nodejs)")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
