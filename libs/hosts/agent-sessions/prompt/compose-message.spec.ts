import { expect, test } from '@jest/globals';
import { composeMessage } from './compose-message.js';

test.each([
  [{ type: 'message', text: 'Use ISO weeks.' }, 'Use ISO weeks.'],
  [{ type: 'review', text: 'Wrong.', data: {} }, '[review] Wrong.'],
  [{ type: 'review', text: '' }, '[review]'],
  [{ type: 'message', text: '', data: { line: 7 } }, '```json\n{\n  "line": 7\n}\n```'],
  [{ type: 'message', text: 'See:', data: { line: 7 } }, 'See:\n\n```json\n{\n  "line": 7\n}\n```'],
])('the words of %j', (message, words) => {
  expect(composeMessage(message)).toBe(words);
});
