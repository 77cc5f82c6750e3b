import { describe, expect, it } from '@jest/globals';
import { type LabelledSession, labelledSessions } from '../testing/sessions.js';
import { ProgressJudge, type Verdict } from './progress-judge.js';

function verdictsOf({ moments }: LabelledSession): Verdict[] {
  const judge = new ProgressJudge();
  let nowMs = 0;
  return moments.flatMap(({ event, afterMs, tokens, tree }) => {
    nowMs += afterMs;
    if (tree !== undefined) judge.takeFiles(tree);
    return [judge.spend(tokens), event && judge.add(event, nowMs)].filter((one) => one != null);
  });
}

/** Thresholds were fixed on the other half. */
const sessions = labelledSessions().filter(({ half }) => half === 'unknown');
const stuck = sessions.filter(({ circle }) => circle !== null);
const healthy = sessions.filter(({ circle }) => circle === null);
const measuresOf = (session: LabelledSession) => verdictsOf(session).map(({ measure }) => measure);

describe('ProgressJudge', () => {
  it('at least 25 of 30 stuck sessions are ended, after a message and an interruption', () => {
    const ended = stuck.filter((session) => measuresOf(session).includes('end'));
    expect([stuck.length, ended.length >= 25]).toEqual([30, true]);
    for (const session of ended) {
      const [{ circle }] = verdictsOf(session).filter(({ measure }) => measure === 'end') as [
        Verdict,
      ];
      const before = verdictsOf(session).filter((verdict) => verdict.circle === circle);
      expect(before.slice(0, 3).map(({ measure }) => measure)).toEqual([
        'tell',
        'interrupt',
        'end',
      ]);
    }
  });

  it('the circle of a stuck session is named', () => {
    const named = stuck.filter((session) => {
      const end = verdictsOf(session).find(({ measure }) => measure === 'end');
      return end?.circle === session.circle;
    });
    expect(named.length).toBeGreaterThanOrEqual(25);
  });

  it('no healthy session is ended or interrupted', () => {
    expect(healthy).toHaveLength(55);
    const hurt = healthy.filter((session) => measuresOf(session).some((one) => one !== 'tell'));
    expect(hurt.map(({ name }) => name)).toEqual([]);
  });

  it('a circle that the agent has left is told anew', () => {
    const judge = new ProgressJudge();
    const measures: string[] = [];
    let id = 0;
    const step = (input: string, output: string) => {
      const call = { id: `${++id}`, name: 'read', title: `Read ${input}`, input };
      judge.add({ type: 'tool_call', ...call }, id);
      const verdict = judge.add({ type: 'tool_result', id: call.id, ok: true, output }, id);
      if (verdict) measures.push(verdict.measure);
    };
    const circle = () => Array.from({ length: 8 }, () => step('a', 'same'));
    const leave = () => Array.from({ length: 5 }, (_, i) => step(`b${i}`, `new ${id}`));
    circle();
    leave();
    circle();
    expect(measures).toEqual(['tell', 'tell']);
  });
});
