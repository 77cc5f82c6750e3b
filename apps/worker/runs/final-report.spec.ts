import { describe, expect, test } from '@jest/globals';
import type { FinalReport } from '../api/types.js';
import type { Outcome } from '../execution/job.js';
import { refusal } from '../../../libs/hosts/agent-host/testing/refusal.js';
import { decideFinalReport, type RunStopKind } from './final-report.js';
import { withoutDetails } from './refused-report.js';

const done: Outcome = { kind: 'succeeded', result: { a: 1 }, summary: 'well' };
const quiet: Outcome = { kind: 'succeeded' };
const killed: Outcome = {
  kind: 'failed',
  error: { message: 'Ended by SIGTERM', class: 'signal', signal: 'SIGTERM', retryable: true },
};
const limit = { model: 'gpt-5', retryAfterSeconds: 30 };
const refused: Outcome = { kind: 'refused', limit };
const LIMITS: FinalReport = { kind: 'provider-limits', limit };
const question = { prompt: 'Ship it?', onDeadline: 'fail' } as const;
const asked: Outcome = { kind: 'asked', question };
const ASKS: FinalReport = { kind: 'questions', question };
const checkpoint = { page: 7 };

describe('The report of an end', () => {
  test.each<[string, Outcome, RunStopKind | undefined, object]>([
    ['success', done, undefined, { kind: 'complete', outputResult: { a: 1 }, summary: 'well' }],
    ['success without a result', quiet, undefined, { kind: 'complete' }],
    [
      'failure',
      killed,
      undefined,
      { kind: 'fail', error: { class: 'signal' }, checkpointData: checkpoint },
    ],
    [
      'a timeout',
      killed,
      'timeout',
      { kind: 'fail', error: { class: 'timeout', signal: 'SIGTERM' } },
    ],
    ['a timeout that it used well', done, 'timeout', { kind: 'fail', error: { class: 'timeout' } }],
    ['a pause', killed, 'pause', { kind: 'release', reason: 'paused', checkpointData: checkpoint }],
    ['a pause that it obeyed', quiet, 'pause', { kind: 'release', reason: 'paused' }],
    ['a pause that came too late', done, 'pause', { kind: 'complete', outputResult: { a: 1 } }],
    ['a drain', killed, 'drain', { kind: 'release', reason: 'drain', checkpointData: checkpoint }],
    ['a drain that it obeyed', quiet, 'drain', { kind: 'release', reason: 'drain' }],
    ['a drain that came too late', done, 'drain', { kind: 'complete' }],
    ['a refusal', refused, 'provider_limited', { ...LIMITS, checkpointData: checkpoint }],
    ['a refusal, and a pause for it', refused, 'pause', LIMITS],
    ['a refusal that it got around', done, 'provider_limited', { kind: 'complete' }],
    ['a refusal and a timeout', refused, 'timeout', { kind: 'fail', error: { class: 'timeout' } }],
    ['a question', asked, 'question', { ...ASKS, checkpointData: checkpoint }],
    ['a question, and a drain before it', asked, 'drain', ASKS],
    ['a question in a pause', asked, 'pause', { kind: 'release', reason: 'paused' }],
    ['a question and a timeout', asked, 'timeout', { kind: 'fail', error: { class: 'timeout' } }],
  ])('the report is decided for %s', (_name, outcome, cause, expected) => {
    const report = decideFinalReport({ outcome, cause, timeoutSeconds: 5, checkpoint });
    expect(report).toMatchObject(expected);
  });
});

describe('A refused report of an end', () => {
  const tooLarge = refusal(413, 'payload_too_large', 'The body is too large');
  const illegal = refusal(409, 'illegal_transition', 'No');
  const release: FinalReport = { kind: 'release', reason: 'drain', checkpointData: checkpoint };

  test('a refused question becomes a failure, or a release if the task was paused', () => {
    const invalid = refusal(400, 'validation_failed', 'Not valid: default');
    expect(withoutDetails(ASKS, invalid)).toMatchObject({
      kind: 'fail',
      error: { message: 'The server refused the question: Not valid: default', retryable: false },
    });
    expect(withoutDetails({ ...ASKS, checkpointData: checkpoint }, illegal)).toEqual({
      kind: 'release',
      reason: 'paused',
      checkpointData: checkpoint,
    });
  });

  test('a refused report becomes one that the server accepts', () => {
    expect(withoutDetails({ kind: 'complete', outputResult: {} }, tooLarge)).toMatchObject({
      kind: 'fail',
      error: { message: 'The server refused the result: The body is too large', retryable: false },
    });
    const malformed = refusal(400, 'validation_failed', 'No');
    const limited = { ...LIMITS, checkpointData: checkpoint };
    const given = { kind: 'release', reason: 'provider_limited' };
    expect(withoutDetails(limited, malformed)).toEqual({ ...given, checkpointData: checkpoint });
    expect(withoutDetails(limited, tooLarge)).toEqual(given);
    const withFallbacks = { ...LIMITS, limit: { ...limit, fallbacks: [{ model: 'gpt-5-mini' }] } };
    expect(withoutDetails(withFallbacks, malformed)).toEqual(LIMITS);
    const failure = { message: 'x', class: 'oom', stackTrace: 'long' } as const;
    const fail: FinalReport = { kind: 'fail', error: failure, checkpointData: checkpoint };
    expect(withoutDetails(fail, tooLarge)).toEqual({
      kind: 'fail',
      error: { message: 'x', class: 'oom', exitCode: undefined, retryable: undefined },
    });
    expect(withoutDetails(release, tooLarge)).toEqual({ kind: 'release', reason: 'drain' });
  });

  test('the message of the second report is cut without half a character', () => {
    const long = '😀'.repeat(1_000);
    const refusals = ['', 'x'].map((shift) => refusal(400, 'no', shift + long));
    const results = refusals.map((no) => withoutDetails({ kind: 'complete' }, no));
    const failures = ['', 'x'].map((shift) => {
      const error = { message: shift + long, class: 'oom' } as const;
      return withoutDetails({ kind: 'fail', error }, tooLarge);
    });
    const said = [...results, ...failures].map((one) => (one?.kind === 'fail' ? one.error : null));
    expect(said.map((one) => one?.message.length)).toEqual([1_000, 1_000, 200, 200]);
    expect(said.every((one) => one?.message.isWellFormed())).toBe(true);
  });

  test('a report is dropped if its content is fine, or if nothing can be left out', () => {
    expect(withoutDetails(release, illegal)).toBeUndefined();
    expect(withoutDetails({ kind: 'release', reason: 'drain' }, tooLarge)).toBeUndefined();
  });
});
