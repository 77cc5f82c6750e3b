import { setTimeout as delay } from 'node:timers/promises';
import { budgetsAddUp } from '../../../../libs/dev/invariants/checks/budgets-add-up.sql.js';
import type { Findings } from '../findings.js';
import type { ChaosPostgres } from '../stage/postgres.js';

const EVERY_MS = 500;

const SAMPLE = `
WITH live AS (
  SELECT workspace_id, agent_id, task_id FROM task_runs
  WHERE state IN ('ASSIGNED', 'WORKING', 'IN_REVIEW', 'APPROVED', 'STALE')
),
busy AS (SELECT agent_id, count(*)::int AS runs FROM live GROUP BY 1),
twice AS (SELECT task_id, count(*)::int AS runs FROM live GROUP BY 1 HAVING count(*) > 1)
SELECT 'agent ' || a.name AS subject, 'holds ' || b.runs || ' of ' || a.max_concurrent_tasks || ' runs' AS problem
FROM agents a JOIN busy b ON b.agent_id = a.id WHERE b.runs > a.max_concurrent_tasks
UNION ALL
SELECT 'agent ' || a.name, 'counts ' || a.live_runs || ' runs, and has ' || coalesce(b.runs, 0)
FROM agents a LEFT JOIN busy b ON b.agent_id = a.id WHERE a.live_runs <> coalesce(b.runs, 0)
UNION ALL
SELECT 'task ' || task_id, 'has ' || runs || ' live runs' FROM twice
LIMIT 5`;

const BACKLOG = `SELECT count(*)::int AS open FROM agent_tasks
  WHERE status IN ('PENDING', 'ASSIGNED', 'RUNNING', 'ABORTED') AND (status <> 'ABORTED' OR retry_at IS NOT NULL)`;

/** Polls during the run for states that must never exist. */
export class Watch {
  /** The number of queued and running tasks at the last poll. */
  backlog = 0;
  /** The number of polls. */
  samples = 0;
  private stopped = false;
  private readonly watching: Promise<void>;

  constructor(
    private readonly postgres: ChaosPostgres,
    private readonly findings: Findings,
  ) {
    this.watching = this.watch();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.watching;
  }

  private async watch(): Promise<void> {
    while (!this.stopped) {
      // No poll is possible while the database is away.
      await this.look().catch(() => undefined);
      await delay(EVERY_MS);
    }
  }

  private async look(): Promise<void> {
    const { owner } = this.postgres;
    for (const sample of [SAMPLE, { text: budgetsAddUp.sql.text, values: [5] }]) {
      const { rows } = await owner.query<{ subject: string; problem: string }>(sample);
      for (const { subject, problem } of rows)
        this.findings.add('at_every_moment', subject, problem);
    }
    this.samples += 1;
    this.backlog = (await owner.query<{ open: number }>(BACKLOG)).rows[0]?.open ?? 0;
  }
}
