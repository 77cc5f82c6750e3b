import { expect, test } from '@jest/globals';
import type { StopCause } from './live-session.js';
import { causeOf } from './stop-cause.js';

test.each<['stop' | 'pause', string, StopCause]>([
  ['pause', 'paused', { kind: 'pause', reason: 'pause' }],
  [
    'pause',
    'The budget is used up',
    { kind: 'pause', reason: 'pause', message: 'The budget is used up' },
  ],
  ['pause', 'holidays', { kind: 'pause', reason: 'pause', message: 'holidays' }],
  ['stop', 'cancelled', { kind: 'asked', reason: 'cancelled' }],
  ['stop', 'stale_run', { kind: 'asked', reason: 'stale_run' }],
  ['stop', 'unknown_run', { kind: 'asked', reason: 'unknown_run' }],
  ['stop', 'Going home!', { kind: 'asked', reason: 'stale_run', message: 'Going home!' }],
  ['stop', '', { kind: 'asked', reason: 'stale_run', message: '' }],
])('the order to %s with the reason "%s" becomes %j', (action, reason, cause) => {
  expect(causeOf({ action, reason })).toEqual(cause);
});
