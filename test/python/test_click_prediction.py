"""Tests of apps/click_prediction: test_click_prediction.py <folder for files>, on any number of ranks."""
from torch_support import WORLD

import click_runs
import click_units

click_runs.prepare()
for module in ((click_units, click_runs) if WORLD.size == 1 else (click_runs,)):
    for name, test in list(vars(module).items()):
        if name.startswith("test_"):
            if WORLD.rank == 0:
                print(name, flush=True)
            test()
if WORLD.rank == 0:
    print(f"click_prediction: all tests passed on {WORLD.size} ranks")
