import { describe, expect, it } from '@jest/globals';
import { reviewInstructions, verdictIn } from './agent-review.js';

describe('the verdict of a reviewing agent', () => {
  it('is the last JSON object with a verdict', () => {
    const words =
      'An example: {"verdict": "approve"}. Mine:\n```json\n{"verdict": "request_changes", ' +
      '"body": "No {test}", "comments": [{"path": "a.ts", "line": 3, "text": "here"}, {"path": 1}]}\n```';
    expect(verdictIn(words)).toEqual({
      verdict: 'changes_requested',
      body: 'No {test}',
      comments: [{ path: 'a.ts', line: 3, text: 'here' }],
    });
  });

  it('is found among other braces, and fits into its columns', () => {
    const comment = { path: 'a\0', line: 3, text: '\ud800' };
    const comments = [...Array<object>(50).fill(comment), { ...comment, line: 0 }];
    const verdict = JSON.stringify({ verdict: 'approve', body: '\0', comments });
    for (const words of [`I read {a}. ${verdict}`, `\`\`\`json\n${verdict}\n\`\`\`\nDone {b}.`]) {
      expect(verdictIn(words)).toEqual({
        verdict: 'approved',
        body: '\ufffd',
        comments: Array(50).fill({ path: 'a\ufffd', line: 3, text: '\ufffd' }),
      });
    }
    const long = JSON.stringify({ verdict: 'approve', body: 'x'.repeat(100_000) });
    expect(verdictIn(`\`\`\`\n${long}\n\`\`\``)?.body).toHaveLength(16_000);
  });

  it('is looked for in a bounded time', () => {
    const began = performance.now();
    expect(verdictIn('{}'.repeat(500_000))).toBeUndefined();
    expect(verdictIn('{'.repeat(1_000_000))).toBeUndefined();
    expect(performance.now() - began).toBeLessThan(2_000);
  });

  it.each(['', 'I approve it.', '{"verdict": "maybe"}', '{'])('%j has none', (words) => {
    expect(verdictIn(words)).toBeUndefined();
  });

  it('is asked with the task, the acceptance and the diff, which cannot end its fence', () => {
    const change = {
      title: 'Dates',
      description: null,
      instructions: 'Mend it.',
      acceptance: 'npm test',
    };
    const text = reviewInstructions({ ...change, target: 'main', headCommit: 'a' }, '+```\n+x');
    expect(text).toContain('Dates\n\nMend it.');
    expect(text).toContain('````\n+```\n+x\n````');
    expect(
      reviewInstructions({ ...change, target: 'main', headCommit: 'a' }, 'x'.repeat(200_000))
        .length,
    ).toBeLessThan(90_000);
  });
});
