import { allowWait, type SignalPoll } from '#lib/agent-host';
import type { components, DroverClient } from '#lib/api-client';

type Schemas = components['schemas'];
export type Heartbeat = Schemas['GatewayHeartbeatRequest'];
export type Report = Schemas['ReportSessions']['reports'][number];
export type HeartbeatAnswer = Schemas['GatewayHeartbeatAnswer'];
export type SignalAnswer = Schemas['GatewaySignals'];
export type Signal = SignalAnswer['runs'][number];

/** The server's endpoints for gateways. Every method fails with the errors of DroverClient. */
export class GatewayApi {
  constructor(
    private readonly server: DroverClient,
    private readonly gatewayId: string,
  ) {}

  heartbeat(body: Heartbeat): Promise<HeartbeatAnswer> {
    return this.server.post('/api/v1/gateway/heartbeat', { body });
  }

  report(bootId: string, reports: Report[]): Promise<unknown> {
    const body = { gatewayId: this.gatewayId, bootId, reports };
    return this.server.post('/api/v1/gateway/sessions', { body });
  }

  signals(poll: SignalPoll, signal: AbortSignal): Promise<SignalAnswer> {
    const body = { gatewayId: this.gatewayId, ...poll };
    return allowWait(this.server, poll.waitMs).post('/api/v1/gateway/signals', { body, signal });
  }
}
