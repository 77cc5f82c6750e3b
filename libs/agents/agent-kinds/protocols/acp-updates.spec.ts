import { expect, test } from '@jest/globals';
import type { AgentEvent } from '../domain/agent-event.js';
import { AcpUpdates } from './acp-updates.js';

test('the latest 1,000 calls are known, and an update of an older one is a new call', () => {
  const events: AgentEvent[] = [];
  const updates = new AcpUpdates(
    (event) => events.push(event),
    () => false,
  );
  const call = (id: number, status: 'pending' | 'completed') =>
    updates.take({ sessionUpdate: 'tool_call', toolCallId: `call-${id}`, title: 'ls', status });
  const callsAfter = (start: () => void): number => {
    events.length = 0;
    start();
    return events.filter(({ type }) => type === 'tool_call').length;
  };
  call(0, 'pending');
  for (let id = 1; id < 1_000; id++) call(id, 'completed');
  // It is the call with the latest update again.
  expect(callsAfter(() => call(0, 'pending'))).toBe(0);
  call(1_000, 'completed');
  expect(callsAfter(() => call(0, 'completed'))).toBe(0);
  expect(callsAfter(() => call(2, 'completed'))).toBe(0);
  expect(callsAfter(() => call(1, 'completed'))).toBe(1);
});
