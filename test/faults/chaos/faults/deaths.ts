import { setTimeout as delay } from 'node:timers/promises';
import type { ChaosPostgres } from '../stage/postgres.js';

interface Death {
  agent: string;
  atMs: number;
  runs: string[];
}

export interface Spread {
  p50: number | null;
  p99: number | null;
  max: number | null;
  samples: number;
}

const LOOK_WITHIN_MS = 700;

/**
 * Measures the time from the SIGKILL of a worker until its tasks run elsewhere, or in its next
 * process.
 */
export class Deaths {
  private readonly deaths: Death[] = [];

  constructor(private readonly postgres: ChaosPostgres) {}

  /** Reads the runs that the kill will end. Nothing is known while the database does not answer. */
  async about(agent: string): Promise<{ happened: () => void }> {
    const looking = this.postgres.owner.query<{ id: string }>(
      `SELECT r.id FROM task_runs r JOIN agents a ON a.workspace_id = r.workspace_id AND a.id = r.agent_id
       WHERE a.name = $1 AND r.state IN ('WORKING', 'STALE')`,
      [agent],
    );
    looking.catch(() => undefined);
    const late = delay(LOOK_WITHIN_MS, undefined, { ref: false });
    const found = await Promise.race([looking.catch(() => undefined), late]);
    const runs = found?.rows.map((row) => row.id) ?? [];
    return { happened: () => void this.deaths.push({ agent, atMs: Date.now(), runs }) };
  }

  /** Measures lost runs whose task resumed without help, by this machine's clock. */
  async recoveries(): Promise<Spread> {
    const times: number[] = [];
    for (const { atMs, runs } of this.deaths) {
      const rows = await this.postgres.rows<{ ms: number }>(
        `SELECT (extract(epoch FROM next.started_at) * 1000 - $2)::float8 AS ms
         FROM task_runs lost JOIN task_runs next ON next.workspace_id = lost.workspace_id
           AND next.task_id = lost.task_id AND next.generation = lost.generation + 1
         WHERE lost.id = ANY($1::uuid[]) AND lost.state = 'FAILED'
           AND lost.end_reason IN ('agent_stale', 'infrastructure', 'lease_expired')
           AND next.started_at IS NOT NULL
           AND NOT EXISTS (
             SELECT FROM agent_task_logs l WHERE l.workspace_id = lost.workspace_id AND l.task_id = lost.task_id
               AND l.actor_kind IN ('user', 'api_key') AND l.task_version IS NOT NULL
               AND l.created_at BETWEEN lost.ended_at AND next.assigned_at)`,
        [runs, atMs],
      );
      times.push(...rows.map((row) => Math.round(row.ms)).filter((ms) => ms > 0));
    }
    return spreadOf(times);
  }
}

function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number | null =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? null;
  return { p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? null, samples: sorted.length };
}
