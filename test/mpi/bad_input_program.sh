#!/bin/bash
# bad_input_program.sh success|failure|reported <text> <command...>: runs the command. Passes if the command
# ends as given, without reaching a time limit, and its output contains the text. With "reported", the text
# must not be surrounded by stacks of the MPI library.
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
