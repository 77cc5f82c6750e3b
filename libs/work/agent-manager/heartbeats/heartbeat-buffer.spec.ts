import { describe, expect, it } from '@jest/globals';
import { HeartbeatBuffer, type PendingHeartbeat } from './heartbeat-buffer.js';

function heartbeat(agentId: string, receivedAt: number): PendingHeartbeat {
  return {
    workspaceId: 'w',
    agentId,
    body: { status: 'healthy' },
    receivedAt,
  };
}

describe('the buffer of heartbeats', () => {
  it('the buffer keeps the latest heartbeat of each agent', () => {
    const buffer = new HeartbeatBuffer();
    buffer.put(heartbeat('a', 1));
    buffer.put(heartbeat('b', 2));
    buffer.put(heartbeat('a', 3));
    expect(buffer.size).toBe(2);
    expect(buffer.take(10)).toEqual([heartbeat('a', 3), heartbeat('b', 2)]);
    expect(buffer.size).toBe(0);
  });

  it('the buffer distinguishes agents of one id in two workspaces', () => {
    const buffer = new HeartbeatBuffer();
    const namesakes = [heartbeat('a', 1), { ...heartbeat('a', 2), workspaceId: 'v' }];
    for (const one of namesakes) buffer.put(one);
    expect(buffer.take(1)).toEqual(namesakes.slice(0, 1));
    expect(buffer.take(1)).toEqual(namesakes.slice(1));
    buffer.restore(namesakes);
    expect(buffer.size).toBe(2);
  });

  it('the buffer returns parts', () => {
    const buffer = new HeartbeatBuffer();
    for (let i = 0; i < 5; i++) buffer.put(heartbeat(`a${i}`, i));
    expect(buffer.take(2).map(({ agentId }) => agentId)).toEqual(['a0', 'a1']);
    expect(buffer.take(3).map(({ agentId }) => agentId)).toEqual(['a2', 'a3', 'a4']);
    expect(buffer.take(3)).toEqual([]);
  });

  it('unwritten heartbeats return to the buffer, but do not replace newer ones', () => {
    const buffer = new HeartbeatBuffer();
    buffer.put(heartbeat('a', 1));
    buffer.put(heartbeat('b', 1));
    const taken = buffer.take(10);
    buffer.put(heartbeat('a', 2));
    buffer.restore(taken);
    expect(buffer.take(10)).toEqual([heartbeat('a', 2), heartbeat('b', 1)]);
  });
});
