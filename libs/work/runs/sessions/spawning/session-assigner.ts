import { Inject, Injectable } from '@nestjs/common';
import { SpawnRates } from '#lib/admission';
import { revivePushAgents } from '#lib/agent-manager';
import { CONFIG, type Config } from '#lib/config';
import { Database, type Fence, firstRow, type Transaction } from '#lib/database';
import { type Allowance } from '../../domain/plan-assignments.js';
import { type SpawnAllowance, TaskAssignment } from '../../assignment/task-assignment.js';
import { type SweepResult } from '#lib/transitions';
import { GatewayClient } from '../gateway/gateway-client.js';
import { BASIC_GATEWAY, noteBasicGateway } from '../store/note-basic-gateway.sql.js';
import { closeSpawns } from './settle-spawn.sql.js';
import { servedWorkspaces } from './served-workspaces.sql.js';
import { spawnRoom } from './spawn-room.sql.js';
import { Spawner } from './spawner.js';

const REVIVED_AT_ONCE = 500;

/**
 * The coordinator's step that assigns tasks to push agents, as many as the gateways have room for.
 */
@Injectable()
export class SessionAssigner implements SpawnAllowance {
  private served: ReadonlySet<string> = new Set();

  constructor(
    private readonly database: Database,
    private readonly assignment: TaskAssignment,
    private readonly gateway: GatewayClient,
    private readonly spawner: Spawner,
    private readonly rates: SpawnRates,
    @Inject(CONFIG) private readonly config: Pick<Config, 'gateway'>,
  ) {}

  async sweep(fence: Fence, limit: number): Promise<SweepResult> {
    if (!this.gateway.configured) return { moved: 0, more: false, byWorkspace: new Map() };
    const { service } = this.database;
    await this.noteBasicGateway();
    const served = await service.rows(servedWorkspaces);
    this.served = new Set(served.map((row) => row.workspace_id));
    await service.transaction(async (tx) => {
      await fence(tx);
      await tx.rows(closeSpawns, [limit]);
    });
    const result = await this.assignment.assign(fence, limit, this);
    if (result.moved > 0) this.spawner.ring();
    return result;
  }

  /** True if a ready task of the workspace could be for a push agent, as of the last sweep. */
  serves(workspaceId: string): boolean {
    return this.served.has(workspaceId);
  }

  async of(tx: Transaction, workspaceIds: readonly string[]): Promise<Allowance> {
    const none = { total: 0, ofWorkspace: new Map<string, number>() };
    if (this.gateway.circuitOpen) return none;
    const row = await firstRow(tx, spawnRoom, [this.config.gateway.staleSeconds]);
    const room = Math.max(0, row?.room ?? 0);
    if (room === 0) return none;
    const { total, ofWorkspace } = await this.rates.allowances(tx, workspaceIds);
    return { total: Math.min(room, total), ofWorkspace };
  }

  /** With the basic protocol, sessions renew their leases with their own reports. */
  get leaseByHeartbeat(): boolean {
    return !this.config.gateway.isBasic;
  }

  spend(tx: Transaction, spawned: ReadonlyMap<string, number>): Promise<void> {
    return this.rates.spend(tx, spawned);
  }

  private async noteBasicGateway(): Promise<void> {
    const { isBasic, capacity } = this.config.gateway;
    if (!isBasic || this.gateway.circuitOpen) return;
    const { id, bootId } = BASIC_GATEWAY;
    await this.database.service.rows(noteBasicGateway, [id, bootId, capacity]);
    // Revives agents that became unresponsive together with an earlier gateway.
    await this.database.service.rows(revivePushAgents, [REVIVED_AT_ONCE]);
  }
}
