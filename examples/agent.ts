/**
 * An agent that counts words, with nothing but Node.
 *
 *     DROVER_URL=http://127.0.0.1:3000 DROVER_API_KEY=drv_... node examples/agent.ts
 *
 * Node 22.18 and later run it as it is. It takes tasks that require the capability `count-words`, until SIGTERM or
 * Ctrl-C.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const { DROVER_URL, DROVER_API_KEY = '', AGENT_ID } = process.env;
/** A real agent keeps its id between starts: it is its identity. */
const agent = AGENT_ID ?? randomUUID();

interface Claimed {
  run: { id: string; token: string };
  task: { id: string; inputContext: { text?: string }; checkpointData: Checkpoint };
}

interface Checkpoint {
  lines?: number;
  words?: number;
}

/** The server said no: `code` says why. */
class Refused extends Error {
  readonly code: string;

  constructor(problem: { code: string; title: string; detail?: string }) {
    super(`${problem.title}: ${problem.detail}`);
    this.code = problem.code;
  }
}

/** One request. What gets no answer, 429 or 503 is repeated: every report may be sent twice. */
async function call<T>(method: string, path: string, token: string, body: object): Promise<T> {
  for (let waitMs = 250; ; waitMs = Math.min(waitMs * 2, 5_000)) {
    const response = await fetch(`${DROVER_URL}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }).catch(() => undefined);
    if (response?.ok) return (await response.json()) as T;
    if (response && ![429, 503].includes(response.status)) {
      throw new Refused((await response.json()) as ConstructorParameters<typeof Refused>[0]);
    }
    const seconds = Number(response?.headers.get('retry-after') ?? 0);
    await sleep(Math.max(waitMs, seconds * 1_000));
  }
}

type Report = (method: string, path: string, body: object) => Promise<unknown>;

/** The work itself. A checkpoint says how far it is; a later run begins there. */
async function work({ inputContext, checkpointData }: Claimed['task'], report: Report) {
  const lines = (inputContext.text ?? '').split('\n');
  let { lines: done = 0, words = 0 } = checkpointData;
  for (const line of lines.slice(done)) {
    done += 1;
    words += line.split(/\s+/).filter(Boolean).length;
    await report('PATCH', 'progress', {
      progressPercent: Math.round((100 * done) / lines.length),
      checkpointData: { lines: done, words },
    });
  }
  return { words };
}

async function execute({ run, task }: Claimed): Promise<void> {
  const report: Report = (method, path, body) =>
    call(method, `/runs/${run.id}/${path}`, run.token, body);
  try {
    await report('POST', 'start', {});
    const outputResult = await work(task, report);
    // Work with a model says what that used, here or to POST /runs/:id/usage (docs/budgets.md):
    // usage: [{ id: 'call-1', model: 'claude-sonnet-4', inputTokens: 5200, outputTokens: 640 }]
    await report('POST', 'complete', { outputResult, summary: `${outputResult.words} words` });
  } catch (error) {
    // Cancelled, timed out, or given to somebody else: it is not ours any more.
    if (error instanceof Refused) return console.log(`gave up ${task.id}: ${error.code}`);
    const message = error instanceof Error ? error.message : String(error);
    await report('POST', 'fail', { error: { message, class: 'unknown' } });
  }
}

let stopping = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => (stopping = true));

await call('PUT', `/agents/${agent}`, DROVER_API_KEY, {
  name: `word counter ${agent}`,
  capabilities: ['count-words'],
  maxConcurrentTasks: 1,
  heartbeatIntervalSeconds: 10,
  staleThresholdSeconds: 45,
});
const { token } = await call<{ token: string }>(
  'POST',
  `/agents/${agent}/token`,
  DROVER_API_KEY,
  {},
);
const beat = () => call('POST', `/agents/${agent}/heartbeat`, token, { status: 'healthy' });
await beat();
// On a timer of their own: a long piece of work must not look like a death.
setInterval(() => void beat().catch(console.error), 10_000).unref();
console.log('ready');
while (!stopping) {
  // Waits for a task, and is answered within milliseconds of one becoming ready.
  const wanted = { maxTasks: 1, waitMs: 2_000 };
  const { tasks } = await call<{ tasks: Claimed[] }>(
    'POST',
    `/agents/${agent}/claim`,
    token,
    wanted,
  );
  for (const claimed of tasks) await execute(claimed);
}
await call('POST', `/agents/${agent}/deregister`, token, { reason: 'stopped' });
