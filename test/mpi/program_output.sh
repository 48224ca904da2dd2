# Sourced by scripts that run a program and check how it ends and what it prints.

failures=0
check() {  # <what> <command...>
  local what=$1
  shift
  if ! "$@"; then
    echo "---- failed: $what"
    failures=$((failures + 1))
  fi
}

run_command() {  # <command...>: sets output and status
  output=$("$@" 2>&1)
  status=$?
  echo "$output"
  echo "---- exit status $status"
}

lines() {  # <pattern>: prints the number of matching output lines
  grep -cE "$1" <<<"$output"
}
