import type { ServerClient, SignalPoll } from '#lib/agent-host';

export interface Stop {
  runId: string;
  reason: string;
  graceSeconds: number;
}

export interface HeartbeatAnswer {
  acknowledgedAt: string;
  restarted: boolean;
  stop: Stop[];
}

export interface Signal extends Stop {
  /** `warn`: the session goes on. */
  action: 'stop' | 'pause' | 'warn';
}

export interface SignalAnswer {
  runs: Signal[];
}

/** The server's endpoints for gateways. Every method fails as those of ServerClient. */
export class GatewayApi {
  constructor(
    private readonly server: ServerClient,
    private readonly gatewayId: string,
  ) {}

  heartbeat(body: object): Promise<HeartbeatAnswer> {
    return this.server.call('POST', '/gateway/heartbeat', body);
  }

  report(bootId: string, reports: object[]): Promise<unknown> {
    const body = { gatewayId: this.gatewayId, bootId, reports };
    return this.server.call('POST', '/gateway/sessions', body);
  }

  signals(poll: SignalPoll, signal: AbortSignal): Promise<SignalAnswer> {
    const body = { gatewayId: this.gatewayId, ...poll };
    return this.server.poll('/gateway/signals', body, signal);
  }
}
