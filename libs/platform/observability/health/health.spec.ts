import { describe, expect, it } from '@jest/globals';
import { ChangesRefused, Health } from './health.js';

const up = () => Promise.resolve();
const down = () => Promise.reject(new Error('down'));
const readOnly = () => Promise.reject(new ChangesRefused());
const led = {
  health: () => Promise.resolve({ active: true, lastCycle: new Date(0), cycleCount: 3 }),
};

describe('readiness', () => {
  it('readiness needs the database, and not Valkey', async () => {
    expect(await new Health(up, down).readiness()).toEqual({
      status: 'ready',
      database: 'connected',
      valkey: 'disconnected',
    });
    await expect(new Health(down, up).readiness()).rejects.toMatchObject({
      code: 'database_unavailable',
    });
  });

  it('readiness names parts that accept no changes', async () => {
    expect(await new Health(up, readOnly).readiness()).toMatchObject({
      valkey: 'refusing_changes',
    });
    await expect(new Health(readOnly, up).readiness()).rejects.toMatchObject({
      extras: { members: { database: 'refusing_changes', valkey: 'connected' } },
    });
  });

  it('readiness ends when the shutdown starts', async () => {
    const health = new Health(up, up);
    health.beginShutdown();
    await expect(health.readiness()).rejects.toMatchObject({ code: 'shutting_down' });
  });
});

describe('system health', () => {
  it('system health has its documented shape', async () => {
    expect(await new Health(up, up, led).system()).toEqual({
      status: 'healthy',
      coordinator: { active: true, lastCycle: '1970-01-01T00:00:00.000Z', cycleCount: 3 },
      database: 'connected',
      valkey: 'connected',
      gateway: 'not_configured',
    });
  });

  it.each([
    ['healthy', up, undefined, led],
    ['degraded', up, down, led],
    ['degraded', up, readOnly, led],
    ['unhealthy', readOnly, up, led],
    ['degraded', up, up, undefined],
    ['degraded', up, up, { health: () => Promise.reject(new Error('no')) }],
    ['unhealthy', down, up, led],
  ])('system health is %s', async (status, database, valkey, coordinator) => {
    expect((await new Health(database, valkey, coordinator).system()).status).toBe(status);
  });

  it.each([
    ['reachable', up, 'healthy'],
    ['unreachable', down, 'degraded'],
  ])('the gateway is %s', async (gateway, probe, status) => {
    expect(await new Health(up, up, led, probe).system()).toMatchObject({ gateway, status });
  });

  it('the gateway is unknown while the database does not answer', async () => {
    const health = await new Health(down, up, led, down).system();
    expect(health).toMatchObject({ gateway: 'unknown', status: 'unhealthy' });
  });
});
