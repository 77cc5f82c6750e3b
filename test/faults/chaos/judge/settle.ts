import { setTimeout as delay } from 'node:timers/promises';
import type { Findings } from '../findings.js';
import type { Client } from '../load/client.js';
import { QUIET_WITHIN_MS } from '../settings.js';
import type { Stage } from '../stage/stage.js';

const LOOK_EVERY_MS = 300;

interface Open {
  id: string;
  status: string;
  blocked: boolean;
  about: string;
}

/**
 * Returns unfinished tasks. A task is blocked if its prerequisite has failed or is blocked itself.
 */
const OPEN = `
WITH RECURSIVE open AS MATERIALIZED (
  SELECT * FROM agent_tasks t WHERE status IN ('PENDING', 'ASSIGNED', 'RUNNING', 'PAUSED')
    OR (status = 'ABORTED' AND retry_at IS NOT NULL)
),
blocked AS (
  SELECT o.id FROM open o
  JOIN task_dependencies d ON d.workspace_id = o.workspace_id AND d.task_id = o.id AND d.settled_at IS NULL
  JOIN agent_tasks p ON p.workspace_id = d.workspace_id AND p.id = d.depends_on_id
  WHERE o.status = 'PENDING' AND d.policy = 'block'
    AND (p.status = 'FAILED' OR (p.status = 'ABORTED' AND p.retry_at IS NULL)
      OR (p.status = 'ARCHIVED' AND p.completed_at IS NULL))
)
SELECT o.id, o.status, o.id IN (SELECT id FROM blocked) AS blocked,
  format('%s, version %s, run %s, %s unmet, retry at %s, ready at %s, type %s, last error: %s', o.status,
    o.version, o.run_id, o.unmet_dependencies, o.retry_at, o.ready_at, o.task_type, o.last_error) AS about
FROM open o ORDER BY o.id`;

/**
 * Waits until all tasks have finished: paused tasks are resumed, and blocked ones are cancelled. An
 * unfinished task at the limit is a finding.
 *
 * @returns the time that it took, in ms
 */
export async function settle(
  stage: Stage,
  client: Client,
  { findings, signal }: { findings: Findings; signal: AbortSignal },
): Promise<number> {
  await endHolds(client, signal);
  await endWants(stage, client, signal);
  const began = performance.now();
  const isLate = (): boolean => performance.now() - began > QUIET_WITHIN_MS;
  let open: Open[] = [];
  while (!signal.aborted) {
    open = await stage.postgres.rows<Open>(OPEN);
    if (open.length === 0 || isLate()) break;
    for (const task of open) await help(task, client, signal);
    await delay(LOOK_EVERY_MS);
  }
  for (const { id, about } of open) findings.add('ends', `task ${id}`, about);
  const tookMs = performance.now() - began;
  let unpublished = 1;
  while (!signal.aborted && unpublished > 0 && !isLate()) {
    const sql =
      'SELECT count(*)::int AS n FROM journal WHERE id > (SELECT min(position) FROM event_consumers)';
    unpublished = (await stage.postgres.rows<{ n: number }>(sql))[0]?.n ?? 0;
    if (unpublished > 0) await delay(LOOK_EVERY_MS);
  }
  if (unpublished > 0) findings.add('published', 'events', `${unpublished} were never published`);
  return Math.round(tookMs);
}

/** No agent is left to end them. */
async function endHolds(client: Client, signal: AbortSignal): Promise<void> {
  const ask = { operation: 'settle_unhold', path: '/pauses?limit=100', expects: [200] } as const;
  const answer = await client.ask({ ...ask, method: 'GET' }, signal);
  const { items = [] } = (answer?.body ?? {}) as { items?: { id: string }[] };
  for (const { id } of items) {
    await client.ask({ ...ask, method: 'DELETE', path: `/pauses/${id}` }, signal);
  }
}

/** Nobody moves tokens any more to milestones whose budget is exhausted. */
async function endWants({ people }: Stage, client: Client, signal: AbortSignal): Promise<void> {
  const [ofAll, ...ofMilestones] = people.budgets.ids;
  const path = `/budgets/${ofAll}/reallocate`;
  for (const to of ofMilestones) {
    const body = { to, amount: 10 ** 9 };
    await client.ask(
      { operation: 'settle_reallocate', method: 'POST', path, body, expects: [200] },
      signal,
    );
  }
}

async function help(
  { id, status, blocked }: Open,
  client: Client,
  signal: AbortSignal,
): Promise<void> {
  const command = status === 'PAUSED' ? 'resume' : blocked ? 'cancel' : undefined;
  if (command === undefined) return;
  const path = `/agent-tasks/${id}/${command}`;
  const asked = { operation: `settle_${command}`, method: 'POST', path, body: {} } as const;
  await client.ask({ ...asked, expects: [200, 409] }, signal);
}
