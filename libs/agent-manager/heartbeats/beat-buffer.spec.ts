import { describe, expect, it } from '@jest/globals';
import { BeatBuffer, type PendingBeat } from './beat-buffer.js';

function beat(agentId: string, receivedAt: number): PendingBeat {
  return {
    workspaceId: 'w',
    agentId,
    body: { status: 'healthy' },
    receivedAt,
  };
}

describe('the buffer of beats', () => {
  it('keeps the latest of each agent', () => {
    const buffer = new BeatBuffer();
    buffer.put(beat('a', 1));
    buffer.put(beat('b', 2));
    buffer.put(beat('a', 3));
    expect(buffer.size).toBe(2);
    expect(buffer.take(10)).toEqual([beat('a', 3), beat('b', 2)]);
    expect(buffer.size).toBe(0);
  });

  it('gives out parts', () => {
    const buffer = new BeatBuffer();
    for (let i = 0; i < 5; i++) buffer.put(beat(`a${i}`, i));
    expect(buffer.take(2).map(({ agentId }) => agentId)).toEqual(['a0', 'a1']);
    expect(buffer.take(3).map(({ agentId }) => agentId)).toEqual(['a2', 'a3', 'a4']);
    expect(buffer.take(3)).toEqual([]);
  });

  it('takes back what could not be written, but not over something newer', () => {
    const buffer = new BeatBuffer();
    buffer.put(beat('a', 1));
    buffer.put(beat('b', 1));
    const taken = buffer.take(10);
    buffer.put(beat('a', 2));
    buffer.restore(taken);
    expect(buffer.take(10)).toEqual([beat('a', 2), beat('b', 1)]);
  });
});
