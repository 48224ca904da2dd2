"""Tests of lapse.torch: test_torch.py <folder for checkpoints>, on any number of ranks."""
from torch_support import WORLD

import torch_modules
import torch_training

for module in (torch_modules, torch_training):
    for name, test in list(vars(module).items()):
        if name.startswith("test_"):
            if WORLD.rank == 0:
                print(name, flush=True)
            test()
if WORLD.rank == 0:
    print(f"lapse.torch: all tests passed on {WORLD.size} ranks")
