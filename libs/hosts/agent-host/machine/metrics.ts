import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { hasBearer } from '#lib/kernel';

/** A number of the host that is read on demand. */
export interface HostGauge {
  name: string;
  help: string;
  read: () => number;
}

/** The Prometheus metrics of a host and its process. They are created at the first request. */
export class HostMetrics {
  private registry: Registry | undefined;

  constructor(private readonly gauges: readonly HostGauge[]) {}

  async text(): Promise<{ type: string; body: string }> {
    this.registry ??= this.makeRegistry();
    return { type: this.registry.contentType, body: await this.registry.metrics() };
  }

  private makeRegistry(): Registry {
    const registry = new Registry();
    collectDefaultMetrics({ register: registry });
    for (const { name, help, read } of this.gauges) {
      new Gauge({
        name,
        help,
        registers: [registry],
        collect() {
          this.set(read());
        },
      });
    }
    return registry;
  }
}

export interface MetricsEndpoint {
  host: string;
  port: number;
  /** The bearer token that can read them. */
  token: string;
}

/** Serves only /metrics, for a host without an HTTP server. @throws the error of listening */
export async function serveMetrics(
  metrics: HostMetrics,
  endpoint: MetricsEndpoint,
): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url !== '/metrics') return void response.writeHead(404).end();
    if (!hasBearer(request.headers.authorization, endpoint.token)) {
      return void response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
    }
    metrics.text().then(
      ({ type, body }) => response.writeHead(200, { 'content-type': type }).end(body),
      () => response.writeHead(500).end(),
    );
  });
  server.unref().listen(endpoint.port, endpoint.host);
  await once(server, 'listening');
  return server;
}
