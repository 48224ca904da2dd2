#!/bin/bash
# bad_input_program.sh success|failure|reported <text> <command...>: runs the command; passes when it ends as said, not by a
# time limit, and its output contains the text. A failure that is reported has no stacks of the MPI library around the text.
set -u
expected=$1
text=$2
shift 2
output=$("$@" 2>&1)
status=$?
echo "$output"
echo "---- exit status $status, expected $expected and the text: $text"
[[ $status -ne 124 ]] || exit 1
case $expected in
  success) [[ $status -eq 0 ]] || exit 1 ;;
  failure) [[ $status -ne 0 ]] || exit 1 ;;
  reported) [[ $status -ne 0 && $output != *"Process received signal"* && $output != *"terminate called"* ]] || exit 1 ;;
  *) exit 2 ;;
esac
[[ $output == *"$text"* ]]
