import { describe, expect, test } from '@jest/globals';
import { loadGatewayConfig } from './config.js';

const needed = {
  DROVER_API_URL: 'http://server:3000',
  GATEWAY_SECRET: 'x'.repeat(32),
};

describe('The configuration', () => {
  test("the configuration needs only the server's address and the secret", () => {
    expect(loadGatewayConfig({ ...needed, PATH: '/bin' })).toMatchObject({
      apiUrls: ['http://server:3000/api/v1'],
      searchPath: '/bin',
      capacity: 10,
      queueSeconds: 300,
      queueLimit: 1_000,
      shutdownSeconds: 30,
      heartbeatSeconds: 10,
      allowedExecutables: undefined,
      driver: 'process',
      passedEnv: {},
    });
  });

  test.each([
    ['http://server/', 'http://server/api/v1'],
    ['https://server/drover/api/v1/', 'https://server/drover/api/v1'],
  ])('the configuration takes %s for %s', (address, apiUrl) => {
    expect(loadGatewayConfig({ ...needed, DROVER_API_URL: address }).apiUrls).toEqual([apiUrl]);
  });

  test('sessions get only the named variables', () => {
    const env = { ...needed, GATEWAY_PASS_ENV: 'A, B', A: '1', C: '3' };
    expect(loadGatewayConfig(env).passedEnv).toEqual({ A: '1' });
  });

  test('an empty list of programs differs from an absent one', () => {
    const programs = (value: string) =>
      loadGatewayConfig({ ...needed, GATEWAY_ALLOWED_EXECUTABLES: value }).allowedExecutables;
    expect(programs('')).toBeUndefined();
    expect(programs(' claude , /usr/bin/node ')).toEqual(['claude', '/usr/bin/node']);
  });

  test.each([
    [{ DROVER_API_URL: undefined }, 'DROVER_API_URL'],
    [{ DROVER_API_URL: 'ftp://server' }, 'DROVER_API_URL'],
    [{ GATEWAY_SECRET: 'short' }, 'GATEWAY_SECRET'],
    [{ GATEWAY_SECRET: '' }, 'GATEWAY_SECRET: is missing'],
    [
      { MAX_CONCURRENT_WORKERS: '0' },
      'MAX_CONCURRENT_WORKERS: must be a whole number from 1 to 1000',
    ],
    [
      { WORKER_CREATION_TIMEOUT: 'soon' },
      'WORKER_CREATION_TIMEOUT: must be a whole number from 1 to 86400',
    ],
    [
      { GATEWAY_GRACE_SECONDS: '1.5' },
      'GATEWAY_GRACE_SECONDS: must be a whole number from 0 to 3600',
    ],
    [{ GATEWAY_ID: 'two words' }, 'GATEWAY_ID'],
    [{ GATEWAY_DEFAULT_COMMAND: 'node agent.mjs' }, 'GATEWAY_DEFAULT_COMMAND: must be an argument'],
    [{ GATEWAY_DEFAULT_COMMAND: '[]' }, 'GATEWAY_DEFAULT_COMMAND: must be an argument'],
    [{ GATEWAY_DRIVER: 'cloud' }, 'GATEWAY_DRIVER: must be one of process'],
    [{ PORT: '70000' }, 'PORT: must be a whole number from 0 to 65535'],
    [{ GATEWAY_SESSIONS_USER: 'nobody' }, 'GATEWAY_SESSIONS_USER: must be the numbers'],
    [{ GATEWAY_SESSIONS_USER: '0:0' }, 'GATEWAY_SESSIONS_USER: must be the numbers'],
  ])('the configuration with %j is refused', (env, name) => {
    expect(() => loadGatewayConfig({ ...needed, ...env })).toThrow(name);
  });
});
