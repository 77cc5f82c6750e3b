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
