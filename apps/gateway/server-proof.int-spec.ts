import { afterAll, describe, expect, test } from '@jest/globals';
import { killMarked, uniqueSeconds } from '../../libs/hosts/session-runtime/testing/processes.js';
import { waitFor } from '../../test/support/wait-for.js';
import { aSpawn, SECRET } from './testing/gateway-process.js';
import { gatewayForEach } from './testing/world.js';

const REFUSED = 'Gateway token refused';

afterAll(killMarked);

describe("Another server in the server's place", () => {
  const world = gatewayForEach();

  /** A session that the answers stop, by heartbeat and by long poll. Its start is reported. */
  async function aSessionToEnd(): Promise<string> {
    const { runId } = aSpawn('');
    await world.gateway.spawn(aSpawn(`exec sleep ${uniqueSeconds()}`, { runId }));
    await world.untilStatus(runId, 'RUNNING');
    world.server.stops.push({ runId, reason: 'somebody says so', graceSeconds: 0 });
    world.server.orders.push({
      runId,
      action: 'stop',
      reason: 'somebody says so',
      graceSeconds: 0,
    });
    return runId;
  }

  /** Long enough for answers to all three kinds of calls to arrive and be read. */
  async function untilAnswered(): Promise<void> {
    const { heartbeats, polls } = world.server;
    const [seenHeartbeats, seenPolls] = [heartbeats.length, polls];
    await waitFor('calls that follow others', () => {
      return heartbeats.length > seenHeartbeats + 1 && world.server.polls > seenPolls;
    });
  }

  test.each<[string, () => (tokenId: string) => string | undefined]>([
    ['without a proof', () => () => undefined],
    ['with one for another call', () => () => world.server.proofFor('another')],
  ])('an answer %s stops no session, and gets no report', async (_, proof) => {
    world.server.proof = proof();
    const runId = await aSessionToEnd();
    await untilAnswered();
    expect(world.server.reportsOf(runId)).not.toEqual([]);
    expect(world.gateway.pendingReports()).toBe(1);
    expect(await world.statusOf(runId)).toBe('RUNNING');
    const { body } = await world.gateway.ask('GET', '/readyz', undefined, '');
    expect(body).toMatchObject({ server: 'unreachable' });

    world.server.proof = (id) => world.server.proofFor(id);
    expect(await world.server.endOf(runId)).toMatchObject({ signal: 'SIGTERM' });
    await waitFor('all to be told', () => world.gateway.pendingReports() === 0);
  });

  test('an endless answer is given up, and the gateway continues', async () => {
    world.server.endless = true;
    const begun = performance.now();
    await waitFor('answers to be given up', () => world.server.abandoned > 3);
    expect(performance.now() - begun).toBeLessThan(9_000);
    world.server.endless = false;
    const runId = await aSessionToEnd();
    expect(await world.server.endOf(runId)).toMatchObject({ signal: 'SIGTERM' });
  });
});

describe('A server that refuses the gateway’s token', () => {
  const world = gatewayForEach();

  test('a refused token is logged once, and differs from an outage', async () => {
    world.server.secret = 'another secret of more than 32 characters';
    const { why } = await world.gateway.said(REFUSED);
    expect(why).toContain('GATEWAY_SECRET must be the same at both');
    const server = async () =>
      (await world.gateway.ask('GET', '/readyz', undefined, '')).body['server'];
    expect(await server()).toBe('refused');
    const { refused } = world.server;
    await waitFor('more calls to be refused', () => refused.length > 4);
    expect(world.gateway.count(REFUSED)).toBe(1);
    expect(world.gateway.count('Call failed; trying again')).toBe(0);

    world.server.secret = SECRET;
    await waitFor('the server to take a heartbeat', async () => (await server()) === 'reachable');
  });
});
