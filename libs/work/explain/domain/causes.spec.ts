import { expect, it } from '@jest/globals';
import { describeFailure, whyNotRetried } from './causes.js';

const NO_MODULE = "Exited with 1: Error: Cannot find module './nosuch.js'";

it.each([
  ['retries_exhausted', 2, 'Exited with 7', 'It failed after 3 attempts.', undefined],
  ['exit_code', 3, NO_MODULE, 'It failed: its run ended', 'Not retried: a module is missing.'],
  ['setup', 3, 'no such file', 'It failed: its command', 'Not retried: the command cannot be run.'],
  ['exit_code', 3, 'No licence', 'It failed: its run ended', 'Not retried: the agent reported'],
  ['denied', 3, '403', 'It failed: the provider', 'Not retried: the provider of the model would'],
  ['dependency_failed', 3, 'It failed', 'It failed: a task that it depends on', undefined],
  ['revisions_exhausted', 3, 'No', 'It failed: its change went back', undefined],
])('a failure %s with the limit of %i retries says why: %s', (reason, max, error, what, why) => {
  const task = {
    status: 'FAILED',
    failureReason: reason,
    lastError: error,
    retryCount: reason === 'retries_exhausted' ? max : 0,
    maxRetries: max,
  } as const;
  expect(describeFailure(task)).toContain(what);
  if (why === undefined) expect(whyNotRetried(task)).toBeUndefined();
  else expect(whyNotRetried(task)).toContain(why);
});
