import { expect, test } from '@jest/globals';
import { sessionTime } from './session-time.js';

test.each`
  timeoutSeconds | sessionSeconds | maxSessionSeconds | time
  ${null}        | ${0}           | ${0}              | ${null}
  ${undefined}   | ${1_800}       | ${7_200}          | ${1_800}
  ${60}          | ${1_800}       | ${7_200}          | ${60}
  ${86_400}      | ${1_800}       | ${7_200}          | ${7_200}
  ${null}        | ${0}           | ${7_200}          | ${7_200}
  ${86_400}      | ${1_800}       | ${0}              | ${86_400}
`(
  'a time-out of $timeoutSeconds with $sessionSeconds and at most $maxSessionSeconds is $time',
  ({ timeoutSeconds, sessionSeconds, maxSessionSeconds, time }) => {
    expect(sessionTime(timeoutSeconds, { sessionSeconds, maxSessionSeconds })).toBe(time);
  },
);
