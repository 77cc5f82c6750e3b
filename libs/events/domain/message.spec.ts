import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { channelOf, messageOf, type NumberedEvent } from './message.js';

const WORKSPACE = '0198c5a0-0000-7000-8000-000000000001';

function event(overrides: Partial<NumberedEvent>): NumberedEvent {
  return {
    id: '7',
    workspace_id: WORKSPACE,
    subject_kind: 'task',
    workspace_seq: '3',
    payload: '{}',
    ...overrides,
  };
}

describe('channelOf', () => {
  it.each([
    ['task', `tasks:events:${WORKSPACE}`],
    ['run', `tasks:events:${WORKSPACE}`],
    ['agent', `agents:events:${WORKSPACE}`],
    ['budget', `budgets:events:${WORKSPACE}`],
    ['coordinator', `coordinator:events:${WORKSPACE}`],
  ] as const)('tells of a %s on %s', (subject_kind, channel) => {
    expect(channelOf(event({ subject_kind }))).toBe(channel);
  });
});

describe('messageOf', () => {
  it('is the payload with the id and the number, whatever the payload holds', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.boolean(), (payload, spaced) => {
        const text = JSON.stringify(payload, null, spaced ? 1 : 0);
        const expected = { id: '7', workspaceSeq: '3', ...JSON.parse(text) };
        expect(JSON.parse(messageOf(event({ payload: text })))).toEqual(expected);
      }),
    );
  });
});
