import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { SpawnRates } from '#lib/admission';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow } from '#lib/database';
import { type SpawnFacts, SpawnOutlook, type SpawnOutlookSource } from '#lib/task-manager';
import { GatewayClient } from '../gateway/gateway-client.js';
import { lastGatewayBeat } from '../store/last-gateway-beat.sql.js';
import { spawnRoom } from '../store/spawn-room.sql.js';

/** Tells whoever explains a task what stands between push agents and their sessions. */
@Injectable()
export class SpawnObstacles implements OnModuleInit, SpawnOutlookSource {
  constructor(
    private readonly database: Database,
    private readonly outlook: SpawnOutlook,
    private readonly gateway: GatewayClient,
    private readonly rates: SpawnRates,
    @Inject(CONFIG) private readonly config: Pick<Config, 'gateway'>,
  ) {}

  onModuleInit(): void {
    this.outlook.provide(this);
  }

  /** `resting` is what this server has met: others may have fared otherwise. */
  async spawnFacts(workspaceId: string): Promise<SpawnFacts> {
    const { service } = this.database;
    const [room, beat, rates] = await Promise.all([
      firstRow(service, spawnRoom, [this.config.gateway.staleSeconds]),
      firstRow(service, lastGatewayBeat, [this.config.gateway.staleSeconds]),
      this.rates.usedUp(service, workspaceId),
    ]);
    return {
      configured: this.gateway.configured,
      gateways: room?.gateways ?? 0,
      draining: beat?.draining ?? 0,
      lastSeenAt: beat?.at ?? null,
      resting: this.gateway.resting,
      room: Math.max(0, room?.room ?? 0),
      rates,
    };
  }
}
