#!/bin/bash
# checkpoints_order.sh <checkpoint_order.py> <checkpoints_program> <launcher...>: checks the order in which
# checkpoints of several ranks reach the disk, with one file per host and in folders of many files.
set -eu
check=$1
program=$2
shift 2
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
LAPSE_CHECKPOINT_FILES=rank python3 -B "$check" "$@" "$program" "$directory/rank" 2
python3 -B "$check" "$@" "$program" "$directory/host" 2
