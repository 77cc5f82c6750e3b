#!/usr/bin/env bash
# The command of a task that asks a person before it goes on. A worker runs it twice: once until it asks, and once with
# the answer in its input file.
set -euo pipefail

input() { node -pe "JSON.parse(require('fs').readFileSync(process.env.DROVER_INPUT_FILE, 'utf8')).$1"; }

answer=$(input 'task.answers.at(-1)?.answer ?? ""')
if [ -z "$answer" ]; then
  # The worker gives the task back; nothing runs and nothing is counted until somebody answers.
  echo '::drover {"checkpoint": {"draft": "Dear all"}}'
  echo '::drover {"ask": {"prompt": "Send it?", "choices": ["yes", "no"], "deadlineSeconds": 86400, "onDeadline": "default", "default": "no"}}'
  exit 0
fi
draft=$(input 'task.checkpointData.draft')
echo '::drover {"result": {"draft": "'"$draft"'", "sent": '"$([ "$answer" = yes ] && echo true || echo false)"'}}'
