"""A push agent: the gateway starts a session of it for each task. It needs no loop, no heartbeat and no key.

    DROVER_URL=http://127.0.0.1:3000 DROVER_API_KEY=drv_... python3 examples/push_agent.py register

registers this file as the agent's command; without an argument it is the session that the gateway starts. The gateway's
sandbox hides homes and /tmp: where this file lies in one, DROVER_SANDBOX_SHOW of `npm start` or the gateway names its folder.
"""

import json
import os
import signal
import sys
import urllib.request
import uuid


def call(method, url, token, body):
    request = urllib.request.Request(
        url,
        method=method,
        data=json.dumps(body).encode(),
        headers={"authorization": f"Bearer {token}", "content-type": "application/json"},
    )
    # A session that is refused or gets no answer fails, and its task is tried again from its checkpoint.
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.loads(response.read() or b"{}")


def register():
    agent = os.environ.get("AGENT_ID") or str(uuid.uuid4())
    call("PUT", f"{os.environ['DROVER_URL']}/api/v1/agents/{agent}", os.environ["DROVER_API_KEY"], {
        "name": f"greeter {agent}",
        "mode": "push",
        # An argument vector, and no shell. The session starts in an empty folder: name the whole path.
        "command": [sys.executable, os.path.abspath(__file__)],
        "capabilities": ["greet"],
        # Without it, it also gets the tasks that require nothing.
        "dedicatedTo": ["greet"],
        "maxConcurrentTasks": 2,
    })
    print(agent)


def session():
    with open(os.environ["DROVER_TASK_FILE"], encoding="utf-8") as file:
        given = json.load(file)
    task, run = given["task"], given["run"]
    url = f"{os.environ['DROVER_API_URL']}/runs/{run['id']}/"
    greeted = task["checkpointData"].get("greeted", [])

    def report(method, path, body):
        return call(method, url + path, os.environ["DROVER_RUN_TOKEN"], body)

    def leave(*_):
        # Paused, cancelled, out of time, or the gateway ends: the server knows which, and decides.
        report("PUT", "checkpoint", {"checkpointData": {"greeted": greeted}})
        sys.exit(0)

    signal.signal(signal.SIGTERM, leave)
    report("POST", "start", {})
    for name in task["inputContext"]["names"][len(greeted):]:
        greeted.append(f"Hello, {name}")
        report("PATCH", "progress", {"currentStep": name, "checkpointData": {"greeted": greeted}})
    # Exit code 0 alone is a failure: the work is complete when the run says so.
    # Work with a model says what that used, here or to POST /runs/:id/usage (docs/budgets.md):
    # "usage": [{"id": "call-1", "model": "claude-sonnet-4", "inputTokens": 5200, "outputTokens": 640}]
    report("POST", "complete", {"outputResult": {"greetings": greeted}})


register() if sys.argv[1:] == ["register"] else session()
