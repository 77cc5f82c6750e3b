import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import { Log } from '#lib/agent-host';
import { RemoteUnavailable } from '#lib/git';
import { reachOf } from '#lib/kernel';
import type { RuntimeDriver } from '#lib/session-runtime';
import { refusal } from '../../../libs/hosts/agent-host/testing/refusal.js';
import type { CodeHost } from './code-host.js';
import { runScript } from './run-script.js';
import { Steps, type StepsParts } from './steps.js';
import type { CheckWork, StepWork } from './types.js';

const log = new Log(() => undefined);

test('a script whose signal aborts while its session starts is ended', async () => {
  const ending = new AbortController();
  let end: (exit: { exitCode: number }) => void = () => undefined;
  const exit = new Promise<{ exitCode: number }>((resolve) => (end = resolve));
  const driver = {
    surroundings: () => ({ folder: '/session', reach: { network: 'none' } }),
    spawn: () => {
      ending.abort(new Error('stopped'));
      return Promise.resolve({ exit, stop: () => end({ exitCode: 143 }) });
    },
    remove: () => Promise.resolve(),
  } as unknown as RuntimeDriver;
  const script = {
    text: 'sleep 60',
    timeoutSeconds: 60,
    access: { variables: {}, secrets: {} },
    reach: reachOf('none', []),
    signal: ending.signal,
  };
  const scripts = mkdtempSync(join(tmpdir(), 'stopping-'));
  try {
    await expect(runScript({ driver, scripts }, script)).rejects.toThrow('stopped');
    expect(readdirSync(scripts)).toEqual([]);
  } finally {
    rmSync(scripts, { recursive: true });
  }
});

const API: StepsParts['api'] = {
  claimStep: (_, signal) =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('stopped')));
    }),
  reportPullRequest: () => Promise.reject(new Error('There is no forge')),
  renewStep: () => Promise.resolve({ until: '', next: null }),
  renewCheck: () => Promise.resolve(),
  releaseCheck: () => Promise.resolve(),
  reportCheck: () => Promise.resolve(),
  planLanding: () => Promise.resolve(),
  reportNotLanded: () => Promise.resolve(),
  reportStep: () => Promise.resolve(),
};

test('a check is renewed from its beginning, and given back when its worker stops', async () => {
  const told: string[] = [];
  const tell = (what: string) => () => Promise.resolve(void told.push(what));
  const works = [{ check: { repositoryId: 'r', generation: 1 }, repository: {} } as CheckWork];
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  let end: (error: Error) => void = () => undefined;
  const reaching = new Promise((_, reject) => (end = reject));
  const reach = (): typeof reaching => {
    begin();
    return reaching;
  };
  const steps = new Steps({
    host: { repository: () => Promise.resolve({ reach }) } as unknown as CodeHost,
    log,
    api: {
      ...API,
      claimStep: async (waitSeconds, signal) => works.pop() ?? API.claimStep(waitSeconds, signal),
      renewCheck: tell('renewed'),
      releaseCheck: tell('released'),
      reportCheck: tell('reported'),
    },
  });
  steps.start();
  await begun;
  const stopped = steps.stop();
  end(new Error('git was ended'));
  await stopped;
  expect(told).toEqual(['renewed', 'released']);
});

test('a server of git that is away makes a step wait, without an attempt that failed', async () => {
  const works = [{ step: { kind: 'prove' }, change: {} } as unknown as StepWork];
  let hear: (report: unknown) => void = () => undefined;
  const reported = new Promise((resolve) => (hear = resolve));
  const away = new RemoteUnavailable('The server cannot be reached: x');
  const steps = new Steps({
    host: { repository: () => Promise.reject(away) } as unknown as CodeHost,
    log,
    api: {
      ...API,
      claimStep: async (waitSeconds, signal) => works.pop() ?? API.claimStep(waitSeconds, signal),
      reportStep: (_, report) => Promise.resolve(hear(report)),
    },
  });
  steps.start();
  expect(await reported).toMatchObject({ outcome: 'waits', reason: away.message });
  await steps.stop();
});

test('a report that the server does not take holds the end of a worker for 5 s at most', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'performance'] });
  try {
    let hear: () => void = () => undefined;
    const reported = new Promise<void>((resolve) => (hear = resolve));
    const steps = new Steps({
      host: { repository: () => Promise.reject(new Error('no room')) } as unknown as CodeHost,
      log,
      api: {
        ...API,
        claimStep: () =>
          Promise.resolve({
            step: { changeId: 'c', generation: 1, kind: 'prove' },
            change: { id: 'c' },
          } as unknown as StepWork),
        reportStep: () => {
          hear();
          return Promise.reject(refusal(503, 'database_unavailable'));
        },
      },
    });
    steps.start();
    await reported;
    const stopped = steps.stop();
    await jest.advanceTimersByTimeAsync(5_000);
    await stopped;
  } finally {
    jest.useRealTimers();
  }
});
