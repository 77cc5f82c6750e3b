import { describe, expect, test } from '@jest/globals';
import { readConfig } from './config.js';

const AGENT = '01890000-0000-7000-8000-000000000000';
const enough = { DROVER_API_URL: 'http://127.0.0.1:3000', DROVER_API_KEY: 'drv_x' };

describe('The configuration', () => {
  test('the configuration needs only an address and credentials', () => {
    const config = readConfig({ ...enough, DROVER_WORKER_NAME: '' });
    expect(config).toMatchObject({
      apiUrls: ['http://127.0.0.1:3000/api/v1'],
      credentials: { kind: 'key', key: 'drv_x' },
      concurrency: 1,
      heartbeatSeconds: 10,
      staleSeconds: 45,
      drainSeconds: 10,
      keepRuns: 'never',
      deregister: true,
    });
    expect(config.workDir).toBe(`${config.dataDir}/runs`);
  });

  test('runs have limits unless the configuration removes them', () => {
    const limits = { memoryMb: 4_096, processes: 512, diskMb: 10_240, openFiles: 1_024 };
    expect(readConfig(enough).isolation.limits).toMatchObject({ limits, maxLimits: limits });
    const env = { DROVER_SANDBOX_DISK_MB: '0', DROVER_SANDBOX_MAX_MEMORY_MB: '8192' };
    expect(readConfig({ ...enough, ...env }).isolation.limits).toMatchObject({
      limits: { ...limits, diskMb: 0 },
      maxLimits: { ...limits, diskMb: 0, memoryMb: 8_192 },
    });
  });

  test('runs do not see the folder that workers share', () => {
    const { home, isolation } = readConfig({ ...enough, DROVER_HOME: '/srv/drover' });
    expect(home).toBe('/srv/drover');
    expect(isolation.limits.hidden).toContain('/srv/drover');
    expect(readConfig(enough).home).toBeUndefined();
  });

  test('a chosen agent is not deregistered', () => {
    const env = {
      DROVER_API_URL: 'https://drover.example/base/, http://other:3000',
      DROVER_AGENT_TOKEN_FILE: '/run/token',
      DROVER_AGENT_ID: AGENT,
      DROVER_WORKER_CAPABILITIES: 'node, ,git',
      DROVER_WORKER_ALLOWED_DIRS: '/srv/a:/srv/b/',
    };
    expect(readConfig(env)).toMatchObject({
      apiUrls: ['https://drover.example/base/api/v1', 'http://other:3000/api/v1'],
      credentials: { kind: 'agent', tokenFile: '/run/token' },
      capabilities: ['node', 'git'],
      allowedDirs: ['/srv/a', '/srv/b'],
      deregister: false,
    });
  });

  test.each([
    [
      { DROVER_API_URL: undefined },
      'DROVER_API_URL must be the http:// or https:// address of the server, such as http://127.0.0.1:3000.',
    ],
    [{ DROVER_API_URL: 'ftp://x' }, 'DROVER_API_URL'],
    [{ DROVER_API_URL: 'http://a, ' }, 'DROVER_API_URL'],
    [{ DROVER_API_URL: 'http://a,http://b', DROVER_API_SOCKET: '/s' }, 'DROVER_API_SOCKET'],
    [{ DROVER_API_KEY: '' }, 'Set DROVER_API_KEY'],
    [{ DROVER_API_KEY: '', DROVER_AGENT_TOKEN: 'x' }, 'DROVER_AGENT_ID'],
    [{ DROVER_AGENT_ID: 'me' }, 'DROVER_AGENT_ID'],
    [{ DROVER_WORKER_NAME: '../x' }, 'DROVER_WORKER_NAME'],
    [{ DROVER_WORKER_CONCURRENCY: '0' }, 'DROVER_WORKER_CONCURRENCY'],
    [{ DROVER_WORKER_CONCURRENCY: '1.5' }, 'DROVER_WORKER_CONCURRENCY'],
    [{ DROVER_WORKER_CONCURRENCY: 'many' }, 'DROVER_WORKER_CONCURRENCY'],
    [{ DROVER_WORKER_KEEP_RUNS: 'some' }, 'DROVER_WORKER_KEEP_RUNS'],
    [{ DROVER_WORKER_STALE_SECONDS: '10' }, 'DROVER_WORKER_STALE_SECONDS'],
    [{ DROVER_WORKER_ALLOWED_DIRS: '/a:b' }, 'DROVER_WORKER_ALLOWED_DIRS'],
    [{ DROVER_SANDBOX_MEMORY_MB: '100' }, 'DROVER_SANDBOX_MEMORY_MB must be 0 (no limit) or at'],
    [{ DROVER_SANDBOX_MAX_PROCESSES: '7' }, 'DROVER_SANDBOX_MAX_PROCESSES must be 0'],
  ])('the configuration with %j is refused in one sentence', (wrong, named) => {
    const read = (): unknown => readConfig({ ...enough, ...wrong });
    expect(read).toThrow(named);
    expect(read).toThrow(/^[^\n]+\.$/);
  });
});
