import { expect, test } from '@jest/globals';
import { composeContinuation, composeMessage, composePrompt } from './compose-prompt.js';

const TASK = { id: 'id', title: 'Mend the parser' };

test('a prompt has a section for each part of the task', () => {
  const prompt = composePrompt({
    ...TASK,
    description: 'ISO weeks fail.',
    instructions: 'Use no library.',
    steps: ['Read', 'Write'],
    deliverables: ['A test'],
    acceptance: ['npm test'],
    inputContext: { file: 'parser.ts' },
    answers: [{ prompt: 'Which year?', answer: '2026' }],
  });
  expect(prompt.split('\n\n').filter((part) => part.startsWith('#'))).toEqual([
    '# Mend the parser',
    '## Instructions',
    '## Steps',
    '## Deliverables',
    '## Acceptance',
    '## Input',
    '## Answers of people',
  ]);
  expect(prompt).toContain('1. Read\n2. Write');
  expect(prompt).toContain('- Which year?\n  Answer: 2026');
});

test('a task with a title only has no empty section', () => {
  expect(composePrompt({ ...TASK, steps: [], inputContext: {}, description: null })).toBe(
    '# Mend the parser\n\nWhen you are done, end with a short summary of the results.',
  );
});

test('a new conversation gets what the earlier run left', () => {
  const handover = {
    ended: 'exit code 1',
    checkpoint: { page: 7 },
    transcript: 'I read the file.',
  };
  const prompt = composePrompt(TASK, handover);
  expect(prompt).toContain('## Earlier run\n\nexit code 1\n\n```json\n{\n  "page": 7\n}\n```');
  expect(prompt).toContain('## End of the earlier conversation\n\nI read the file.');
});

test('a continued conversation gets the reason and new answers only', () => {
  const answers = [{ prompt: 'Which year?', answer: '2026' }];
  const prompt = composeContinuation({ ...TASK, answers }, { ended: 'the machine was lost' });
  expect(prompt).toMatch(/^Your session was interrupted \(the machine was lost\)\. Continue/);
  expect(prompt).toContain('Answer: 2026');
  expect(prompt).not.toContain('Mend the parser');
});

test.each([
  [{ type: 'message', text: 'Use ISO weeks.' }, 'Use ISO weeks.'],
  [{ type: 'review', text: 'Wrong.', data: {} }, '[review] Wrong.'],
  [{ type: 'message', text: 'See:', data: { line: 7 } }, 'See:\n\n```json\n{\n  "line": 7\n}\n```'],
])('the words of %j', (message, words) => {
  expect(composeMessage(message)).toBe(words);
});

test('a finished conversation gets the request and its own end', () => {
  const transcript = 'The parser is mended.';
  const prompt = composeContinuation(TASK, { request: 'Now add a test.', transcript });
  expect(prompt).toMatch(/^You have worked on "Mend the parser" before\. .*:\n\nNow add a test\./);
  expect(prompt).toContain('## End of the earlier conversation\n\nThe parser is mended.');
});
