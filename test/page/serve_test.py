#!/usr/bin/env python3
"""serve_test.py <lapse-viewer>: the page that lapse-viewer serves follows traces that grow, and answers only with its token.

Needs node, and for the page itself Chromium; without node, says so and ends with status 77."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.parse
import urllib.request

from page_in_browser import BROWSER, HERE, NODE, text_of


class Served(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        subprocess.run([NODE, HERE / "write_traces.mjs", self.folder.name], check=True)
        self.files = [pathlib.Path(self.folder.name, f"random.{rank}") for rank in range(4)]
        self.whole = [file.read_bytes() for file in self.files]
        for file in self.files:
            file.unlink()
        self.viewer = subprocess.Popen([sys.argv[1], "serve", f"now & then={self.folder.name}/random"], stdout=subprocess.PIPE,
                                       text=True)
        self.address = self.viewer.stdout.readline().strip()
        self.token = urllib.parse.parse_qs(urllib.parse.urlsplit(self.address).query)["token"][0]

    def tearDown(self):
        self.viewer.terminate()
        self.viewer.wait(10)
        self.viewer.stdout.close()
        self.folder.cleanup()

    def get(self, path, **parameters):
        query = urllib.parse.urlencode({"token": self.token, **parameters})
        with urllib.request.urlopen(f"{self.address.split('?')[0]}{path}?{query}", timeout=20) as answer:
            return answer.read()

    def status(self, path, **parameters):
        with self.assertRaises(urllib.error.HTTPError) as caught:
            self.get(path, **parameters)
        caught.exception.close()
        return caught.exception.code

    def write(self, share):
        for file, whole in zip(self.files, self.whole):
            file.write_bytes(whole[:int(share * len(whole))])

    def test_files_are_answered_as_far_as_they_are_there(self):
        nothing = {"name": "now & then", "files": [], "start": None, "problem": ""}
        self.assertEqual(json.loads(self.get("runs")), [nothing])
        self.assertEqual(self.status("file", run=0, rank=0, **{"from": 0}), 404)
        self.write(.5)
        [run] = json.loads(self.get("runs"))
        self.assertEqual([file["file"] for file in run["files"]], [file.name for file in self.files])
        self.assertEqual([file["bytes"] for file in run["files"]], [len(whole) // 2 for whole in self.whole])
        for rank, whole in enumerate(self.whole):
            self.assertEqual(self.get("file", run=0, rank=rank, **{"from": 100}), whole[100:len(whole) // 2])
        self.write(1)
        half = len(self.whole[2]) // 2
        self.assertEqual(self.get("file", run=0, rank=2, **{"from": half}), self.whole[2][half:])
        self.assertEqual(self.get("file", run=0, rank=2, **{"from": 10**9}), b"")

    def test_only_with_its_token_and_only_the_traces(self):
        for token in ("", "0" * 32, self.token[:-1]):
            for path in ("", "runs", "file"):
                self.assertEqual(self.status(path, token=token), 403)
        self.write(1)
        for wrong in ({"run": 1, "rank": 0, "from": 0}, {"run": 0, "rank": "../0", "from": 0}, {"run": 0, "rank": 0, "from": -1},
                      {"run": 0, "rank": 0}):
            self.assertEqual(self.status("file", **wrong), 400)
        self.assertEqual(self.status("file", run=0, rank=9, **{"from": 0}), 404)
        self.assertEqual(self.status("etc/passwd"), 404)
        host = urllib.parse.urlsplit(self.address)
        self.assertEqual(host.hostname, "127.0.0.1")
        other = subprocess.run([sys.argv[1], "serve", "x", "--port", str(host.port)], capture_output=True, text=True, check=False,
                               timeout=20)
        self.assertEqual((other.returncode, "cannot be had" in other.stderr), (1, True))

    @unittest.skipIf(BROWSER is None, "Chromium is missing (package chromium)")
    def test_the_page_shows_what_there_is(self):
        def shown(problem=False):
            with tempfile.TemporaryDirectory() as profile:
                result = subprocess.run(
                    [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
                     "--virtual-time-budget=3000", "--dump-dom", self.address],
                    capture_output=True, text=True, timeout=60, check=True)
            self.assertEqual('<p id="problem" role="alert"></p>' in result.stdout, not problem)
            return text_of(result.stdout)
        self.assertIn("There is no trace yet", shown())
        self.write(.5)
        self.assertIn("now & then, table t: per second", shown())
        self.assertIn("ranks 0, 1, 2, 3 did not close their server", shown())
        self.files[0].write_bytes(b"no trace at all")
        self.assertIn("random.0: this is no trace of allocation", shown(problem=True))


if __name__ == "__main__":
    if NODE is None:
        print("SKIPPED: the served page is not tested: node is missing (package nodejs)")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
