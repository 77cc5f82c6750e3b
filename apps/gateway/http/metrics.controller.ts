import { Controller, Get, Headers, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { HostMetrics } from '#lib/agent-host';
import { DroverError, hasBearer } from '#lib/kernel';
import { Gateway } from '../gateway.js';

/** For Prometheus, which has its own token. */
@Controller('metrics')
export class MetricsController {
  private readonly metrics: HostMetrics;

  constructor(private readonly gateway: Gateway) {
    const gauge = (name: string, help: string, read: () => number) => ({ name, help, read });
    this.metrics = new HostMetrics([
      gauge('drover_gateway_sessions_running', 'Sessions that run', () => gateway.facts().running),
      gauge('drover_gateway_sessions_queued', 'Sessions that wait', () => gateway.facts().queued),
      gauge('drover_gateway_capacity', 'Sessions that may run', () => gateway.facts().capacity),
      gauge('drover_gateway_server_reachable', 'Whether the server took the last heartbeat', () =>
        Number(gateway.serverState === 'reachable'),
      ),
    ]);
  }

  @Get()
  async read(
    @Headers('authorization') authorization: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const { metricsToken } = this.gateway;
    if (metricsToken === undefined) {
      const detail = 'This gateway shows no metrics: set METRICS_TOKEN.';
      throw new DroverError('route_not_found', { detail });
    }
    if (!hasBearer(authorization, metricsToken)) throw new DroverError('invalid_metrics_token');
    const { type, body } = await this.metrics.text();
    void reply.header('content-type', type).header('cache-control', 'no-store');
    return body;
  }
}
