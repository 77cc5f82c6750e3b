import { describe, expect, it } from '@jest/globals';
import { cutText, formatBytes, formatDuration, stripControls, formatCount } from './format.js';
import { splitMatches } from './log-line.js';
import { allowedCommands, listedStatus, type Task } from './status.js';
import {
  parsePrefill,
  toFormValues,
  toPrefillOfTemplate,
  toTaskDraft,
  toTaskOfTemplate,
} from './task-draft.js';
import { parseFilter } from './task-filter.js';
import { applyEvent, durationOf, toRow } from './task-row.js';
import { toUsageDays } from './usage-days.js';

const ESCAPE = String.fromCharCode(27);
const BELL = String.fromCharCode(7);

describe('a foreign text', () => {
  it.each([
    [`${ESCAPE}[1;31mred${ESCAPE}[0m plain`, 'red plain'],
    [`${ESCAPE}]0;a title${BELL}text`, 'text'],
    [`${ESCAPE}]8;;https://example.com${ESCAPE}\\link`, 'link'],
    ['invoice\u202egnp.exe', 'invoicegnp.exe'],
    ['\u2066isolated\u2069 שלום', 'isolated שלום'],
    ['tab\tand\nline', 'tab\tand\nline'],
    ['zero\u0000 and \u0085 and \u007f', 'zero and  and '],
  ])('%j is displayed as %j', (text, plain) => {
    expect(stripControls(text)).toBe(plain);
  });

  it('a long foreign text is cut, with the number of omitted characters', () => {
    expect(cutText('x'.repeat(1_000_000), 10)).toEqual(['xxxxxxxxxx', 999_990]);
  });
});

it.each([
  ['999', '999'],
  ['1234', '1.2k'],
  ['1000000', '1.0M'],
  ['123456789', '123M'],
  ['9223372036854775807', '9223372T'],
  ['-1500', '-1.5k'],
])('the count %s is formatted as %s', (count, text) => {
  expect(formatCount(count)).toBe(text);
});

it('a duration is formatted in its largest unit', () => {
  expect([0.25, 4.2, 119, 3_000, 86_400].map(formatDuration)).toEqual([
    '250 ms',
    '4.2 s',
    '119 s',
    '50 min',
    '24 h',
  ]);
});

it('a search marks its matches regardless of case', () => {
  expect(splitMatches('An error and an ERROR', 'error')).toEqual([
    ['An ', false],
    ['error', true],
    [' and an ', false],
    ['ERROR', true],
  ]);
  // The lower-case text is longer, so the match positions would be wrong.
  expect(splitMatches('İ error', 'error')).toEqual([['İ error', false]]);
});

it('an invalid filter in the address is ignored', () => {
  const wrong = { status: ['RUNNING', 'NONSENSE'], priority: '99', text: ['a'], tag: 7, other: 1 };
  expect(parseFilter(wrong)).toEqual({ status: ['RUNNING'], tag: '7' });
});

it('each status offers the commands that the server accepts', () => {
  const offered = {
    PENDING: 'pause,cancel',
    ASSIGNED: 'pause,cancel',
    RUNNING: 'pause,cancel',
    PAUSED: 'resume,cancel',
    ABORTED: 'retry,archive',
    FAILED: 'retry,archive',
    COMPLETED: 'archive',
    ARCHIVED: '',
  } as const;
  for (const [name, commands] of Object.entries(offered)) {
    const status = name as keyof typeof offered;
    expect([name, allowedCommands({ status, retryAt: null }).join()]).toEqual([name, commands]);
  }
  const asking = { status: 'PAUSED', retryAt: null } as const;
  expect(allowedCommands({ ...asking, pausedFor: 'question' })).toEqual(['cancel']);
  expect(allowedCommands({ ...asking, pausedFor: 'request' })).toEqual(['resume', 'cancel']);
  expect(allowedCommands({ status: 'ABORTED', retryAt: '2026-01-01T00:00:00Z' })).toEqual([
    'retry',
    'cancel',
  ]);
});

it('a list tells retries and cancellations from other aborted tasks', () => {
  const aborted = { status: 'ABORTED', retryAt: null } as const;
  expect(listedStatus({ ...aborted, retryAt: '2026-01-01T00:00:00Z' })).toBe('RETRYING');
  expect(listedStatus({ ...aborted, abortReason: 'cancelled' })).toBe('CANCELLED');
  expect(listedStatus({ ...aborted, abortReason: 'dependency_cancelled' })).toBe('CANCELLED');
  expect(listedStatus({ ...aborted, abortReason: 'queue_expired' })).toBe('ABORTED');
  expect(listedStatus({ status: 'RUNNING', retryAt: null })).toBe('RUNNING');
});

it('a form becomes a task draft, and input that is not a JSON object is refused', () => {
  const form = new FormData();
  const fields = { title: ' A ', taskType: 't', priority: '7', maxRetries: '0', tags: 'a, b' };
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set('command', 'echo hi');
  form.set('inputContext', '{"branch":"main"}');
  form.set('secrets', 'TOKEN=a=b\n');
  expect(toTaskDraft(form)).toEqual({
    title: 'A',
    taskType: 't',
    priority: 7,
    maxRetries: 0,
    tags: ['a', 'b'],
    inputContext: { branch: 'main', command: ['sh', '-c', 'echo hi'] },
    secrets: { TOKEN: 'a=b' },
  });
  form.set('inputContext', '[1]');
  expect(() => toTaskDraft(form)).toThrow('not a JSON object');
});

it('the values of an address fill the form and become the same task', () => {
  const task = {
    title: '42',
    taskType: 'code',
    priority: 9,
    maxRetries: 1,
    timeoutSeconds: null,
    projectId: '0198c5a0-0000-7000-8000-000000000001',
    tags: ['two words', 'b'],
    steps: ['First, this', 'Then that'],
    startAt: '2026-11-30T08:15:30.000Z',
    agent: { kind: 'codex', model: 'gpt-5', settings: { permissions: [] } },
    inputContext: { command: ['node', 'a.js'], keep: 7 },
    concurrencyKey: 'build',
    concurrencyLimit: 2,
  };
  const prefill = parsePrefill({ ...task, title: 42, secrets: { A: 'b' }, dependsOn: {}, x: 1 });
  expect(Object.keys(prefill)).toHaveLength(Object.keys(task).length);
  const form = new FormData();
  for (const [name, value] of Object.entries(toFormValues(prefill))) form.set(name, value);
  expect(toTaskDraft(form)).toEqual(task);
  const shellLine = toFormValues({ inputContext: { command: ['sh', '-c', 'echo hi'] } });
  expect(shellLine).toMatchObject({ command: 'echo hi', inputContext: '' });
});

it('a task of a template keeps the fields that the form cannot show', () => {
  const dependsOn = [{ taskId: '0198c5a0-0000-7000-8000-000000000001', policy: 'settled' }];
  const template = { taskType: 'x', dependsOn, tags: ['a'], secrets: { KEY: '[redacted]' } };
  const values = toFormValues({ title: 'T', ...toPrefillOfTemplate(template) });
  expect(values).toMatchObject({ dependsOn: '', tags: 'a', secrets: 'KEY=[redacted]' });
  const form = new FormData();
  for (const [name, value] of Object.entries(values)) form.set(name, value);
  form.set('tags', '');
  expect(toTaskOfTemplate(toTaskDraft(form), template)).toEqual({
    title: 'T',
    taskType: 'x',
    tags: null,
    secrets: template.secrets,
  });
});

it.each([
  ['UTC', '2026-03-30'],
  ['Asia/Tokyo', '2026-03-31'],
  ['America/New_York', '2026-03-30'],
])('the last of 30 days of usage is today in %s', (timeZone, today) => {
  const now = Date.parse('2026-03-30T22:30:00Z');
  const items = [
    { key: today, totalTokens: '7' },
    { key: '2026-03-28', totalTokens: '5' },
    { key: '2026-01-01', totalTokens: '3' },
  ];
  const { times, values } = toUsageDays(items, now, timeZone);
  expect(times).toHaveLength(30);
  expect(times.at(-1)).toBe(Date.parse(`${today}T00:00`) / 1000);
  expect(values.at(-1)).toBe(7);
  expect(values.filter((value) => value > 0)).toEqual([5, 7]);
});

it.each([
  [0, '0 bytes'],
  [1_023, '1023 bytes'],
  [1_536, '1.5 KiB'],
  [52_428_800, '50.0 MiB'],
  [2 ** 31, '2.0 GiB'],
])('a size of %d bytes is shown as %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

it('the row of a task follows its events, with agent and duration of its last run', () => {
  const at = (seconds: number) => new Date(seconds * 1_000).toISOString();
  const change = (version: number, newStatus: string, more: object) =>
    ({ newStatus, version, timestamp: at(version * 10), ...more }) as Record<string, unknown>;
  const ends = { completedAt: null, abortedAt: null, failedAt: null };
  const task = { title: 'Build', version: 1, status: 'PENDING', agentId: null, startedAt: null };
  let row = toRow({ ...task, ...ends } as Task);
  expect(durationOf(row, 0)).toBeNull();
  row = applyEvent(row, change(2, 'ASSIGNED', { agentId: 'one' }));
  row = applyEvent(row, change(3, 'RUNNING', { previousStatus: 'ASSIGNED', agentId: 'one' }));
  row = applyEvent(row, change(2, 'ASSIGNED', { agentId: 'late' }));
  expect(row).toMatchObject({ status: 'RUNNING', agentId: 'one', startedAt: at(30) });
  expect(durationOf(row, 45_000)).toBe(15);
  row = applyEvent(row, change(4, 'PAUSED', {}));
  row = applyEvent(row, change(5, 'RUNNING', { previousStatus: 'PAUSED', agentId: 'one' }));
  row = applyEvent(row, change(6, 'ABORTED', { reason: 'timeout', retryAt: at(70) }));
  row = applyEvent(row, change(7, 'FAILED', { retryAt: null }));
  expect(row).toMatchObject({ status: 'FAILED', abortReason: 'timeout', retryAt: null });
  expect(durationOf(row, 99_000)).toBe(30);
  row = applyEvent(row, change(8, 'PENDING', {}));
  expect([row.agentId, durationOf(row, 99_000)]).toEqual([null, null]);
});
