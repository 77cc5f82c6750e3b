import { Inject, Injectable } from '@nestjs/common';
import { revivePushAgents } from '#lib/agent-manager';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow } from '#lib/database';
import { Logger } from '#lib/observability';
import { LostSessions } from '../../leases/lost-sessions.js';
import { noteConflictsOfSessions } from '../../store/conflicts.sql.js';
import { WakeUps } from '#lib/valkey';
import {
  heartbeatForAgents,
  type HeartbeatRow,
  type HeldSession,
  heldSessions,
  recordGatewayHeartbeat,
  announceSecondSessions,
} from './gateways.sql.js';

export interface GatewayHeartbeat {
  gatewayId: string;
  bootId: string;
  startedAt: string;
  /** Increases with each heartbeat of a life. */
  sequence: number;
  version?: string;
  capacity: number;
  running: number;
  queued: number;
  draining?: boolean;
  sessions: readonly { runId: string }[];
  /** Runs whose sessions have ended and whose reports are still to come. */
  ended?: readonly string[];
}

export interface HeartbeatAnswer {
  acknowledgedAt: string;
  restarted: boolean;
  stop: { runId: string; reason: string; graceSeconds: number }[];
}

const REVIVED_AT_ONCE = 500;
/**
 * A gateway's token is valid for 90 s at most, tolerance included: an older heartbeat is refused.
 */
const OUTDATED_SECONDS = 120;

/**
 * A gateway's heartbeat counts for every agent whose sessions it holds. A new boot id reveals a
 * restart: sessions that it no longer has are recovered at once. A heartbeat that arrives after a
 * newer one is answered, but proves nothing.
 */
@Injectable()
export class GatewayHeartbeats {
  constructor(
    private readonly database: Database,
    private readonly lost: LostSessions,
    private readonly wakeUps: WakeUps,
    private readonly logger: Logger,
    @Inject(CONFIG) private readonly config: Pick<Config, 'tasks'>,
  ) {}

  async heartbeat(heartbeat: GatewayHeartbeat): Promise<HeartbeatAnswer> {
    const { service } = this.database;
    const recorded = (await firstRow(
      service,
      recordGatewayHeartbeat,
      paramsOf(heartbeat),
    )) as HeartbeatRow;
    const { newest, begins, restarted, now } = recorded;
    const { gatewayId, sessions, ended = [] } = heartbeat;
    const running = new Set(sessions.map(({ runId }) => runId.toLowerCase()));
    const known = [...running, ...ended];
    const held = await service.rows(heldSessions, [known, gatewayId]);
    const stray = held.filter(({ run_id, action }) => action === 'stop' && running.has(run_id));
    if (newest) {
      await this.keepAlive(held);
      await this.noteConflicts(gatewayId, stray);
      await this.recover(heartbeat, known, restarted);
      await this.offerTasks(begins);
    }
    const graceSeconds = this.config.tasks.cancelGraceSeconds;
    return {
      acknowledgedAt: now.toISOString(),
      restarted,
      stop: stray.map(({ run_id: runId, reason }) => ({
        runId,
        graceSeconds,
        reason: reason ?? 'stale_run',
      })),
    };
  }

  private async keepAlive(held: readonly HeldSession[]): Promise<void> {
    const { service } = this.database;
    const kept = held.filter(({ action, agent_id }) => action !== 'stop' && agent_id !== null);
    const agents = [kept.map((one) => one.workspace_id), kept.map((one) => one.agent_id)];
    await service.rows(heartbeatForAgents, agents);
  }

  private async noteConflicts(gatewayId: string, stray: readonly HeldSession[]): Promise<void> {
    if (stray.length === 0) return;
    const { service } = this.database;
    const of = stray.map(({ run_id }) => run_id);
    await service.rows(noteConflictsOfSessions, [of]);
    const announced = await service.rows(announceSecondSessions, [of, gatewayId]);
    for (const { run_id: runId, gateway_id: rightful } of announced) {
      this.logger.warn('Second session of a run found at another gateway', {
        runId,
        gatewayId,
        rightful,
      });
    }
  }

  /** Tasks may have waited for a gateway, or for agents that count as dead without one. */
  private async offerTasks(begins: boolean): Promise<void> {
    const revived = await this.database.service.rows(revivePushAgents, [REVIVED_AT_ONCE]);
    if (begins || revived.length > 0) this.wakeUps.coordinator();
  }

  /** The heartbeat names all its sessions, so every other session spawned there is gone. */
  private async recover(
    { gatewayId, bootId, sequence }: GatewayHeartbeat,
    runIds: string[],
    restarted: boolean,
  ): Promise<void> {
    const recovered = await this.lost.recover({ gatewayId, bootId, sequence, runIds });
    if (recovered === 0 && !restarted) return;
    this.logger.warn(restarted ? 'Gateway restarted' : 'Gateway lost sessions', {
      gatewayId,
      restarted,
      recovered,
    });
  }
}

function paramsOf(heartbeat: GatewayHeartbeat): unknown[] {
  const { gatewayId, bootId, startedAt, version, capacity, running, queued, draining } = heartbeat;
  const state = [capacity, running, queued, draining ?? false];
  const order = [heartbeat.sequence, OUTDATED_SECONDS, heartbeat.sessions.length];
  return [gatewayId, bootId, startedAt, version ?? null, ...state, ...order];
}
