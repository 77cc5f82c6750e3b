import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { costOf, OutputBudget, type RawEntry } from './output-budget.js';

const LIMIT = 2_000;

function entryOf(line: string): RawEntry {
  return { level: 'INFO', event: 'stdout', line, at: 0 };
}

function pass(lines: string[]) {
  const budget = new OutputBudget(LIMIT);
  const written = [...lines.flatMap((line) => budget.admit(entryOf(line))), ...budget.finish()];
  const kept = written.filter(({ event }) => event === 'stdout').map(({ message }) => message);
  return { kept, notices: written.filter(({ event }) => event === 'output_truncated') };
}

// Long enough that most of them do not fit.
const anyLines = fc.array(
  fc.nat(700).map((length) => 'x'.repeat(length)),
  { maxLength: 60, size: 'max' },
);

describe('The log of a run', () => {
  test('the log has everything within its budget', () => {
    expect(pass(['a', 'b', ''])).toEqual({ kept: ['a', 'b', ''], notices: [] });
  });

  test('the log reports its truncation at once, and the missing lines at the end', () => {
    const lines = Array.from({ length: 1_000 }, (_, index) => `line ${index}`);
    const { kept, notices } = pass(lines);
    expect(kept[0]).toBe('line 0');
    expect(kept.at(-1)).toBe('line 999');
    expect(notices[0]?.message).toMatch(/^The output exceeds 2000 characters/);
    expect(notices[1]?.message).toContain(`${1_000 - kept.length} lines`);
  });

  test('the log reports a single line that exceeds the budget', () => {
    const { kept, notices } = pass(['x'.repeat(5_000)]);
    expect(kept).toEqual([]);
    expect(notices.map(({ message }) => message)).toEqual([
      expect.stringMatching(/exceeds/),
      expect.stringMatching(/1 lines \(5000 characters\)/),
    ]);
  });

  test('the log never exceeds its budget, and has the first and last lines in order', () => {
    fc.assert(
      fc.property(anyLines, (lines) => {
        const numbered = lines.map((line, index) => `${index}:${line}`);
        const { kept, notices } = pass(numbered);
        const cost = kept.reduce((sum, line) => sum + costOf(entryOf(line)), 0);
        expect(cost).toBeLessThanOrEqual(LIMIT);
        const whole = kept.length === numbered.length;
        if (whole) return expect(kept).toEqual(numbered);
        const gap = kept.findIndex((line, index) => line !== numbered[index]);
        const headLength = gap === -1 ? kept.length : gap;
        const tail = kept.slice(headLength);
        const tailCost = tail.reduce((sum, line) => sum + costOf(entryOf(line)), 0);
        expect(tailCost).toBeLessThanOrEqual(LIMIT / 4);
        expect(kept.slice(0, headLength)).toEqual(numbered.slice(0, headLength));
        expect(tail).toEqual(numbered.slice(numbered.length - tail.length));
        expect(notices).toHaveLength(2);
      }),
    );
  });

  test('the log makes only the lines readable that it keeps', () => {
    let made = 0;
    const budget = new OutputBudget(LIMIT);
    const show = () => `line ${++made}`;
    const line = { size: 10, show, showColoured: show };
    for (let index = 0; index < 10_000; index += 1) budget.admit({ ...entryOf(''), line });
    budget.finish();
    expect(made).toBeLessThan(LIMIT / 64);
  });

  test('entries with details pass, shortened, after the others have used up their share', () => {
    const budget = new OutputBudget(10_000, true);
    const call = { ...entryOf('y'.repeat(1_000)), details: { call: 1 } };
    const others = Array.from({ length: 20 }, () =>
      budget.admit(entryOf('x'.repeat(1_000))),
    ).flat();
    expect(others).toHaveLength(5);
    const calls = Array.from({ length: 20 }, () => budget.admit(call)).flat();
    expect(calls).toHaveLength(6);
    for (const { message, details } of calls)
      expect([message.length, details]).toEqual([300, call.details]);
    const last = budget.finish();
    expect(last.length).toBeGreaterThan(1);
    const all = [...others, ...calls, ...last];
    expect(JSON.stringify(all.map(({ message }) => message)).length).toBeLessThan(10_000);
  });

  test('a long input of a tool call does not use up the share of later calls', () => {
    const budget = new OutputBudget(10_000, true);
    while (budget.admit(entryOf('x'.repeat(1_000))).length > 0);
    const call = { ...entryOf('y'), details: { call: 1, input: 'z'.repeat(8_000) } };
    const [first, second] = [budget.admit(call), budget.admit(call)].flat();
    for (const entry of [first, second])
      expect(entry?.details).toEqual({ call: 1, input: expect.stringMatching(/^z{1,299}…$/) });
  });
});
