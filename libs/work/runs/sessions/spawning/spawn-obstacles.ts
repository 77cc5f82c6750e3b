import { Inject, Injectable } from '@nestjs/common';
import { SpawnRates } from '#lib/admission';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow } from '#lib/database';
import { GatewayClient } from '../gateway/gateway-client.js';
import { lastGatewayHeartbeat } from '../store/last-gateway-heartbeat.sql.js';
import { spawnRoom } from './spawn-room.sql.js';

/** The obstacles between a push agent and its next session. */
export interface SpawnFacts {
  /** True if a gateway is configured. */
  configured: boolean;
  /** Number of gateways that were heard lately and accept sessions. */
  gateways: number;
  /** Number of gateways that were heard lately but accept no new sessions. */
  draining: number;
  /** The time of the latest heartbeat of any gateway. */
  lastSeenAt: Date | null;
  /** True if calls were not answered, so none is made for some seconds. */
  resting: boolean;
  /** Number of further sessions that the gateways could run. */
  room: number;
  /** Rates of spawns that are exhausted. */
  rates: { scope: 'installation' | 'workspace'; perMinute: number; nextAt: Date | null }[];
}

/** Reads the obstacles between a workspace's push agents and their sessions. */
@Injectable()
export class SpawnObstacles {
  constructor(
    private readonly database: Database,
    private readonly gateway: GatewayClient,
    private readonly rates: SpawnRates,
    @Inject(CONFIG) private readonly config: Pick<Config, 'gateway'>,
  ) {}

  /** `resting` is the experience of this server; others can differ. */
  async spawnFacts(workspaceId: string): Promise<SpawnFacts> {
    const { service } = this.database;
    const [room, heartbeat, rates] = await Promise.all([
      firstRow(service, spawnRoom, [this.config.gateway.staleSeconds]),
      firstRow(service, lastGatewayHeartbeat, [this.config.gateway.staleSeconds]),
      this.rates.usedUp(service, workspaceId),
    ]);
    return {
      configured: this.gateway.configured,
      gateways: room?.gateways ?? 0,
      draining: heartbeat?.draining ?? 0,
      lastSeenAt: heartbeat?.at ?? null,
      resting: this.gateway.circuitOpen,
      room: Math.max(0, room?.room ?? 0),
      rates,
    };
  }
}
