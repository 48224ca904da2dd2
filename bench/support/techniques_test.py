#!/usr/bin/env python3
"""Tests how bench/techniques.py handles runs, with shell scripts in place of programs."""
import json
import os
import pathlib
import sys
import tempfile
import time
import unittest
import xml.dom.minidom

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import technique_page  # noqa: E402
import techniques  # noqa: E402
from tasks import TASKS, chosen  # noqa: E402
from technique_pictures import amount, duration, lead_curves, nice_ceiling, technique_bars  # noqa: E402
from technique_runs import Failed, Machine, add_ratios, combined, figures_of, reason_of, regret_of  # noqa: E402
from technique_tables import TABLES, prediction  # noqa: E402

SUMMARY = {"history": [{"seconds": 4.0, "test_rmse": 2.0, "train_rmse": 1.0}, {"seconds": 2.0, "test_rmse": 1.5, "train_rmse": 1.0}],
           "workers": 2, "messages_per_epoch": 100.0, "bytes_per_rank_and_epoch": 5e6, "stale_seconds": 0.01, "stale_versions": 1.5,
           "remote_share": 0.01, "remote_operation_share": 0.02, "relocations_per_epoch": 3.0, "copies_per_epoch": 2.0, "mean_lead": 7.0,
           "statistics": {"server": {"ranks": 2}, "intents": {"total": {"clocks": 40}}}}

# Finds the file after --summary-json and the technique; $1 is the number of ranks.
PROGRAM = """#!/bin/sh
while [ $# -gt 0 ]; do
  case $1 in --summary-json) out=$2 ;; --technique) technique=$2 ;; esac
  shift
done
case $technique in
  nups) echo 'error: no memory | at all' >&2; exit 3 ;;
  localize) sleep 60 ;;
  immediate) printf '%s' '{diverged}' >"$out" ;;
  *) printf '%s' '{good}' >"$out" ;;
esac
"""


def with_rmse(value):
    return {**SUMMARY, "history": [{"seconds": 1.0, "test_rmse": value, "train_rmse": value}]}


class Programs(unittest.TestCase):
    """With a folder of stand-ins, and a launcher that takes a number of ranks."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        (self.root / "apps").mkdir()
        program = PROGRAM.replace("{good}", json.dumps(SUMMARY)).replace("{diverged}", json.dumps(with_rmse(None)))
        self.script(self.root / "apps/matrix_factorization", program)
        self.script(self.root / "launcher", '#!/bin/sh\nshift\nexec "$@"\n')
        self.out = self.root / "out"

    def tearDown(self):
        self.folder.cleanup()

    @staticmethod
    def script(path, text):
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def measure(self, *arguments):
        options = techniques.parse(["--programs", str(self.root), "--launcher", str(self.root / "launcher"), "--tasks", "matrix",
                                    "--limit", "1", "--out", str(self.out), *arguments])
        reports = []
        series = techniques.Series(options)
        return {"command": "command", "processors": 2, "rows": techniques.measure(series, reports.append)}, reports

    def test_runs_that_fail_are_rows(self):
        results, reports = self.measure("--runs", "2", "--techniques", "adaptive,immediate,nups,localize")
        good, diverged, failed, late = results["rows"]
        self.assertEqual((good["seconds"], good["runs"], good["fault"], good["ratio"]), (3.0, 2, None, 1.0))
        self.assertEqual(diverged["fault"], "diverged: test RMSE is not a number")
        self.assertEqual(failed["fault"], "exit status 3: error: no memory | at all")
        self.assertEqual(late["fault"], "not finished after 1 s")
        self.assertEqual(len(reports), 5)  # Failed runs are not repeated.
        table = list(TABLES["techniques"](results))
        self.assertEqual(len(table), 3 + 4)
        self.assertEqual(len({line.count("|") for line in table[1:]}), 1, table)
        self.assertIn("no memory / at all", table[5])

    def test_regrets_are_of_traced_runs(self):
        viewer = """#!/bin/sh
        case "$*" in "optimum "*" --json") ;; *) exit 2 ;; esac
        echo '{"incomplete_ranks": [], "dropped_seconds": null,'
        echo '"tables": [{"ran": {"cost": 30}, "nothing_moved": {"cost": 50}, "least": {"cost": 20}}]}'
        """
        self.script(self.root / "apps/lapse-viewer", viewer)
        results, reports = self.measure("--regret", "--techniques", "adaptive,nups,relocation_only")
        adaptive, failed, relocation = results["rows"]
        self.assertEqual((adaptive["regret"], relocation["regret"], adaptive["regret_unmoved"]), (1.5, 1.5, 2.5))
        self.assertNotIn("regret", failed)
        self.assertIn("| 1.50 |", "\n".join(TABLES["techniques"](results)))
        self.assertIn("matrix adaptive: bytes for keys, in parts of the least: 1.50", reports)
        self.script(self.root / "apps/lapse-viewer", "#!/bin/sh\necho 'error: no accesses' >&2\nexit 1\n")
        results, reports = self.measure("--regret", "--techniques", "adaptive")
        self.assertNotIn("regret", results["rows"][0])
        self.assertIn("matrix adaptive: no regret: exit status 1: error: no accesses", reports)

    def test_leads_and_their_picture(self):
        results, _ = self.measure("--lead", "--leads", "1,100", "--techniques", "adaptive,immediate")
        self.assertEqual([(row["technique"], row["lead"]) for row in results["rows"]],
                         [("adaptive", 1), ("immediate", 1), ("adaptive", 100), ("immediate", 100)])
        table = "\n".join(TABLES["lead"](results))
        self.assertIn("10 batches for each worker", table)
        self.assertIn("`immediate`: diverged", table)
        xml.dom.minidom.parseString(lead_curves({"matrix": results["rows"]}))

    def test_page_of_what_is_there(self):
        results, _ = self.measure("--techniques", "adaptive,nups")
        self.out.mkdir()
        (self.out / "techniques.json").write_text(json.dumps(results), encoding="utf-8")
        text = "\n".join(technique_page.page(self.out, self.root / "pictures"))
        self.assertIn("## Techniques, each rank a domain", text)
        self.assertNotIn("How far ahead", text)
        self.assertEqual(os.listdir(self.root / "pictures"), ["techniques.svg"])
        xml.dom.minidom.parse(str(self.root / "pictures/techniques.svg"))

    def test_page_says_where_times_are_doubtful(self):
        quiet, busy = ({"seconds": 1.4, "best_seconds": 1.0}, {"seconds": 1.6, "best_seconds": 1.0})
        self.assertEqual(list(technique_page.doubts([quiet, quiet, busy, {"fault": "none"}])), [])
        self.assertIn("in 2 of 3 rows", "".join(technique_page.doubts([quiet, busy, busy])))

    def test_what_is_stopped_ends(self):
        self.script(self.root / "apps/deaf", "#!/bin/sh\nsleep 60\n")
        begin = time.monotonic()
        with self.assertRaisesRegex(Failed, "not finished after 0.2 s"):
            Machine(self.root / "apps", str(self.root / "launcher"), 2, "", "rank", 0.2).run("deaf", [])
        self.assertLess(time.monotonic() - begin, 20)


class Figures(unittest.TestCase):
    def test_of_a_summary(self):
        figures = figures_of(SUMMARY, TASKS["matrix"].quality)
        self.assertEqual((figures["messages"], figures["clocks"], figures["bytes"]), (50.0, 10.0, 5e6))
        self.assertEqual(figures["quality"], {"test RMSE": 1.5})

    def test_divergence_shows_in_the_loss_too(self):
        summary = {**SUMMARY, "history": [{"seconds": 1.0, "loss": None}], "test_mrr": 0.1}
        with self.assertRaisesRegex(Failed, "diverged"):
            figures_of(summary, TASKS["graph"].quality)

    def test_of_several_runs(self):
        runs = [figures_of(with_rmse(value), TASKS["matrix"].quality) for value in (1.0, 3.0, 1.5)]
        self.assertEqual(combined(runs)["quality"], {"test RMSE": 1.5})
        self.assertEqual(combined([figures_of(SUMMARY, TASKS["matrix"].quality)] * 2)["worst_seconds"], 4.0)

    def test_ratios_are_within_task_and_ranks(self):
        rows = [{"task": task, "ranks": 2, **seconds} for task, seconds in
                (("a", {"seconds": 4}), ("a", {"seconds": 2}), ("b", {"seconds": 9}), ("b", {}))]
        add_ratios(rows)
        self.assertEqual([row.get("ratio") for row in rows], [2, 1, 1, None])

    def test_reasons(self):
        self.assertEqual(reason_of(1, "-----\nwarning\nerror: bad\n"), "exit status 1: error: bad")
        self.assertEqual(reason_of(9, "-----\nkilled by signal 9\n"), "exit status 9: killed by signal 9")
        self.assertEqual(reason_of(9, ""), "exit status 9")

    def test_regret_is_over_all_tables(self):
        def table(ran, still, least):
            return {"ran": {"cost": ran}, "nothing_moved": {"cost": still}, "least": {"cost": least}}
        self.assertEqual(regret_of([table(30, 90, 10), table(10, 10, 10)]), {"regret": 2, "regret_unmoved": 5})
        self.assertEqual(regret_of([table(0, 0, 0)]), {})

    def test_prediction(self):
        one = {"seconds": 16.0, "workers": 1}
        row = {"ranks": 16, "bytes": 12.5e9, "messages": 1000}
        compute, transfer, messages = prediction(row, one, 10, 100, 4)
        self.assertEqual((compute, transfer), (0.25, 1.0))
        self.assertAlmostEqual(messages, 0.01)


class Arguments(unittest.TestCase):
    def test_options_of_a_task_are_replaced(self):
        task = chosen("graph", None, techniques.option_values("--dim 7 --epochs 3 --reciprocal"))
        words = task.arguments({"--workers": 2})
        self.assertEqual(words[words.index("--dim") + 1], "7")
        self.assertEqual(words[words.index("--evaluate-every") + 1], "3")
        self.assertEqual(words.count("--dim"), 1)
        self.assertIn("--reciprocal", words)
        self.assertNotIn("None", words)

    def test_given_options_win_over_those_of_leads(self):
        series = techniques.Series(techniques.parse(["--lead", "--tasks", "graph", "--options", "graph=--batch 7"]))
        task, place = next(iter(series.places()))
        words = task.arguments(series.application_options(task, place))
        self.assertEqual([words[words.index(name) + 1] for name in ("--batch", "--epochs", "--lookahead")], ["7", "2", "1"])

    def test_other_data(self):
        words = chosen("graph", ("a", "b", "c")).arguments({})
        self.assertEqual(words[:5], ["a", "--valid", "b", "--test", "c"])

    def test_files_of_clicks(self):
        task = chosen("clicks")
        words = task.arguments({})
        self.assertEqual([words[1], "--schema" in words, words[words.index("--epochs") + 1]], ["--test", True, "3"])
        self.assertEqual(task.quality({"test_auc": 0.9, "test_log_loss": 0.3}), {"test AUC": 0.9, "log loss": 0.3})

    def test_what_makes_no_sense_is_refused(self):
        for words in (["--tasks", "nothing"], ["--techniques", "magic"], ["--lead", "--hosts", "2,2"], ["--data", "graph"]):
            with self.assertRaises(SystemExit), open(os.devnull, "w", encoding="utf-8") as sys.stderr:
                techniques.parse(words)
        sys.stderr = sys.__stderr__

    def test_shown_command_has_no_folders_of_the_machine(self):
        words = ["--out", "/tmp/a", "--programs", "/b", "--data", "ratings=/c/d/e.tsv", "--runs", "3"]
        self.assertEqual(techniques.shown_command(techniques.parse(words), words), "bench/techniques.py --data ratings=d/e.tsv --runs 3")


class Pictures(unittest.TestCase):
    def test_units(self):
        self.assertEqual([duration(value) for value in (12.34, 0.0123, 4.5e-6, 0)], ["12.3 s", "12.3 ms", "4.5 us", "0 us"])
        self.assertEqual([amount(value) for value in (2e9, 3.456e6, 700)], ["2 GB", "3.46 MB", "0.7 KB"])
        self.assertEqual([nice_ceiling(value) for value in (0.011, 2, 6)], [0.02, 2, 10])

    def test_bars(self):
        rows = [{"technique": "adaptive", "seconds": 1.0, "bytes": 0.0}, {"technique": "nups"},
                {"technique": "<static>", "seconds": 50.0, "bytes": 1e6}]
        svg = technique_bars({"graph": rows})
        xml.dom.minidom.parseString(svg)
        self.assertIn("… 50 s", svg)
        self.assertIn("no figures", svg)


if __name__ == "__main__":
    unittest.main()
