#!/usr/bin/env python3
"""Predicts clicks by Wide & Deep on the parameter manager; docs/click-prediction.md is the page for users.

    mpirun -n 2 python3 click_prediction.py train.csv --schema clicks.schema --test test.csv
    mpirun -n 2 python3 click_prediction.py --predict more.csv --checkpoint-dir run --output probabilities.tsv
"""
import sys

from click_prediction.program import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
