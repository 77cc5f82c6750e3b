import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow } from '#lib/database';
import { lastGatewayHeartbeat } from '../store/last-gateway-heartbeat.sql.js';
import { GatewayClient } from './gateway-client.js';

/** Whether a gateway answers this server and sends heartbeats, for the health check. */
@Injectable()
export class GatewayReach {
  constructor(
    private readonly database: Database,
    private readonly gateway: GatewayClient,
    @Inject(CONFIG) private readonly config: Pick<Config, 'gateway'>,
  ) {}

  get configured(): boolean {
    return this.gateway.configured;
  }

  /**
   * @throws Error when no session can be spawned now
   */
  async probe(): Promise<void> {
    if (this.gateway.circuitOpen) throw new Error('the gateway does not answer');
    const { staleSeconds } = this.config.gateway;
    const heartbeat = await firstRow(this.database.service, lastGatewayHeartbeat, [staleSeconds]);
    if (!heartbeat?.heard) throw new Error('no gateway was heard lately');
  }
}
