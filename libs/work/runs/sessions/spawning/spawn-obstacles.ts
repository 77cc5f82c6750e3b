import { Inject, Injectable } from '@nestjs/common';
import { SpawnRates } from '#lib/admission';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow } from '#lib/database';
import { GatewayClient } from '../gateway/gateway-client.js';
import { lastGatewayHeartbeat } from '../store/last-gateway-heartbeat.sql.js';
import { spawnRoom } from './spawn-room.sql.js';

/** The obstacles between a push agent and its next session. */
export interface SpawnFacts {
  /** Whether there is a gateway in the configuration. */
  configured: boolean;
  /** Gateways that were heard lately and take sessions. */
  gateways: number;
  /** Gateways that were heard lately, but take no new sessions. */
  draining: number;
  /** When the last one was heard. */
  lastSeenAt: Date | null;
  /** Calls to it were not answered, and none is made for some seconds. */
  resting: boolean;
  /** Sessions that the gateways could run in addition. */
  room: number;
  /** Rates of spawns that are used up. */
  rates: { scope: 'installation' | 'workspace'; perMinute: number; nextAt: Date | null }[];
}

/** Knows what stands between a workspace's push agents and their sessions. */
@Injectable()
export class SpawnObstacles {
  constructor(
    private readonly database: Database,
    private readonly gateway: GatewayClient,
    private readonly rates: SpawnRates,
    @Inject(CONFIG) private readonly config: Pick<Config, 'gateway'>,
  ) {}

  /** `resting` is what this server has met: others may have fared otherwise. */
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
