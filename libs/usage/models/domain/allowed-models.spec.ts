import { describe, expect, it } from '@jest/globals';
import { describeRefusal, refusalOf } from './allowed-models.js';

const ALL = ['*'];
const CLAUDE = ['claude-*'];
const SMALL = ['claude-haiku-4-5', 'gpt-5-nano'];

describe('a model', () => {
  it.each<[string, string | undefined, string[], string[] | null, string | undefined]>([
    ['is allowed by default', 'gpt-5.5', ALL, ALL, undefined],
    ['without a name is allowed by default', undefined, ALL, null, undefined],
    ['is allowed by a pattern', 'claude-opus-4-6', CLAUDE, null, undefined],
    ['is allowed by both levels', 'claude-haiku-4-5', CLAUDE, SMALL, undefined],
    ['is refused by its workspace', 'gpt-5-nano', CLAUDE, SMALL, 'workspace'],
    ['is refused by its project', 'claude-opus-4-6', CLAUDE, SMALL, 'project'],
    ['without a name is refused by a list', undefined, CLAUDE, null, 'workspace'],
    ['is refused by an empty list', 'gpt-5.5', ALL, [], 'project'],
    ['is allowed in any version', 'claude-haiku-4-5-20251001', SMALL, null, undefined],
    ['is another than a longer name', 'gpt-5-nano-2', SMALL, null, 'workspace'],
    ['is another than a free variant', 'gpt-5-nano:free', SMALL, null, 'workspace'],
    ['has upper and lower case', 'GPT-5-nano', SMALL, null, 'workspace'],
  ])('%s', (_, model, workspace, project, level) => {
    expect(refusalOf(model, { workspace, project })?.level).toBe(level);
  });
});

it('a refusal names the model, the level and the allowed models', () => {
  const allowed = Array.from({ length: 12 }, (_, index) => `m${index}`);
  expect(describeRefusal('gpt-5.5', { level: 'project', allowed: SMALL })).toBe(
    'The model "gpt-5.5" is not allowed: its project allows only claude-haiku-4-5, gpt-5-nano.',
  );
  expect(describeRefusal('x', { level: 'workspace', allowed })).toMatch(/m9 and 2 more\.$/);
  expect(describeRefusal(undefined, { level: 'workspace', allowed: [] })).toBe(
    'A model without a valid name is not allowed: its workspace allows no model.',
  );
});
