/**
 * The program that the gateway runs for a push agent in a chaos run. It works in steps with a
 * checkpoint each, and ends as `inputContext.kind` says. It always ends after a while, because
 * nobody cleans up after it.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const LIVES_MS = 12_000;
const STEP_MS = 250;

interface Work {
  task: {
    inputContext: { kind?: string; steps?: number };
    checkpointData?: { step?: number };
  };
  run: { id: string };
}

setTimeout(() => process.exit(70), LIVES_MS).unref();

const env = process.env;
const births = env['DROVER_CHAOS_BIRTHS'];
if (births) appendFileSync(births, `${process.pid}\n`);
const { task, run } = JSON.parse(readFileSync(env['DROVER_TASK_FILE'] ?? '', 'utf8')) as Work;

async function tell(method: string, report: string, body: object): Promise<void> {
  for (;;) {
    const status = await fetch(`${env['DROVER_API_URL']}/runs/${run.id}/${report}`, {
      method,
      headers: {
        authorization: `Bearer ${env['DROVER_RUN_TOKEN']}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(3_000),
    }).then(
      (answer) => answer.status,
      () => 503,
    );
    // The run belongs to another agent by now.
    if (status === 409 || status === 401) process.exit(0);
    if (status < 500 && status !== 429) return;
    await delay(200);
  }
}

const { kind = 'works', steps = 3 } = task.inputContext;
for (let step = (task.checkpointData?.step ?? 0) + 1; step <= steps; step++) {
  await delay(STEP_MS);
  const progressPercent = Math.round((100 * step) / steps);
  const usage = { model: 'claude-sonnet-4', inputTokens: 50, outputTokens: 10 };
  await tell('POST', 'usage', { reports: [{ id: `step-${step}`, ...usage }] });
  await tell('PATCH', 'progress', { progressPercent, checkpointData: { step } });
}
if (kind === 'dies') process.exit(3);
if (kind === 'hangs') await delay(LIVES_MS);
if (kind === 'fails') {
  await tell('POST', 'fail', { error: { message: 'on purpose', class: 'exit_code' } });
} else {
  await tell('POST', 'complete', { outputResult: { steps } });
}
process.exit(0);
