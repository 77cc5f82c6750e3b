import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database } from '#lib/database';
import { assertNever, COORDINATOR, DroverError } from '#lib/kernel';
import { instruments } from '#lib/observability';
import { HeldSecrets } from '#lib/secrets';
import { type Reporter } from '../../reports/reporter.js';
import { RunReports } from '../../reports/run-reports.js';
import { type AfterSpawn, afterSpawn } from '../domain/spawn.js';
import { GatewayClient } from '../gateway/gateway-client.js';
import type { DueSpawn } from './due-spawns.sql.js';
import { postponeSpawn, settleSpawn } from './settle-spawn.sql.js';
import { SpawnRequests } from './spawn-requests.js';

/** One call to the gateway for one intent, and its consequences. */
@Injectable()
export class SpawnAttempts {
  constructor(
    private readonly database: Database,
    private readonly gateway: GatewayClient,
    private readonly reports: RunReports,
    private readonly secrets: HeldSecrets,
    private readonly requests: SpawnRequests,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  async make(spawn: DueSpawn): Promise<void> {
    if (!spawn.is_current) return this.giveUp(spawn);
    if (spawn.broke_off && this.config.gateway.isBasic) return this.unknown(spawn, BROKE_OFF);
    if (this.breaksOff(spawn)) {
      const message = `No session after ${spawn.attempts - 1} attempts, the last of which broke off`;
      return this.failed(spawn, { kind: 'failed', message, retryable: true });
    }
    const holder = { workspaceId: spawn.workspace_id, agentId: spawn.agent_id };
    const [opened] = await this.secrets.openForRuns(holder, [spawn]);
    // The run has failed, and the intent is closed with it.
    if (!opened) return;
    const { command, agent_secrets: secrets } = spawn;
    const agent = await this.secrets.openForSession(holder, spawn, { command, secrets });
    if (!agent) return;
    const request = await this.requests.make(spawn, opened, agent);
    if (request === undefined) {
      const message = 'A credential for a host cannot be opened: set it again';
      return this.failed(spawn, { kind: 'failed', message, retryable: false });
    }
    const result = await this.gateway.spawn(request);
    const attempt = { attempts: spawn.attempts, ageSeconds: spawn.age_seconds };
    const { spawnAttempts: maxAttempts, spawnDeadlineSeconds: deadlineSeconds } =
      this.config.gateway;
    const policy = { maxAttempts, deadlineSeconds };
    await this.follow(spawn, afterSpawn(result, attempt, policy, Math.random()));
  }

  /**
   * An attempt is judged after its result. An attempt that breaks off each time never gets there.
   */
  private breaksOff({ attempts, age_seconds: age }: DueSpawn): boolean {
    const { spawnAttempts, spawnDeadlineSeconds } = this.config.gateway;
    return attempts > spawnAttempts && age > spawnDeadlineSeconds;
  }

  private follow(spawn: DueSpawn, next: AfterSpawn): Promise<void> {
    switch (next.kind) {
      case 'spawned':
        return this.spawned(spawn, next);
      case 'again':
        return this.postpone(spawn, next);
      case 'unknown':
        return this.unknown(spawn, next.message);
      case 'failed':
        return this.failed(spawn, next);
      default:
        return assertNever(next);
    }
  }

  private async spawned(
    spawn: DueSpawn,
    { answer, begun }: Extract<AfterSpawn, { kind: 'spawned' }>,
  ): Promise<void> {
    const { session, gateway } = answer;
    const place = [gateway.id, gateway.bootId, session.sessionKey, gateway.sequence];
    await this.settle(spawn, 'SPAWNED', [null, ...place]);
    instruments.sessionsSpawned.inc();
    if (!begun) return;
    const started = await this.acceptsReport(
      this.reports.start(reporterOf(spawn), { sessionKey: session.sessionKey }),
    );
    // The run was cancelled during the spawn. If this call gets lost, the answer to the gateway's
    // next heartbeat tells it.
    if (!started) await this.gateway.stop(spawn.run_id, this.config.tasks.cancelGraceSeconds);
  }

  private async postpone(
    spawn: DueSpawn,
    { delayMs, message, counts }: Extract<AfterSpawn, { kind: 'again' }>,
  ): Promise<void> {
    const { workspace_id: workspaceId, run_id: runId } = spawn;
    const params = [workspaceId, runId, delayMs / 1_000, message, counts];
    await this.database.service.rows(postponeSpawn, params);
  }

  /**
   * While a session may exist, no second one can be requested: the run keeps its lease. A session
   * that reports renews the lease. Otherwise the lease expires together with the run's token, and
   * the task is retried.
   */
  private async unknown(spawn: DueSpawn, why: string): Promise<void> {
    const message = `${why}. There may be a session: it is waited for until its lease has passed`;
    const entry = { level: 'WARN', event: 'spawn_unknown', message };
    await this.reports.note(reporterOf(spawn), entry);
    await this.settle(spawn, 'FAILED', [why, null, null, null, 0]);
  }

  /** The run first: if this server dies between the two, the intent is cancelled with the run. */
  private async failed(
    spawn: DueSpawn,
    { message, retryable }: Extract<AfterSpawn, { kind: 'failed' }>,
  ): Promise<void> {
    const error = { message, class: 'spawn_failed' as const, retryable };
    await this.acceptsReport(this.reports.fail(reporterOf(spawn), { error }));
    await this.settle(spawn, 'FAILED', [message, null, null, null, 0]);
    // A lost answer may have been a success.
    if (retryable) await this.gateway.stop(spawn.run_id, this.config.tasks.cancelGraceSeconds);
  }

  /**
   * The release is refused if the run has ended, its task was paused before a session could hear of
   * it, or its workspace was archived. Then the coordinator ends the run.
   */
  private async giveUp(spawn: DueSpawn): Promise<void> {
    await this.acceptsReport(this.reports.release(reporterOf(spawn), { reason: 'paused' }));
    await this.settle(spawn, 'CANCELLED', [null, null, null, null, 0]);
    if (spawn.attempts > 1) {
      await this.gateway.stop(spawn.run_id, this.config.tasks.cancelGraceSeconds);
    }
  }

  private settle(spawn: DueSpawn, state: string, details: unknown[]): Promise<unknown> {
    const params = [spawn.workspace_id, spawn.run_id, state, ...details];
    return this.database.service.rows(settleSpawn, params);
  }

  /**
   * @returns true if the report was accepted; false if the run is no longer its task's
   */
  private async acceptsReport(report: Promise<unknown>): Promise<boolean> {
    try {
      await report;
      return true;
    } catch (error) {
      const refused = error instanceof DroverError && REFUSALS.has(error.code);
      if (refused) return false;
      throw error;
    }
  }
}

const BROKE_OFF = 'The server ended, or lost its database, while it asked the gateway';
const REFUSALS = new Set(['stale_run', 'illegal_transition', 'run_not_found']);

function reporterOf(spawn: DueSpawn): Reporter {
  const { workspace_id: workspaceId, run_id: runId, agent_id: agentId } = spawn;
  return { workspaceId, agentId, runId, actor: COORDINATOR };
}
