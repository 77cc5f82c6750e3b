import { describe, expect, it } from '@jest/globals';
import { Output } from './output/output.js';
import { showExplanation } from './task-view.js';

type Explanation = Parameters<typeof showExplanation>[1];
type Estimate = Explanation['estimate'];

/** Renders the explanation for a pipe. */
function render(values: Partial<Explanation>, estimate: Partial<Estimate>): string {
  let stdout = '';
  const out = new Output(
    { json: false, colour: false, terminal: false, width: 80 },
    (text) => (stdout += text),
    () => undefined,
  );
  const reasons: Explanation['reasons'] = [];
  const nothing = { start: null, end: null, unknownBecause: null } as Estimate;
  const explanation = { status: 'PENDING', live: false, reasons, ...values } as Explanation;
  showExplanation(out, { ...explanation, estimate: { ...nothing, ...estimate } });
  return stdout;
}

function inSeconds(p50: number, p90: number): { p50: string; p90: string } {
  const at = (seconds: number) => new Date(Date.now() + seconds * 1_000 + 400).toISOString();
  return { p50: at(p50), p90: at(p90) };
}

describe('a task explanation', () => {
  it('a waiting task shows its estimated start and end', () => {
    expect(render({}, { start: inSeconds(5, 20), end: inSeconds(60, 120) })).toBe(
      'status\tPENDING\n' +
        'starts\tin 5 s (50%), in 20 s (90%)\n' +
        'ends\tin 1 m 0 s (50%), in 2 m 0 s (90%)\n',
    );
  });

  it.each(['ASSIGNED', 'RUNNING'] as const)(
    'a task that is %s shows no estimated start',
    (status) => {
      const estimate = { start: inSeconds(-30, -30), end: inSeconds(60, 120) };
      expect(render({ status, live: true }, estimate)).toBe(
        `status\t${status}\nends\tin 1 m 0 s (50%), in 2 m 0 s (90%)\n`,
      );
    },
  );

  it('a task without an estimate shows the reason', () => {
    const start = inSeconds(-30, -30);
    expect(render({ status: 'RUNNING', live: true }, { start, unknownBecause: 'no_history' })).toBe(
      'status\tRUNNING\nno estimate\tNo task of its type has completed yet.\n',
    );
  });
});
