import { newId } from '#lib/kernel';
import type { TestFleet } from '../../support/fleet.js';
import { anAgent, aWorkspace } from '../../support/factories.js';
import { aDependency, aHeldTask } from '../../support/task-factories.js';
import { waitFor } from '../../support/wait-for.js';
import { type HeldRun, PullAgent, type PullAgentOptions } from './pull-agent.js';
import { PushedWork } from './pushed-work.js';

const HOUR = 3_600;
const PAUSED = 'paused';
/**
 * The silence after which agents count as dead. The judging server must have listened for as long.
 */
export const SILENCE_SECONDS = 2;

/** Gives each step of the coordinator work in every round. */
export class Rounds {
  private readonly tasks: string[] = [];
  private readonly refused: string[] = [];
  private readonly circular: string[] = [];
  private readonly spenders: PullAgent[] = [];
  /** Workspaces whose tasks no agent can take. */
  private readonly killed: string[] = [];
  private readonly coders: PullAgent[] = [];

  private constructor(
    private readonly fleet: TestFleet,
    /** Sends heartbeats until it is stopped, so that the server receives some. */
    private readonly worker: PullAgent,
    /** Has never sent a heartbeat, so its runs have their own leases. */
    private readonly hand: PullAgent,
    /** Has sent one heartbeat, does not count as dead yet, and keeps its runs. */
    private readonly quiet: PullAgent,
    /** Has never sent a heartbeat either. Its tasks lose the reference to its runs. */
    private readonly stray: PullAgent,
    private readonly pushed: PushedWork | undefined,
  ) {}

  /**
   * @param pushed an agent for pushed tasks
   */
  static async start(fleet: TestFleet, pushed?: PushedWork): Promise<Rounds> {
    const many = { maxConcurrentTasks: 1_000, staleThresholdSeconds: HOUR };
    const worker = await PullAgent.register(fleet, { ...many, capabilities: ['work'] });
    await worker.startHeartbeats();
    const hand = await PullAgent.register(fleet, { ...many, capabilities: ['hand'] });
    const quiet = await PullAgent.register(fleet, { ...many, capabilities: ['quiet'] });
    const stray = await PullAgent.register(fleet, { ...many, capabilities: ['stray'] });
    const pause = { scope: 'task_type', taskType: PAUSED, reason: 'For a while' };
    await fleet.api.post('/pauses', pause);
    return new Rounds(fleet, worker, hand, quiet, stray, pushed);
  }

  /** Creates due work for each step, except for the steps that `damage` covers. */
  async prepare(): Promise<void> {
    await Promise.all([
      this.passedLeases(),
      this.passedWait(),
      this.silentAgent(),
      this.lostAgent(),
      this.archivedWorkspace(),
      this.killedWorkspace(),
      this.quietRun(),
      this.drainingAgent(),
      this.conflict(),
      this.usedUpBudget(),
      this.refusedRun(),
      this.overdueQuestion(),
      this.overdueReview(),
      this.usedBudget(),
      this.dueSchedule(),
      this.delayed(),
      this.task({ requiredCapabilities: ['heir'], concurrencyKey: newId() }),
      this.task({ requiredCapabilities: ['heir'], taskType: PAUSED }),
      this.task({ requiredCapabilities: ['push'] }),
      this.pushed?.heartbeat(),
    ]);
  }

  /**
   * Creates inconsistent rows for the steps that repair them. A leader searches once a minute, a
   * new leader at once.
   */
  async damage(): Promise<void> {
    await Promise.all([this.orphan(), this.miscount(), this.circle()]);
  }

  /** A running task that another task waits for. */
  async pair(): Promise<HeldRun> {
    const first = await this.task({ requiredCapabilities: ['work'] });
    await this.task({ requiredCapabilities: ['heir'], dependsOn: [first] });
    return this.worker.claim();
  }

  /** It completes: the coordinator learns it and must update the dependent. */
  async complete(run?: HeldRun): Promise<void> {
    await this.worker.complete(run ?? (await this.pair()));
  }

  /** Runs an agent that can do everything. Resolves when every task has finished. */
  async finish(): Promise<void> {
    await this.fleet.db.owner.query('UPDATE pauses SET until = now()');
    await this.pushed?.end();
    await this.fleet.db.owner.query(
      'UPDATE workspaces SET archived_at = now() WHERE id = ANY ($1::uuid[])',
      [this.killed],
    );
    // These agents were silent, and still work.
    for (const agent of [this.quiet, this.hand, ...this.spenders]) {
      for (const run of await agent.live()) await agent.complete(run);
    }
    await this.mergeChanges();
    const capabilities = [
      'work',
      'hand',
      'silent',
      'draining',
      'stray',
      'heir',
      'push',
      'asks',
      'kind:codex',
    ];
    const heir = await PullAgent.register(this.fleet, { capabilities });
    await heir.startHeartbeats();
    heir.work();
    await waitFor('all tasks to be over', async () => {
      const { rows } = await this.fleet.db.owner.query(
        `SELECT FROM agent_tasks t JOIN workspaces w ON w.id = t.workspace_id
           WHERE w.archived_at IS NULL AND status NOT IN ('COMPLETED', 'FAILED')
             AND (status <> 'ABORTED' OR retry_at IS NOT NULL)`,
      );
      return rows.length === 0;
    });
    await heir.leave();
    this.worker.stopHeartbeats();
  }

  /** Returns the ends of the tasks to complete, the impossible ones, and the ones in cycles. */
  async ends(): Promise<{ tasks: string[]; refused: string[]; circular: string[] }> {
    const { rows } = await this.fleet.db.owner.query<{ id: string; status: string }>(
      'SELECT id, status FROM agent_tasks',
    );
    const statuses = new Map(rows.map(({ id, status }) => [id, status]));
    const distinct = (ids: string[]) => [...new Set(ids.map((id) => statuses.get(id) ?? 'none'))];
    const { tasks, refused, circular } = this;
    return { tasks: distinct(tasks), refused: distinct(refused), circular: distinct(circular) };
  }

  private async task(values: Record<string, unknown>): Promise<string> {
    const id = await this.fleet.submit('', { maxRetries: 50, ...values });
    this.tasks.push(id);
    return id;
  }

  /**
   * Lets the lease of one run pass, the timeout of another, and hangs two, one of them after its
   * warning.
   */
  private async passedLeases(): Promise<void> {
    for (let n = 0; n < 4; n++) await this.task({ requiredCapabilities: ['hand'] });
    const runs = (await this.hand.tryClaim(0, { maxTasks: 4, leaseSeconds: HOUR })) ?? [];
    for (const run of runs) await this.hand.start(run);
    const [lease, timeout, hung, warned] = runs;
    await this.backdate('lease_expires_at', lease);
    await this.backdate('deadline_at', timeout);
    await this.backdate('hung_warned_at', warned);
    await this.backdate('started_at', hung);
    await this.fleet.db.owner.query(
      `UPDATE agent_tasks SET estimated_completion_at = now() - interval '1 hour' WHERE id = $1`,
      [hung?.taskId],
    );
  }

  /** Exhausts the budget of a workspace, whose budget before it has ended. */
  private async usedBudget(): Promise<void> {
    const { owner } = this.fleet.db;
    await owner.query(
      `WITH report AS (
         INSERT INTO agent_usage_logs (workspace_id, run_id, id, task_id, agent_id, model, input_tokens, output_tokens,
           cache_read_tokens, cache_write_tokens)
         VALUES ($1, uuidv7(), 'a report', uuidv7(), uuidv7(), 'a model', 10, 0, 0, 0))
       INSERT INTO usage_budgets (workspace_id, id, allocated, consumed, period_start, period_end)
       VALUES ($1, uuidv7(), 10, 10, now(), now() + interval '1 day'),
         ($1, uuidv7(), 10, 0, now() - interval '2 days', now() - interval '1 day')`,
      [await aWorkspace(owner)],
    );
  }

  private async passedWait(): Promise<void> {
    const id = await this.fleet.submit('', {
      requiredCapabilities: ['nobody'],
      queueExpiresInSeconds: HOUR,
    });
    this.refused.push(id);
    await this.fleet.db.owner.query(
      `UPDATE agent_tasks SET queue_expires_at = now() - interval '1 second' WHERE id = $1`,
      [id],
    );
  }

  private async silentAgent(): Promise<void> {
    const agent = await this.holder({ staleThresholdSeconds: SILENCE_SECONDS });
    await this.wasHeardLongAgo(agent);
  }

  private async lostAgent(): Promise<void> {
    const agent = await this.holder();
    await this.fleet.db.owner.query(
      `UPDATE agents SET lifecycle = 'ERROR', error_at = now() WHERE id = $1`,
      [agent.id],
    );
  }

  /** An archived workspace with a live run. */
  private async archivedWorkspace(): Promise<void> {
    const { owner } = this.fleet.db;
    const workspaceId = await aWorkspace(owner);
    await aHeldTask(owner, { workspaceId, agentId: await anAgent(owner, workspaceId) });
    await owner.query('UPDATE workspaces SET archived_at = now() WHERE id = $1', [workspaceId]);
  }

  /** A live run in a workspace with a kill switch, which is archived in the end. */
  private async killedWorkspace(): Promise<void> {
    const { owner } = this.fleet.db;
    const workspaceId = await aWorkspace(owner);
    await aHeldTask(owner, { workspaceId, agentId: await anAgent(owner, workspaceId) });
    await owner.query(
      `INSERT INTO pauses (workspace_id, id, reason, paused_by, ends_runs)
       SELECT $1, uuidv7(), 'why', id, true FROM users LIMIT 1`,
      [workspaceId],
    );
    this.killed.push(workspaceId);
  }

  /** Creates an agent with a task that many agents can do. */
  private async holder(values: PullAgentOptions = {}): Promise<PullAgent> {
    const agent = await PullAgent.register(this.fleet, { capabilities: ['silent'], ...values });
    await this.task({ requiredCapabilities: ['silent'] });
    await agent.tryClaim();
    return agent;
  }

  private async quietRun(): Promise<void> {
    await this.task({ requiredCapabilities: ['quiet'] });
    for (const run of (await this.quiet.tryClaim()) ?? []) await this.quiet.start(run);
    await this.wasHeardLongAgo(this.quiet);
  }

  /** Valkey is not involved, because it would have to forget the agent first. */
  private async wasHeardLongAgo({ id }: PullAgent): Promise<void> {
    await this.fleet.db.owner.query(
      `INSERT INTO agent_heartbeats AS h (workspace_id, agent_id, status, last_seen_at, next_expected_at)
       VALUES ($1, $2, 'healthy', now() - interval '1 minute', now())
       ON CONFLICT (workspace_id, agent_id) DO UPDATE
         SET last_seen_at = excluded.last_seen_at, next_expected_at = excluded.next_expected_at`,
      [this.fleet.workspaceId, id],
    );
  }

  /** An agent still works on a run that ended long ago, and this was recorded. */
  private async conflict(): Promise<void> {
    await this.fleet.db.owner.query(
      `UPDATE task_runs SET conflict_seen_at = now() WHERE id IN (
         SELECT r.id FROM task_runs r
         JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id
         WHERE r.state = 'FAILED' AND t.generation > r.generation AND r.conflict_seen_at IS NULL
         LIMIT 1)`,
    );
  }

  /** A running task whose budget has just been exhausted. */
  private async usedUpBudget(): Promise<void> {
    const holder = await PullAgent.register(this.fleet, { capabilities: ['budget'] });
    const scopeId = await this.task({ requiredCapabilities: ['budget'] });
    const [run] = (await holder.tryClaim(0, { leaseSeconds: HOUR })) ?? [];
    const runId = run?.runId ?? 'none';
    const [periodStart, periodEnd] = [-HOUR, HOUR].map((s) => new Date(Date.now() + s * 1_000));
    const budget = { scope: 'task', scopeId, allocated: 1, periodStart, periodEnd };
    await this.fleet.api.post('/budgets', budget);
    const report = { id: runId, model: 'claude-sonnet-4', inputTokens: 1, outputTokens: 0 };
    await holder.api.post(`/runs/${runId}/usage`, { reports: [report] });
    this.spenders.push(holder);
  }

  /** A running task with a model that its provider refuses. */
  private async refusedRun(): Promise<void> {
    const holder = await PullAgent.register(this.fleet, { capabilities: ['refused'] });
    await this.task({ requiredCapabilities: ['refused'] });
    const [run] = (await holder.tryClaim(0, { leaseSeconds: HOUR })) ?? [];
    if (run) await holder.start(run);
    const params = [this.fleet.workspaceId, run?.runId, holder.id];
    await this.fleet.db.owner.query(
      `WITH used AS (UPDATE task_runs SET model = 'gpt-5' WHERE workspace_id = $1 AND id = $2)
       INSERT INTO provider_limits (workspace_id, id, provider, covers, kind, until, over_at, run_id, agent_id)
       SELECT $1, uuidv7(), 'openai', '^gpt-5$', 'rate_limited', u, u, $2, $3
       FROM (SELECT now() + interval '1 hour') AS t (u) ON CONFLICT DO NOTHING`,
      params,
    );
    this.spenders.push(holder);
  }

  /** Nobody answers the question, so its task resumes with the default. */
  private async overdueQuestion(): Promise<void> {
    await this.task({ requiredCapabilities: ['asks'] });
    const asker = await PullAgent.register(this.fleet, { capabilities: ['asks'] });
    const run = await asker.claim({ leaseSeconds: HOUR });
    const question = {
      prompt: 'Which?',
      deadlineSeconds: HOUR,
      onDeadline: 'default',
      default: 'this',
    };
    await asker.api.post(`/runs/${run.runId}/questions`, question);
    await this.fleet.db.owner.query(
      `UPDATE questions SET deadline_at = now() WHERE workspace_id = $1 AND run_id = $2`,
      [this.fleet.workspaceId, run.runId],
    );
  }

  /** A task whose start has come. */
  private async delayed(): Promise<void> {
    const id = await this.task({ requiredCapabilities: ['heir'], delaySeconds: HOUR });
    await this.fleet.db.owner.query('UPDATE agent_tasks SET start_at = now() WHERE id = $1', [id]);
  }

  /** A schedule that is due, and then in an hour. */
  private async dueSchedule(): Promise<void> {
    const tasks = [{ taskType: 'test', requiredCapabilities: ['heir'] }];
    // A slow machine is late, and a late start is a start, too.
    const schedule = { name: newId(), everySeconds: HOUR, missed: 'all', tasks };
    const { id } = (await this.fleet.api.post<{ id: string }>('/schedules', schedule)).body;
    await this.fleet.db.owner.query(
      `UPDATE schedules SET anchored_at = anchored_at - interval '1 hour',
         due_at = due_at - interval '1 hour', start_at = now() WHERE id = $1`,
      [id],
    );
  }

  /** Reviews and lands what nobody has reviewed in time. */
  private async mergeChanges(): Promise<void> {
    const { rows } = await this.fleet.db.owner.query<{ id: string; head: string }>(
      `SELECT task_id AS id, head_commit AS head FROM changes WHERE state = 'IN_REVIEW'`,
    );
    for (const { id, head } of rows) {
      await this.fleet.api.post(`/changes/${id}/approve`, { headCommit: head });
      const { changeId, generation } = await claimStep(this.coders[0] as PullAgent);
      const merged = { generation, outcome: 'merged', commit: head };
      await this.coders[0]?.api.post(`/change-steps/${changeId}/report`, merged);
    }
  }

  /** Nobody reviews the change in time. */
  private async overdueReview(): Promise<void> {
    const agent = { review: 'agent', reviewer: { kind: 'codex' } };
    const repository = { name: newId(), url: 'https://example.com/shop.git', ...agent };
    const { body } = await this.fleet.api.post<{ id: string }>('/repositories', repository);
    await this.task({ repositoryId: body.id, requiredCapabilities: ['codes'] });
    const coder = await PullAgent.register(this.fleet, { capabilities: ['codes', 'git'] });
    this.coders.push(coder);
    const run = await coder.claim({ leaseSeconds: HOUR });
    const commit = 'a'.repeat(40);
    const submission = { baseCommit: commit, headCommit: commit, insertions: 1, deletions: 0 };
    await coder.api.post(`/runs/${run.runId}/submit`, { ...submission, filesChanged: 1 });
    const { changeId, generation } = await claimStep(coder);
    const green = { generation, outcome: 'green', commit };
    await coder.api.post(`/change-steps/${changeId}/report`, green);
    await this.fleet.db.owner.query(
      `UPDATE changes SET review_due_at = now() WHERE workspace_id = $1 AND task_id = $2`,
      [this.fleet.workspaceId, changeId],
    );
  }

  /** The same cycle ends its last run. */
  private async drainingAgent(): Promise<void> {
    const agent = await PullAgent.register(this.fleet, { capabilities: ['draining'] });
    await this.task({ requiredCapabilities: ['draining'] });
    const [run] = (await agent.tryClaim(0, { leaseSeconds: HOUR })) ?? [];
    await this.fleet.api.post(`/agents/${agent.id}/terminate`, { graceful: true });
    await this.backdate('lease_expires_at', run);
  }

  /** A task that names a run that never existed, and a live run that no task names. */
  private async orphan(): Promise<void> {
    await this.task({ requiredCapabilities: ['stray'] });
    const [run] = (await this.stray.tryClaim(0, { leaseSeconds: HOUR })) ?? [];
    await this.fleet.db.owner.query('UPDATE agent_tasks SET run_id = $2 WHERE id = $1', [
      run?.taskId,
      newId(),
    ]);
  }

  /** It is marked as waiting, but has no prerequisites. */
  private async miscount(): Promise<void> {
    const id = await this.task({ requiredCapabilities: ['heir'] });
    await this.fleet.db.owner.query(
      'UPDATE agent_tasks SET unmet_dependencies = 2, ready_at = NULL WHERE id = $1',
      [id],
    );
  }

  /** Two tasks that wait for each other, inserted without the check that refuses it. */
  private async circle(): Promise<void> {
    const { db, workspaceId } = this.fleet;
    const one = await this.fleet.submit('', { requiredCapabilities: ['heir'] });
    const other = await this.fleet.submit('', {
      requiredCapabilities: ['heir'],
      dependsOn: [one],
    });
    this.circular.push(one, other);
    await aDependency(db.owner, workspaceId, { taskId: one, dependsOnId: other });
  }

  private async backdate(
    column: 'lease_expires_at' | 'deadline_at' | 'hung_warned_at' | 'started_at',
    run: HeldRun | undefined,
  ): Promise<void> {
    await this.fleet.db.owner.query(
      `UPDATE task_runs SET ${column} = now() - interval '1 hour' WHERE id = $1`,
      [run?.runId],
    );
  }
}

async function claimStep({ api }: PullAgent): Promise<{ changeId: string; generation: number }> {
  type Work = { step: { changeId: string; generation: number } };
  return (await api.post<Work>('/change-steps/claim', {})).body.step;
}
