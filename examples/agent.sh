#!/usr/bin/env bash
# An agent that counts words, with bash, curl, and node to read JSON.
#
#   DROVER_URL=http://127.0.0.1:3000 DROVER_API_KEY=drv_... bash examples/agent.sh
#
# It takes tasks that require the capability `count-words`, until SIGTERM or Ctrl-C.
set -euo pipefail

api=$DROVER_URL/api/v1
field() { node -pe "JSON.parse(require('fs').readFileSync(0, 'utf8')).$1"; }
# A real agent keeps its id between starts: it is its identity.
agent=${AGENT_ID:-$(node -p 'crypto.randomUUID()')}

# METHOD PATH TOKEN BODY. What gets no answer, 429 or 503 is repeated: every report may be sent twice.
call() {
  curl -s --fail-with-body --retry 10 --retry-connrefused -X "$1" "$api$2" \
    -H "authorization: Bearer $3" -H 'content-type: application/json' -d "$4"
}

call PUT "/agents/$agent" "$DROVER_API_KEY" '{
  "name": "word counter '"$agent"'", "capabilities": ["count-words"], "maxConcurrentTasks": 1,
  "heartbeatIntervalSeconds": 10, "staleThresholdSeconds": 45 }' > /dev/null
token=$(call POST "/agents/$agent/token" "$DROVER_API_KEY" '{}' | field token)

beat() { call POST "/agents/$agent/heartbeat" "$token" '{"status": "healthy"}' > /dev/null; }
beat
# Beside the work: a long piece of it must not look like a death.
while sleep 10; do beat || true; done &
beats=$!

stopping=
trap 'stopping=yes' TERM INT
trap 'kill "$beats" 2> /dev/null || true' EXIT
echo ready

# The work itself: standard input is the text.
work() { wc -w; }

while [ -z "$stopping" ]; do
  # Waits for a task, and is answered within milliseconds of one becoming ready.
  claimed=$(call POST "/agents/$agent/claim" "$token" '{"maxTasks": 1, "waitMs": 2000}') || continue
  [ "$(field 'tasks.length' <<< "$claimed")" = 1 ] || continue
  run=$(field 'tasks[0].run.id' <<< "$claimed")
  run_token=$(field 'tasks[0].run.token' <<< "$claimed")
  # Refused: cancelled, timed out, or given to somebody else. It is not ours any more.
  call POST "/runs/$run/start" "$run_token" '{}' > /dev/null || continue
  words=$(field 'tasks[0].task.inputContext.text' <<< "$claimed" | work)
  # Work with a model says what that used, here or to POST /runs/:id/usage (docs/budgets.md):
  # "usage": [{"id": "call-1", "model": "claude-sonnet-4", "inputTokens": 5200, "outputTokens": 640}]
  call POST "/runs/$run/complete" "$run_token" '{"outputResult": {"words": '"$((words))"'}}' > /dev/null || true
done
call POST "/agents/$agent/deregister" "$token" '{"reason": "stopped"}' > /dev/null
