"""A graph of tasks: two parts that are made side by side, and a whole that waits for both.

    DROVER_URL=http://127.0.0.1:3000 DROVER_API_KEY=drv_... python3 examples/task_graph.py

A worker runs the commands (`npm start` keeps two). It prints the states as they change, and ends with the graph.
"""

import json
import os
import sys
import time
import urllib.request

API = os.environ["DROVER_URL"] + "/api/v1"


def call(method, path, body=None):
    request = urllib.request.Request(
        API + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "authorization": f"Bearer {os.environ['DROVER_API_KEY']}",
            "content-type": "application/json",
        },
    )
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.loads(response.read())


def task(title, script, depends_on=()):
    """A worker runs the argument vector; what it says in the line of `::drover` is the result."""
    return call("POST", "/agent-tasks", {
        "title": title,
        "taskType": "example",
        "dependsOn": list(depends_on),
        "inputContext": {"command": ["node", "-e", script]},
    })["id"]


def result(value):
    return f"console.log('::drover ' + JSON.stringify({{ result: {json.dumps(value)} }}))"


parts = [task("Left half", result({"sum": 3})), task("Right half", result({"sum": 4}))]
whole = task("Whole", result({"made": "of both"}), depends_on=parts)

seen = {}
while True:
    for one in [*parts, whole]:
        now = call("GET", f"/agent-tasks/{one}")
        if seen.get(one) != now["status"]:
            seen[one] = now["status"]
            print(f"{now['title']}: {now['status']}", flush=True)
    if seen[whole] == "COMPLETED" or "FAILED" in seen.values():
        break
    time.sleep(0.2)
sys.exit(0 if seen[whole] == "COMPLETED" else 1)
