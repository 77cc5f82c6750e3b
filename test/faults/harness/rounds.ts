import type { TestFleet } from '../../support/fleet.js';
import { waitFor } from '../../support/wait-for.js';
import { type HeldRun, PullAgent } from './pull-agent.js';

const HOUR = 3_600;

/** Gives each step of the coordinator something to do, again and again. */
export class Rounds {
  private readonly tasks: string[] = [];
  private readonly refused: string[] = [];

  private constructor(
    private readonly fleet: TestFleet,
    /** Beats for as long as it is asked to, so that somebody is heard. */
    private readonly worker: PullAgent,
    /** Has never beaten: its runs have a lease of their own. */
    private readonly hand: PullAgent,
  ) {}

  static async start(fleet: TestFleet): Promise<Rounds> {
    const many = { maxConcurrentTasks: 1_000, staleThresholdSeconds: HOUR };
    const worker = await PullAgent.register(fleet, { ...many, capabilities: ['work'] });
    await worker.startBeating();
    const hand = await PullAgent.register(fleet, { ...many, capabilities: ['hand'] });
    return new Rounds(fleet, worker, hand);
  }

  /** A lease and a timeout that have passed, a wait that has, a silent agent, a draining one. */
  async prepare(): Promise<void> {
    await Promise.all([
      this.passedLeases(),
      this.passedWait(),
      this.silentAgent(),
      this.drainingAgent(),
    ]);
  }

  /** A task that another waits for, under way. */
  async pair(): Promise<HeldRun> {
    const first = await this.task({ requiredCapabilities: ['work'] });
    await this.task({ requiredCapabilities: ['heir'], dependsOn: [first] });
    return this.worker.claim();
  }

  /** It ends well: the coordinator is told, and is to tell the one that waits. */
  async complete(run?: HeldRun): Promise<void> {
    await this.worker.complete(run ?? (await this.pair()));
  }

  /** An agent that can do everything does it. Resolves when every task is over. */
  async finish(): Promise<void> {
    const capabilities = ['work', 'hand', 'silent', 'heir'];
    const heir = await PullAgent.register(this.fleet, { capabilities });
    await heir.startBeating();
    heir.work();
    await waitFor(
      'all tasks to be over',
      async () => {
        const { rows } = await this.fleet.db.owner.query(
          `SELECT FROM agent_tasks WHERE status NOT IN ('COMPLETED', 'FAILED')
             AND (status <> 'ABORTED' OR retry_at IS NOT NULL)`,
        );
        return rows.length === 0;
      },
      60_000,
    );
    await heir.leave();
    this.worker.stopBeating();
  }

  /** How the tasks have ended that are to be completed, and those that nobody could do. */
  async ends(): Promise<{ tasks: string[]; refused: string[] }> {
    const { rows } = await this.fleet.db.owner.query<{ id: string; status: string }>(
      'SELECT id, status FROM agent_tasks',
    );
    const statuses = new Map(rows.map(({ id, status }) => [id, status]));
    const distinct = (ids: string[]) => [...new Set(ids.map((id) => statuses.get(id) ?? 'none'))];
    return { tasks: distinct(this.tasks), refused: distinct(this.refused) };
  }

  private async task(values: Record<string, unknown>): Promise<string> {
    const id = await this.fleet.submit('', { maxRetries: 50, ...values });
    this.tasks.push(id);
    return id;
  }

  private async passedLeases(): Promise<void> {
    for (let n = 0; n < 2; n++) await this.task({ requiredCapabilities: ['hand'] });
    const runs = (await this.hand.tryClaim(0, { maxTasks: 2, leaseSeconds: HOUR })) ?? [];
    for (const run of runs) await this.hand.start(run);
    const [lease, timeout] = runs;
    await this.backdate('lease_expires_at', lease?.runId);
    await this.backdate('deadline_at', timeout?.runId);
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
    const capabilities = ['silent'];
    const agent = await PullAgent.register(this.fleet, { capabilities, staleThresholdSeconds: 2 });
    await agent.beat();
    await this.task({ requiredCapabilities: ['silent'] });
    await agent.tryClaim();
  }

  private async drainingAgent(): Promise<void> {
    const agent = await PullAgent.register(this.fleet, { capabilities: ['draining'] });
    await this.fleet.api.post(`/agents/${agent.id}/terminate`, { graceful: true });
  }

  private async backdate(
    column: 'lease_expires_at' | 'deadline_at',
    runId: string | undefined,
  ): Promise<void> {
    await this.fleet.db.owner.query(
      `UPDATE task_runs SET ${column} = now() - interval '1 hour' WHERE id = $1`,
      [runId],
    );
  }
}
