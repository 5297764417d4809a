# Source this: messages that begin with the seconds since the start of make, or of the script.
: "${PARLEY_BEGAN:=$(date +%s)}"
export PARLEY_BEGAN

say() {
    printf '%4d s  %s\n' $(($(date +%s) - PARLEY_BEGAN)) "$*"
}

# during WHAT COMMAND...: run a command, saying every 5 seconds what it is doing. Its output goes to a file, which
# is shown if the command fails. WHAT is a function that prints what to say; it gets the name of that file.
during() {
    local what=$1 log reporter code=0
    shift
    log=$(mktemp)
    # The pauses must not hold on to the terminal: they may outlive the command.
    while sleep 5 >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do say "  $("$what" "$log" 2>/dev/null)"; done &
    reporter=$!
    trap 'kill "$reporter" 2>/dev/null || true' EXIT
    "$@" >"$log" 2>&1 || code=$?
    kill "$reporter" 2>/dev/null || true
    wait "$reporter" 2>/dev/null || true
    trap - EXIT
    [ "$code" = 0 ] || tail -n 40 "$log" >&2
    rm -f "$log"
    return "$code"
}
