import { expect, it } from '@jest/globals';
import { toLogLine } from './log-line.js';
import { toConversation } from './conversation.js';

const AT = '2026-11-25T12:00:00Z';

const lines = (...said: [event: string, text: string][]) =>
  said.map(([event, text], index) => ({
    id: String(index),
    at: AT,
    level: 'INFO',
    leftOut: 0,
    runId: null,
    event,
    text,
  }));

it('a call of a tool has its results and changes, and other entries are no part', () => {
  const parts = toConversation(
    lines(
      ['task.status_changed', 'PENDING → RUNNING'],
      ['agent_message', 'I write it.'],
      ['agent_tool', 'Write haiku.txt'],
      ['agent_tool_result', 'written'],
      ['agent_diff', 'haiku.txt'],
      ['message_delivered', 'Shorter, please.'],
      ['agent_plan', '[ ] Write'],
      ['model_usage', 'opus: 12 input, 5 output tokens'],
      ['output', 'noise'],
    ),
  );
  expect(parts.map(({ kind, line }) => [kind, line.text])).toEqual([
    ['agent', 'I write it.'],
    ['tool', 'Write haiku.txt'],
    ['person', 'Shorter, please.'],
    ['plan', '[ ] Write'],
    ['usage', 'opus: 12 input, 5 output tokens'],
  ]);
  expect(parts[1]).toMatchObject({ results: [{ text: 'written' }, { text: 'haiku.txt' }] });
});

it('the input of a tool call is shown with its file, and an empty one is not', () => {
  const entry = { id: '1', event: 'agent_tool', action: 'agent_tool', level: 'INFO', runId: 'r' };
  const inputOf = (details: Record<string, unknown>) =>
    toLogLine({
      ...entry,
      message: 'Write',
      newStatus: null,
      actor: null,
      createdAt: AT,
      details,
    } as never).input;
  const whole = { runId: 'r', name: '.drover/transcript/1.txt' };
  const input = '{"file":"haiku.txt"}';
  expect(inputOf({ input, inputArtifact: whole.name })).toEqual({ text: input, leftOut: 0, whole });
  expect(inputOf({ input })).toEqual({ text: input, leftOut: 0, whole: undefined });
  expect(inputOf({ input: '{}' })).toBeUndefined();
});
