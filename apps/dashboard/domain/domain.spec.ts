import { describe, expect, it } from '@jest/globals';
import { beginningOf, lengthOf, plainOf, shortCount } from './format.js';
import { partsOf } from './log-line.js';
import { legalCommands, TASK_STATUSES } from './status.js';
import { draftOf } from './task-draft.js';
import { filterOf } from './task-filter.js';

const ESCAPE = String.fromCharCode(27);
const BELL = String.fromCharCode(7);

describe('foreign texts', () => {
  it.each([
    [`${ESCAPE}[1;31mred${ESCAPE}[0m plain`, 'red plain'],
    [`${ESCAPE}]0;a title${BELL}text`, 'text'],
    [`${ESCAPE}]8;;https://example.com${ESCAPE}\\link`, 'link'],
    ['invoice\u202egnp.exe', 'invoicegnp.exe'],
    ['\u2066isolated\u2069 שלום', 'isolated שלום'],
    ['tab\tand\nline', 'tab\tand\nline'],
    ['zero\u0000 and \u0085 and \u007f', 'zero and  and '],
  ])('%j is shown as %j', (text, plain) => {
    expect(plainOf(text)).toBe(plain);
  });

  it('are shown by their beginning, with what is left out', () => {
    expect(beginningOf('x'.repeat(1_000_000), 10)).toEqual(['xxxxxxxxxx', 999_990]);
  });
});

it.each([
  ['999', '999'],
  ['1234', '1.2 k'],
  ['1000000', '1.0 M'],
  ['123456789', '123 M'],
  ['9223372036854775807', '9223372 T'],
  ['-1500', '-1.5 k'],
])('counts %s as %s', (count, text) => {
  expect(shortCount(count)).toBe(text);
});

it('says lengths of time in their largest unit', () => {
  expect([0.25, 4.2, 119, 3_000, 86_400].map(lengthOf)).toEqual([
    '250 ms',
    '4.2 s',
    '119 s',
    '50 min',
    '24 h',
  ]);
});

it('marks what was searched for, in upper or lower case', () => {
  expect(partsOf('An error and an ERROR', 'error')).toEqual([
    ['An ', false],
    ['error', true],
    [' and an ', false],
    ['ERROR', true],
  ]);
  // Lower case is longer here: the places would be others.
  expect(partsOf('İ error', 'error')).toEqual([['İ error', false]]);
});

it('reads a filter from an address that anybody may have written', () => {
  const wrong = { status: ['RUNNING', 'NONSENSE'], priority: '99', text: ['a'], tag: 7, other: 1 };
  expect(filterOf(wrong)).toEqual({ status: ['RUNNING'], tag: '7' });
});

it('offers what the server would do, by state', () => {
  const offered = TASK_STATUSES.map((status) => legalCommands({ status, retryAt: null }).join());
  expect(offered).toEqual([
    'pause,cancel',
    'pause,cancel',
    'pause,cancel',
    'resume,cancel',
    'retry,archive',
    'retry,archive',
    'archive',
    '',
  ]);
  const asking = { status: 'PAUSED', retryAt: null } as const;
  expect(legalCommands({ ...asking, pausedFor: 'question' })).toEqual(['cancel']);
  expect(legalCommands({ ...asking, pausedFor: 'request' })).toEqual(['resume', 'cancel']);
  expect(legalCommands({ status: 'ABORTED', retryAt: '2026-01-01T00:00:00Z' })).toEqual([
    'retry',
    'cancel',
  ]);
});

it('makes a task of its form, and refuses what is no JSON object', () => {
  const form = new FormData();
  const fields = { title: ' A ', taskType: 't', priority: '7', maxRetries: '0', tags: 'a, b' };
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set('command', 'echo hi');
  form.set('input', '{"branch":"main"}');
  expect(draftOf(form)).toEqual({
    title: 'A',
    taskType: 't',
    priority: 7,
    maxRetries: 0,
    tags: ['a', 'b'],
    inputContext: { branch: 'main', command: ['sh', '-c', 'echo hi'] },
  });
  form.set('input', '[1]');
  expect(() => draftOf(form)).toThrow('no JSON object');
});
