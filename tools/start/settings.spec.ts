import { describe, expect, it } from '@jest/globals';
import { givenGateway } from './gateway.js';
import { gatewaySettings, serverSettings, workerSettings } from './settings.js';

const ENV = {
  PATH: '/bin',
  OPEN_SIGN_UP: 'true',
  HUNG_AFTER_SECONDS: '60',
  LOG_LEVEL: '',
  DROVER_WORKER_CONCURRENCY: '3',
  DROVER_WORKER_METRICS_PORT: '9100',
  DROVER_WORKER_PASS_ENV: 'MODEL_KEY, NOT_SET',
  MODEL_KEY: 'k',
  MAX_CONCURRENT_WORKERS: '2',
  GATEWAY_SESSIONS_USER: '1500:1500',
  GATEWAY_PASS_ENV: 'REGION',
  REGION: 'north',
  SECRET_OF_SOMETHING_ELSE: 'x',
};

describe('a gateway of your own', () => {
  it.each([
    [{ GATEWAY_PROTOCOL: 'basic' }, /GATEWAY_URL is not set/],
    [{ GATEWAY_URL: 'http://127.0.0.1:1' }, /GATEWAY_SECRET is not/],
  ])('npm start refuses %j', (env, sentence) => {
    expect(() => givenGateway(env)).toThrow(sentence);
  });

  it('npm start runs its own gateway if no variable names one', () =>
    expect(givenGateway({})).toBeUndefined());
});

describe('the environment of npm start', () => {
  it.each([
    ['the server', serverSettings, { OPEN_SIGN_UP: 'true', HUNG_AFTER_SECONDS: '60' }],
    [
      'the workers, with what their tasks may see',
      (env: NodeJS.ProcessEnv) => workerSettings(1, env),
      {
        DROVER_WORKER_CONCURRENCY: '3',
        DROVER_WORKER_METRICS_PORT: '9101',
        DROVER_WORKER_PASS_ENV: 'MODEL_KEY, NOT_SET',
        MODEL_KEY: 'k',
      },
    ],
    [
      'the gateway, with what its sessions may see',
      gatewaySettings,
      {
        MAX_CONCURRENT_WORKERS: '2',
        GATEWAY_SESSIONS_USER: '1500:1500',
        GATEWAY_PASS_ENV: 'REGION',
        REGION: 'north',
      },
    ],
  ])('exactly these variables are passed to %s', (_whom, settings, expected) => {
    expect(settings(ENV)).toEqual(expected);
  });
});
