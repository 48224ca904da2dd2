# Sourced by scripts that run an application from its command line to its files, with the arguments <program>
# <data> <launcher...>. Sets program, data, launcher, failures and directory, which is removed at the end.
set -u
program=$1
data=$2
shift 2
launcher=("$@")
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
failures=0
# After an exit status other than 0, mpirun waits twice this long (1 s by default) even if all processes have
# ended.
export OMPI_MCA_odls_base_sigkill_timeout=0

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

run() {  # <arguments...>: output in $directory/out and err
  "${launcher[@]}" "$program" "$@" >"$directory/out" 2>"$directory/err" </dev/null
}

# Expects that the program refuses these arguments: exactly one line of its own, which begins with "error:"
# and contains the texts. The rank that fails may also have logged the error, in a line that begins with
# "lapse[".
# Only on several ranks, where an error may come from any of them, or from each.
refuses() {  # <texts, separated by |> <arguments...>
  [[ ${launcher[-1]} -ne 1 ]] || return 0
  local texts text
  IFS='|' read -ra texts <<<"$1"
  shift
  run "$@" && fail "accepted: $*"
  local lines
  lines=$(grep -c '^error: ' "$directory/err")
  [[ $lines -eq 1 ]] || fail "$lines lines of errors, expected 1: $*: $(cat "$directory/err")"
  for text in "${texts[@]}"; do
    grep '^error: ' "$directory/err" | grep -qF -- "$text" || fail "error without '$text': $(cat "$directory/err")"
  done
}
