#!/usr/bin/env bash
# Makes deliberate faults in a copy of the sources, one after the other, and checks that tests detect each.
# --help lists the options.
set -euo pipefail
exec python3 -B "$(dirname "${BASH_SOURCE[0]}")/mutations/mutate.py" "$@"
