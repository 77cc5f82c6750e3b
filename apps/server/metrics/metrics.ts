import { Inject, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { CONFIG, type Config } from '#lib/config';
import { DroverFastifyAdapter } from '#lib/http';
import { DroverError, hasBearer } from '#lib/kernel';
import { instruments } from '#lib/observability';
import { Gauges } from './gauges.js';
import { registerPlainNames } from './plain-names.js';

/**
 * The metrics of this process for Prometheus. Created at the first request, so an installation
 * without Prometheus pays nothing.
 */
@Injectable()
export class Metrics {
  private registry: Registry | undefined;

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly gauges: Gauges,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * @param authorization the request's header
   * @throws DroverError `route_not_found` without METRICS_TOKEN, `invalid_metrics_token`
   */
  require(authorization: string | undefined): void {
    const { metricsToken } = this.config.http;
    if (metricsToken === undefined) {
      throw new DroverError('route_not_found', {
        detail: 'This server shows no metrics: set METRICS_TOKEN.',
      });
    }
    if (!hasBearer(authorization, metricsToken)) throw new DroverError('invalid_metrics_token');
  }

  /** Returns all metrics in Prometheus' text format. */
  async text(): Promise<{ type: string; body: string }> {
    this.registry ??= this.makeRegistry();
    await this.gauges.refresh();
    const body = await this.registry.metrics();
    return { type: this.registry.contentType, body: `${body}\n${this.requestTimes()}` };
  }

  private makeRegistry(): Registry {
    const registry = new Registry();
    collectDefaultMetrics({ register: registry });
    for (const instrument of Object.values(instruments)) registry.registerMetric(instrument);
    this.gauges.register(registry);
    registerPlainNames(registry);
    return registry;
  }

  private requestTimes(): string {
    const adapter: unknown = this.host.httpAdapter;
    return adapter instanceof DroverFastifyAdapter ? adapter.timer.times.text() : '';
  }
}
