import { describe, expect, test } from '@jest/globals';
import type { SessionExit } from '#lib/session-runtime';
import type { Stopping } from '#lib/agent-host';
import { judgeExit } from './verdict.js';

const exit = (more: Partial<SessionExit>): SessionExit => ({
  exitCode: null,
  signal: null,
  oomKilled: false,
  lost: false,
  output: '',
  endedAt: '2026-01-01T00:00:00.000Z',
  ...more,
});

const stopping = (kind: Stopping['kind']): Stopping => ({
  kind,
  reason: 'the_reason',
  forceAt: '2026-01-01T00:00:00.000Z',
});

describe('A session that ended by itself', () => {
  test.each<[Partial<SessionExit>, string, string | undefined]>([
    [{ exitCode: 0 }, 'COMPLETED', undefined],
    [{ exitCode: 0, output: 'read about "heap out of memory"' }, 'COMPLETED', undefined],
    [{ exitCode: 1 }, 'FAILED', 'exit_code'],
    [{ exitCode: 137, oomKilled: false }, 'FAILED', 'oom'],
    [{ exitCode: 137, oomKilled: null }, 'FAILED', 'oom'],
    [{ signal: 'SIGKILL', oomKilled: true }, 'FAILED', 'oom'],
    [{ signal: 'SIGKILL', oomKilled: null }, 'FAILED', 'oom'],
    [{ signal: 'SIGKILL', oomKilled: false }, 'FAILED', 'signal'],
    [{ exitCode: 134, output: 'FATAL: heap out of memory' }, 'FAILED', 'oom'],
    [{ exitCode: 1, output: 'cp: write error: Disk quota exceeded' }, 'FAILED', 'disk'],
    [{ signal: 'SIGKILL', exceeded: { limit: 'disk', mb: 1 } }, 'FAILED', 'disk'],
    [{ signal: 'SIGKILL', exceeded: { limit: 'memory', mb: 1 } }, 'FAILED', 'oom'],
    [{ exitCode: 143 }, 'FAILED', 'timeout'],
    [{ exitCode: 127 }, 'FAILED', 'setup'],
    [{ exitCode: 0, oomKilled: true }, 'COMPLETED', undefined],
    [{ signal: 'SIGTERM' }, 'FAILED', 'signal'],
    [{ signal: 'SIGSEGV' }, 'FAILED', 'signal'],
    [{ exitCode: 200 }, 'FAILED', 'exit_code'],
    [{ lost: true, oomKilled: null }, 'FAILED', 'infrastructure'],
  ])('the end %j is %s, %s', (evidence, status, failureClass) => {
    const verdict = judgeExit(exit(evidence), null);
    expect([verdict.status, verdict.error?.class]).toEqual([status, failureClass]);
    expect(verdict.oomKilled).toBe(failureClass === 'oom');
  });
});

describe('A session that was asked to end', () => {
  test.each<[Stopping['kind'], Partial<SessionExit>, string, string]>([
    ['timeout', { signal: 'SIGTERM' }, 'FAILED', 'timeout'],
    ['timeout', { exitCode: 0 }, 'FAILED', 'timeout'],
    ['timeout', { signal: 'SIGKILL', oomKilled: null }, 'FAILED', 'timeout'],
    ['asked', { exitCode: 0 }, 'STOPPED', 'exit_code'],
    ['asked', { signal: 'SIGTERM' }, 'STOPPED', 'signal'],
    ['asked', { signal: 'SIGKILL', oomKilled: null }, 'STOPPED', 'signal'],
    ['asked', { exitCode: 137 }, 'STOPPED', 'signal'],
    ['asked', { exitCode: 143 }, 'STOPPED', 'signal'],
    ['asked', { signal: 'SIGKILL', oomKilled: true }, 'FAILED', 'oom'],
    ['asked', { lost: true }, 'STOPPED', 'infrastructure'],
    ['drain', { exitCode: 0 }, 'STOPPED', 'drained'],
    ['drain', { exitCode: 1 }, 'STOPPED', 'drained'],
    ['drain', { signal: 'SIGKILL', oomKilled: null }, 'STOPPED', 'drained'],
    ['drain', { signal: 'SIGKILL', oomKilled: true }, 'FAILED', 'oom'],
    ['drain', { signal: 'SIGKILL', exceeded: { limit: 'disk', mb: 1 } }, 'FAILED', 'disk'],
    ['drain', { lost: true }, 'STOPPED', 'drained'],
    ['pause', { exitCode: 0 }, 'STOPPED', 'paused'],
    ['pause', { exitCode: 1 }, 'STOPPED', 'paused'],
    ['pause', { signal: 'SIGTERM' }, 'STOPPED', 'paused'],
    ['pause', { signal: 'SIGKILL', oomKilled: null }, 'STOPPED', 'paused'],
    ['pause', { signal: 'SIGKILL', oomKilled: true }, 'FAILED', 'oom'],
    ['pause', { lost: true }, 'STOPPED', 'paused'],
  ])('after %s the end %j is %s, %s', (kind, evidence, status, failureClass) => {
    const verdict = judgeExit(exit(evidence), stopping(kind));
    expect([verdict.status, verdict.error?.class]).toEqual([status, failureClass]);
    expect(verdict.error?.message).toBeTruthy();
  });
});

test.each<[Partial<SessionExit>, Stopping | null]>([
  [{ exitCode: 7 }, null],
  [{ signal: 'SIGTERM' }, stopping('asked')],
  [{ signal: 'SIGKILL', oomKilled: null }, stopping('timeout')],
  [{ lost: true }, stopping('drain')],
])('a session of a completed run has not failed, whatever its end: %j', (evidence, asked) => {
  expect(judgeExit(exit(evidence), asked, true)).toMatchObject({
    status: 'COMPLETED',
    error: null,
  });
});

test('the message names the cause of the stop, in words if there are any', () => {
  const messageOf = (more: Partial<Stopping>) =>
    judgeExit(exit({ exitCode: 1 }), { ...stopping('asked'), ...more }).error?.message;
  expect(messageOf({})).toMatch(/ asked to end: the_reason$/);
  expect(messageOf({ message: 'in words' })).toMatch(/ asked to end: in words$/);
  expect(messageOf({ kind: 'timeout', message: 'in words' })).toBe('in words');
});

test.each<[string, Stopping | null, string]>([
  ['Error: boom\n    at f (a.js:1:1)\n\nNode.js v20.20.2', null, 'Exited with 1: Error: boom'],
  ['Node.js v20.20.2', null, 'Exited with 1'],
  ['first\nno such table\n', null, 'Exited with 1: no such table'],
  ['page 7 of 9', stopping('asked'), 'Exited with 1 after it was asked to end: the_reason'],
  ['page 7 of 9', stopping('pause'), 'Exited with 1 after it was asked to end: the_reason'],
  ['page 7 of 9', stopping('drain'), 'Exited with 1 after it was asked to end: the_reason'],
])('the output %j, stopped by %j, makes the message "%s"', (output, asked, message) => {
  expect(judgeExit(exit({ exitCode: 1, output }), asked).error?.message).toBe(message);
});

test('the message quotes the last output and is short', () => {
  const { error } = judgeExit(
    exit({ exitCode: 2, output: `first\n${'x'.repeat(5_000)}\n\n` }),
    null,
  );
  expect(error?.message).toMatch(/^Exited with 2: x+$/);
  expect(error?.message).toHaveLength(1_000);
});

// The server would refuse a report with half a character each time.
test('the message never ends in the middle of a character', () => {
  const output = 'x'.repeat(1_000 - 'Exited with 2: '.length - 1) + '😀 and more';
  const { error } = judgeExit(exit({ exitCode: 2, output }), null);
  expect(error?.message).toMatch(/x\uFFFD$/);
  expect(error?.message).toHaveLength(1_000);
});
