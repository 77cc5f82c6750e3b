import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { channelOf, numbered, publicationsOf, textOf } from './channel.js';
import type { Message } from './message.js';
import type { SHORT_WORDS } from './short-message.js';

const WORKSPACE = '0198c5a0-0000-7000-8000-000000000001';

function message(overrides: Partial<Message>): Message {
  return {
    id: '14',
    workspaceId: WORKSPACE,
    subject: 'task',
    taskId: null,
    agentId: null,
    body: {},
    short: undefined,
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
  ] as const)('events of a %s are published on %s', (subject, channel) => {
    expect(channelOf(message({ subject }))).toBe(channel);
  });
});

describe('publicationsOf', () => {
  const short = (event: keyof typeof SHORT_WORDS) => ({
    ...message({ body: { event: 'task.status_changed' }, short: { event, task_id: 'a task' } }),
    workspaceSeq: '3',
  });
  const tasks = `tasks:events:${WORKSPACE}`;
  const text = '{"id":"14","workspaceSeq":"3","event":"task.status_changed"}';
  const inOneWord = (event: string) =>
    `{"event":"${event}","task_id":"a task","id":"14","workspaceSeq":"3"}`;

  it('a message is published in full and then in short form with the same number', () => {
    expect(publicationsOf(short('task_completed'))).toEqual([
      tasks,
      text,
      tasks,
      inOneWord('task_completed'),
    ]);
  });

  it.each(['task_requeued', 'task_released'] as const)(
    'the short form after %s names the command',
    (word) => {
      expect(publicationsOf(short(word))).toEqual([
        tasks,
        text,
        tasks,
        inOneWord(word),
        `coordinator:commands:${WORKSPACE}`,
        '{"command":"reassign_task","task_id":"a task","id":"14"}',
      ]);
    },
  );

  it('an event without a short form is published once', () => {
    const plain = { ...message({ body: { event: 'task.progress' } }), workspaceSeq: '3' };
    expect(publicationsOf(plain)).toEqual([tasks, textOf(plain)]);
  });
});

describe('textOf', () => {
  it('the text is the body preceded by id and number, whatever the body contains', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (given) => {
        const body = JSON.parse(JSON.stringify(given)) as Record<string, unknown>;
        const text = textOf({ ...message({ body }), workspaceSeq: '3' });
        expect(JSON.parse(text)).toEqual({ id: '14', workspaceSeq: '3', ...body });
        expect(text.startsWith('{"id":')).toBe(Object.keys({ id: 1, ...body })[0] === 'id');
      }),
    );
  });
});

describe('numbered', () => {
  const workspaces = fc.array(fc.constantFrom('a', 'b', 'c'));
  const last = fc.dictionary(fc.constantFrom('a', 'b'), fc.bigInt({ min: 0n, max: 2n ** 62n }));

  it('numbers continue in each workspace without a gap and keep the order', () => {
    fc.assert(
      fc.property(workspaces, last, (ids, before) => {
        const numbers = new Map(Object.entries(before));
        const messages = ids.map((workspaceId, n) => message({ id: `${n}`, workspaceId }));
        const result = numbered(messages, numbers);
        expect(result.map(({ id }) => id)).toEqual(messages.map(({ id }) => id));
        for (const workspace of new Set(ids)) {
          const own = result.filter(({ workspaceId }) => workspaceId === workspace);
          const start = before[workspace] ?? 0n;
          expect(own.map(({ workspaceSeq }) => workspaceSeq)).toEqual(
            own.map((_, n) => `${start + BigInt(n) + 1n}`),
          );
          expect(numbers.get(workspace)).toBe(start + BigInt(own.length));
        }
      }),
    );
  });

  it('numbers do not depend on how messages are batched', () => {
    fc.assert(
      fc.property(workspaces, fc.nat(20), (ids, cut) => {
        const messages = ids.map((workspaceId, n) => message({ id: `${n}`, workspaceId }));
        const inTwo = new Map<string, bigint>();
        const parts = [messages.slice(0, cut), messages.slice(cut)];
        expect(parts.flatMap((part) => numbered(part, inTwo))).toEqual(
          numbered(messages, new Map()),
        );
      }),
    );
  });
});
