import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { expect } from '@jest/globals';
import { Cycle } from '#lib/coordinator';
import { Database } from '#lib/database';
import { checkInvariants } from '#lib/invariants';
import { type ApiAnswer, type ApiClient } from '../../support/api-client.js';
import type { TestApp, TestWorkspace } from '../../support/app.js';
import { readLook } from './look.js';
import { isBefore } from './rules.js';
import type { Agent, Model, Pulse, Task } from './state.js';

/** A cycle needs at most this number of rounds. */
const CYCLES_AT_MOST = 20;
/** A check takes about as long as a deed. */
const DEEDS_BETWEEN_CHECKS = 5;
const THRESHOLD_SECONDS = 2;
/** Below the tolerance of the invariants, and above the age that `lengthenWaits` treats as new. */
const A_WHILE = '20 seconds';
const noFence = () => Promise.resolve();

/** The real workspace behind the real HTTP API, on the real database. */
export class World {
  private deeds = 0;
  private readonly agents = new Map<string, ApiClient>();

  constructor(
    private readonly server: TestApp,
    private readonly workspace: TestWorkspace,
  ) {}

  get api(): ApiClient {
    return this.workspace.api;
  }

  as(agent: Agent): ApiClient {
    return this.agents.get(agent.id) as ApiClient;
  }

  async newAgent(room: number, pulse: Pulse): Promise<string> {
    const { id, api } = await this.workspace.newAgent({ maxConcurrentTasks: room });
    this.agents.set(id, api);
    if (pulse !== 'mute') await this.heartbeat(id, pulse);
    return id;
  }

  /**
   * Writes the rows that heartbeats would write. An agent that sends heartbeats stays heard for a
   * day. An agent that has missed some is unresponsive for an hour, and has a threshold of a day. A
   * dead agent keeps its usual threshold.
   */
  async heartbeat(agentId: string, pulse: Pulse): Promise<void> {
    const { owner } = this.server.db;
    const seconds = pulse === 'missed' ? 86_400 : THRESHOLD_SECONDS;
    await owner.query(
      'UPDATE agents SET heartbeat_interval_seconds = 1, stale_threshold_seconds = $2 WHERE id = $1',
      [agentId, seconds],
    );
    await owner.query(
      `INSERT INTO agent_heartbeats (workspace_id, agent_id, status, last_seen_at, next_expected_at)
       SELECT $1, $2, 'healthy', now() + make_interval(hours => $3), now() + make_interval(hours => $3)
       ON CONFLICT (workspace_id, agent_id) DO UPDATE SET last_seen_at = excluded.last_seen_at,
         next_expected_at = excluded.next_expected_at`,
      [this.workspace.id, agentId, pulse === 'heartbeats' ? 24 : -1],
    );
  }

  async letLeasePass(runId: string): Promise<void> {
    const sql = `UPDATE task_runs SET lease_expires_at = now() - interval '${A_WHILE}' WHERE id = $1`;
    await this.server.db.owner.query(sql, [runId]);
  }

  async letRetryComeDue(taskId: string): Promise<void> {
    const sql = `UPDATE agent_tasks SET retry_at = now() - interval '${A_WHILE}' WHERE id = $1`;
    await this.server.db.owner.query(sql, [taskId]);
  }

  async letSilencePass(runId: string): Promise<void> {
    const sql = `UPDATE task_runs SET started_at = started_at - interval '1 hour',
      last_progress_at = last_progress_at - interval '1 hour' WHERE id = $1`;
    await this.server.db.owner.query(sql, [runId]);
  }

  async letEstimatePass(taskId: string): Promise<void> {
    const sql = `UPDATE agent_tasks SET estimated_completion_at = now() - interval '1 hour'
      WHERE id = $1 AND estimated_completion_at IS NOT NULL`;
    await this.server.db.owner.query(sql, [taskId]);
  }

  async letWarningAge(runId: string): Promise<void> {
    const sql = `UPDATE task_runs SET hung_warned_at = now() - interval '20 minutes' WHERE id = $1`;
    await this.server.db.owner.query(sql, [runId]);
  }

  async letDeadlinePass(questionId: string): Promise<void> {
    const sql = `UPDATE questions SET deadline_at = now() - interval '${A_WHILE}' WHERE id = $1`;
    await this.server.db.owner.query(sql, [questionId]);
  }

  /** Moves the switch into the past: it was created an hour ago, and has ended. */
  async letSwitchEnd(id: string): Promise<void> {
    const sql = `UPDATE pauses SET created_at = now() - interval '1 hour', until = now() - interval '1 minute'
      WHERE id = $1`;
    await this.server.db.owner.query(sql, [id]);
  }

  /** Full jitter can make a long wait short. Here it is always long. */
  async lengthenWaits(): Promise<void> {
    await this.server.db.owner.query(
      `UPDATE agent_tasks SET retry_at = retry_at + interval '1 day'
       WHERE workspace_id = $1 AND status = 'ABORTED' AND retry_backoff_seconds > 0 AND abort_reason <> 'released'
         AND retry_at BETWEEN now() - interval '10 seconds' AND now() + interval '2 hours'`,
      [this.workspace.id],
    );
  }

  /** Checks the invariants of this workspace every few deeds. */
  async checkNowAndThen(): Promise<void> {
    this.deeds += 1;
    if (this.deeds % DEEDS_BETWEEN_CHECKS === 0) await this.checkInvariants();
  }

  async checkInvariants(): Promise<void> {
    const tenant = this.server.app.get(Database, { strict: false }).tenant(this.workspace.id);
    const outcomes = await checkInvariants(tenant);
    expect(outcomes.filter(({ holds: isRight }) => !isRight)).toEqual([]);
  }

  /** Sweeps handle all workspaces, so this walk leaves no work for later ones. */
  async leave(): Promise<void> {
    const { owner } = this.server.db;
    await owner.query(
      'UPDATE pauses SET ended_at = now() WHERE workspace_id = $1 AND ended_at IS NULL',
      [this.workspace.id],
    );
    // An agent that has missed only some heartbeats would be unresponsive for too long at the end
    // of a long test.
    await owner.query(
      `UPDATE agent_heartbeats SET last_seen_at = now() + interval '1 day' WHERE workspace_id = $1`,
      [this.workspace.id],
    );
  }

  /** Runs the coordinator's cycle until it moves nothing. */
  async sweep(): Promise<void> {
    const cycle = (this.server.app as NestFastifyApplication).get(Cycle, { strict: false });
    let busy: string[] = [];
    for (let count = 0; count < CYCLES_AT_MOST; count++) {
      const { steps } = await cycle.run(noFence, noFence);
      const failed = steps.filter((step) => step.error !== null);
      if (failed.length > 0) throw new Error(`steps failed: ${JSON.stringify(failed)}`);
      busy = steps.filter((step) => step.moved > 0).map(({ step }) => step);
      if (busy.length === 0) return;
    }
    throw new Error(`${busy.join(', ')} still moves something after ${CYCLES_AT_MOST} cycles`);
  }

  /** Returns the tasks that can be handed out, in their order. */
  async queue(): Promise<string[]> {
    const { rows } = await this.server.db.owner.query<{ id: string }>(
      `SELECT id FROM agent_tasks WHERE workspace_id = $1 AND status = 'PENDING' AND unmet_dependencies = 0
       ORDER BY priority DESC, ready_at`,
      [this.workspace.id],
    );
    return rows.map(({ id }) => id);
  }

  /** Returns everything that the model predicts. */
  async look(): Promise<object> {
    return readLook(this.server.db.owner, this.workspace.id);
  }
}

/** Returns tasks of the queue that follow one which the model places behind them. */
export function misplaced({ tasks }: Model, queue: readonly string[]): string[] {
  const inQueue = queue.map((id) => tasks.find((task) => task.id === id) as Task);
  return queue.filter((_, n) =>
    inQueue.slice(0, n).some((earlier) => isBefore(inQueue[n] as Task, earlier)),
  );
}

export function verdictOf({ status, body }: ApiAnswer): unknown {
  return status < 300 ? status : body['code'];
}
