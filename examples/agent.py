"""An agent that counts words, with nothing but Python's standard library.

    DROVER_URL=http://127.0.0.1:3000 DROVER_API_KEY=drv_... python3 examples/agent.py

It takes tasks that require the capability `count-words`, until SIGTERM or Ctrl-C.
"""

import json
import os
import signal
import threading
import time
import urllib.error
import urllib.request
import uuid

API = os.environ["DROVER_URL"] + "/api/v1"
KEY = os.environ["DROVER_API_KEY"]
# A real agent keeps its id between starts: it is its identity.
AGENT = os.environ.get("AGENT_ID") or str(uuid.uuid4())

stopping = threading.Event()


class Refused(Exception):
    """The server said no: `code` says why."""

    def __init__(self, problem):
        super().__init__(f"{problem.get('title')}: {problem.get('detail')}")
        self.code = problem.get("code")


def call(method, path, body=None, token=None):
    """One request. What gets no answer, 429 or 503 is repeated: every report may be sent twice."""
    wait = 0.25
    while True:
        request = urllib.request.Request(
            API + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"authorization": f"Bearer {token}", "content-type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return json.loads(response.read() or b"{}")
        except urllib.error.HTTPError as error:
            if error.code not in (429, 503):
                raise Refused(json.loads(error.read())) from None
            wait = max(wait, float(error.headers.get("retry-after", 0)))
        except OSError:
            pass
        time.sleep(wait)
        wait = min(wait * 2, 5)


def heartbeats(token):
    """On a timer of their own: a long piece of work must not look like a death."""
    while not stopping.wait(10):
        call("POST", f"/agents/{AGENT}/heartbeat", {"status": "healthy"}, token)


def work(task, report):
    """The work itself. A checkpoint says how far it is; a later run begins there."""
    lines = task["inputContext"].get("text", "").splitlines()
    done = task["checkpointData"].get("lines", 0)
    words = task["checkpointData"].get("words", 0)
    for number, line in enumerate(lines[done:], start=done + 1):
        words += len(line.split())
        percent = round(100 * number / len(lines))
        report("PATCH", "progress", {
            "progressPercent": percent,
            "checkpointData": {"lines": number, "words": words},
        })
    return {"words": words}


def run(claimed):
    task, run_id, token = claimed["task"], claimed["run"]["id"], claimed["run"]["token"]

    def report(method, path, body):
        return call(method, f"/runs/{run_id}/{path}", body, token)

    try:
        report("POST", "start", {})
        result = work(task, report)
        # Work with a model says what that used, here or to POST /runs/:id/usage (docs/budgets.md):
        # "usage": [{"id": "call-1", "model": "claude-sonnet-4", "inputTokens": 5200, "outputTokens": 640}]
        report("POST", "complete", {"outputResult": result, "summary": f"{result['words']} words"})
    except Refused as refusal:
        # Cancelled, timed out, or given to somebody else: it is not ours any more.
        print(f"gave up {task['id']}: {refusal.code}")
    except Exception as error:  # What the work itself throws.
        report("POST", "fail", {"error": {"message": str(error), "class": "unknown"}})


def main():
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    call("PUT", f"/agents/{AGENT}", {
        "name": f"word counter {AGENT}",
        "capabilities": ["count-words"],
        "maxConcurrentTasks": 1,
        "heartbeatIntervalSeconds": 10,
        "staleThresholdSeconds": 45,
    }, KEY)
    token = call("POST", f"/agents/{AGENT}/token", {}, KEY)["token"]
    call("POST", f"/agents/{AGENT}/heartbeat", {"status": "healthy"}, token)
    threading.Thread(target=heartbeats, args=(token,), daemon=True).start()
    print("ready", flush=True)
    while not stopping.is_set():
        # Waits for a task, and is answered within milliseconds of one becoming ready.
        claimed = call("POST", f"/agents/{AGENT}/claim", {"maxTasks": 1, "waitMs": 2000}, token)
        for one in claimed["tasks"]:
            run(one)
    call("POST", f"/agents/{AGENT}/deregister", {"reason": "stopped"}, token)


main()
