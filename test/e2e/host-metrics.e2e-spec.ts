import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePort } from '#lib/local-servers';
import { TestGateway } from '../../apps/gateway/testing/gateway-process.js';
import { TestFleet } from '../support/fleet.js';
import { waitFor } from '../support/wait-for.js';

const TOKEN = 'a token of the tests';

let fleet: TestFleet;

beforeAll(async () => {
  fleet = await TestFleet.atSharedServer();
});
afterAll(() => fleet.stop());

const ask = (url: string, token: string) =>
  fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });

/** Returns the line of a series after the host's first request to the server. */
const seen = (url: string, line: string) =>
  waitFor(line, async () => {
    // The port may not be open yet.
    const text = await ask(url, TOKEN).then(
      (answer) => answer.text(),
      () => '',
    );
    return `\n${text}`.includes(`\n${line}\n`);
  });

describe('The metrics', () => {
  it('the metrics of a worker need its token', async () => {
    const port = await freePort();
    await fleet.startWorker('measured', {
      DROVER_WORKER_METRICS_PORT: String(port),
      DROVER_WORKER_METRICS_TOKEN: TOKEN,
      DROVER_WORKER_CONCURRENCY: '3',
    });
    const url = `http://127.0.0.1:${port}`;
    await seen(url, 'drover_worker_server_reachable 1');
    await seen(url, 'drover_worker_capacity 3');
    await seen(url, 'drover_worker_runs 0');
    expect((await ask(url, 'another')).status).toBe(401);
    expect((await fetch(url)).status).toBe(404);
  });

  it('the metrics of a gateway need its token, and are absent without one', async () => {
    const gateway = new TestGateway({ DROVER_API_URL: 'http://127.0.0.1:1' });
    await gateway.start({ METRICS_TOKEN: TOKEN });
    await seen(gateway.url, 'drover_gateway_server_reachable 0');
    await seen(gateway.url, 'drover_gateway_sessions_running 0');
    expect((await ask(gateway.url, 'another')).status).toBe(401);
    gateway.kill('SIGTERM');
    await gateway.ended();
    await gateway.start();
    expect((await ask(gateway.url, TOKEN)).status).toBe(404);
    gateway.kill('SIGTERM');
    await gateway.ended();
  });
});
