import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ValkeyClient } from '#lib/valkey';
import { startTestApp, type TestApp } from '../support/app.js';
import { waitFor } from '../support/wait-for.js';
import { ALERT_CASES, unitTests } from './alert-cases.js';
import { findPrometheus, promtool, TestPrometheus } from './prometheus.js';

const TOKEN = 'a token of the tests';
const deploy = join(import.meta.dirname, '../../deploy');
const RULES = join(deploy, 'prometheus/alerts.yml');
const METRIC = /\b(?:drover|process|nodejs)_[a-z0-9_]+/g;
/** The intervals that Grafana inserts. */
const INTERVAL = '5m';

interface Panel {
  id: number;
  type: string;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { expr: string }[];
}

const { panels } = JSON.parse(readFileSync(join(deploy, 'grafana/drover.json'), 'utf8')) as {
  panels: Panel[];
};
const programs = await findPrometheus();
const withPrometheus = programs ? describe : describe.skip;

withPrometheus('Rules and dashboard, with a Prometheus that asks a server', () => {
  let folder: string;
  let server: TestApp;
  let prometheus: TestPrometheus;
  let shown: Set<string>;

  beforeAll(async () => {
    if (!programs) return;
    folder = await mkdtemp(join(tmpdir(), 'drover-rules-'));
    server = await startTestApp({ METRICS_TOKEN: TOKEN });
    prometheus = await TestPrometheus.start(programs, {
      target: server.url,
      token: TOKEN,
      rules: RULES,
    });
    const names = await prometheus.query('count by (__name__) ({job="drover"})');
    shown = new Set(names.map(({ metric }) => metric['__name__'] ?? ''));
    const response = await fetch(`${server.url}/metrics`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    // Hosts expose these.
    const ofHosts = ['worker_low_disk', 'worker_server_reachable', 'gateway_server_reachable'];
    for (const name of ofHosts) shown.add(`drover_${name}`);
    // Prometheus does not know a counter without a series.
    for (const [, name, type] of (await response.text()).matchAll(/^# TYPE (\w+) (\w+)$/gm)) {
      const parts = type === 'histogram' ? ['_bucket', '_count', '_sum'] : [''];
      for (const part of parts) shown.add(`${name}${part}`);
    }
  });

  afterAll(async () => {
    await prometheus?.stop();
    await server?.stop();
    if (folder) await rm(folder, { recursive: true });
  });

  it('Prometheus accepts the rules', async () => {
    if (programs) expect(await promtool(programs, ['check', 'rules', RULES])).toContain('SUCCESS');
  });

  it('Prometheus accepts the scrape configuration of docs/operations.md', async () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8');
    const [, config = ''] = /```yaml\n(scrape_configs:[^]*?)```/.exec(page) ?? [];
    const file = join(folder, 'prometheus.yml');
    await writeFile(file, config);
    if (!programs) return;
    const checked = await promtool(programs, ['check', 'config', '--syntax-only', file]);
    expect(checked).toContain('SUCCESS');
  });

  it('each alert is raised for its own case, and not for a similar one', async () => {
    const names = (await prometheus.rules()).map(({ name }) => name);
    expect(Object.keys(ALERT_CASES).sort()).toEqual(names.sort());
    const file = join(folder, 'tests.json');
    await writeFile(file, JSON.stringify(unitTests(RULES)));
    if (programs) expect(await promtool(programs, ['test', 'rules', file])).toContain('SUCCESS');
  });

  it('every rule uses metrics that a server exposes', async () => {
    const rules = await waitFor('all rules to have been judged', async () => {
      const judged = await prometheus.rules();
      return judged.every(({ health }) => health !== 'unknown') && judged;
    });
    expect(rules.filter(({ health }) => health !== 'ok')).toEqual([]);
    const missing = rules.flatMap(({ name, query }) =>
      (query.match(METRIC) ?? []).filter((one) => !shown.has(one)).map((one) => `${name}: ${one}`),
    );
    expect(missing).toEqual([]);
  });

  it('every panel uses metrics that a server exposes', async () => {
    const queries = panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr }) => ({ title, expr })),
    );
    expect(queries.length).toBeGreaterThan(20);
    for (const { title, expr } of queries) {
      const filled = expr.replaceAll('$__rate_interval', INTERVAL).replaceAll('$job', '.+');
      expect([title, await prometheus.query(filled)]).toEqual([title, expect.any(Array)]);
      const missing = (expr.match(METRIC) ?? []).filter((one) => !shown.has(one));
      expect([title, missing]).toEqual([title, []]);
    }
  });

  it('Prometheus raises an alert about the server that it scrapes', async () => {
    await new Promise<void>((resolve) => {
      const onError = (): void => {
        client.close();
        resolve();
      };
      const client = new ValkeyClient({ url: 'redis://127.0.0.1:1', onError });
    });
    await waitFor('the alert', async () => {
      const rules = await prometheus.rules();
      return rules.find(({ name }) => name === 'DroverValkeyErrors')?.state === 'firing';
    });
  });
});

describe('The dashboard', () => {
  it('panels have different ids and do not overlap', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from(
        { length: w * h },
        (_, index) => `${x + (index % w)}:${y + Math.floor(index / w)}`,
      ),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
  });
});
