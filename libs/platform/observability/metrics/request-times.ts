/** Upper bounds in seconds. A claim can wait for a task for half a minute. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const NAME = 'drover_http_request_seconds';
const HELP = 'Time to answer a request, by the template of its route';

/** Requests of one route with one status. */
class Series {
  private readonly counts = BOUNDS.map(() => 0);
  private beyond = 0;
  private sum = 0;

  constructor(private readonly labels: string) {}

  observe(seconds: number): void {
    this.sum += seconds;
    for (let index = 0; index < BOUNDS.length; index++) {
      if (seconds > (BOUNDS[index] as number)) continue;
      this.counts[index] = (this.counts[index] as number) + 1;
      return;
    }
    this.beyond += 1;
  }

  lines(): string[] {
    let total = 0;
    const buckets = this.counts.map((count, index) => {
      total += count;
      return `${NAME}_bucket{${this.labels},le="${BOUNDS[index]}"} ${total}`;
    });
    const all = total + this.beyond;
    return [
      ...buckets,
      `${NAME}_bucket{${this.labels},le="+Inf"} ${all}`,
      `${NAME}_sum{${this.labels}} ${this.sum}`,
      `${NAME}_count{${this.labels}} ${all}`,
    ];
  }
}

/** Requests of one route, by status. */
export class RouteTimes {
  private readonly byStatus = new Map<number, Series>();

  constructor(private readonly labels: string) {}

  observe(status: number, milliseconds: number): void {
    let series = this.byStatus.get(status);
    if (!series) {
      series = new Series(`${this.labels},status="${status}"`);
      this.byStatus.set(status, series);
    }
    series.observe(milliseconds / 1_000);
  }

  lines(): string[] {
    return [...this.byStatus.values()].flatMap((series) => series.lines());
  }
}

/**
 * Durations of requests as a Prometheus histogram, by route template and never by path: ids would
 * create a series each and reveal themselves.
 *
 * It replaces prom-client here, because an observation by prom-client costs 0.6 µs, and Fastify's
 * hook 5 µs, of the 40 µs of a heartbeat. This class costs 0.03 µs, and hot routes call it
 * themselves.
 */
export class RequestTimes {
  private readonly routes = new Map<string, RouteTimes>();

  route(method: string, template: string): RouteTimes {
    const labels = `method="${method}",route="${template.replaceAll(/["\\\n]/g, '_')}"`;
    const known = this.routes.get(labels) ?? new RouteTimes(labels);
    this.routes.set(labels, known);
    return known;
  }

  /** In Prometheus' text format. */
  text(): string {
    const lines = [...this.routes.values()].flatMap((route) => route.lines());
    return `${[`# HELP ${NAME} ${HELP}`, `# TYPE ${NAME} histogram`, ...lines].join('\n')}\n`;
  }
}
