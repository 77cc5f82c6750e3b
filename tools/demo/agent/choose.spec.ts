import { describe, expect, it } from '@jest/globals';
import { chooseAgent } from './choose.js';

const choose = (installed: string[], env: Record<string, string> = {}) => {
  const { kind, isInstalled, answers } = chooseAgent(installed, env);
  return { kind: kind.name, isInstalled, ...answers };
};

describe("the demo's choice of an agent", () => {
  it.each([
    ['none is installed', [], { kind: 'codex', isInstalled: false }],
    ['Codex is installed', ['gemini-cli', 'codex'], { kind: 'codex', isInstalled: true }],
    ['another one is installed', ['gemini-cli'], { kind: 'gemini-cli', isInstalled: true }],
    ['only a closed one is installed', ['claude-code'], { kind: 'codex', isInstalled: false }],
  ])('without a key, the stand-in answers an open agent: %s', (_case, installed, expected) => {
    expect(choose(installed)).toEqual({ ...expected, by: 'stand-in', unused: [] });
  });

  it('a key goes to the installed agent of its provider', () => {
    const env = { GEMINI_API_KEY: 'g', GOOGLE_GEMINI_BASE_URL: 'http://gateway' };
    expect(choose(['codex', 'gemini-cli'], env)).toEqual({
      kind: 'gemini-cli',
      isInstalled: true,
      by: 'provider',
      key: 'g',
      baseUrl: 'http://gateway',
      variable: 'GEMINI_API_KEY',
    });
    expect(choose(['claude-code'], { ANTHROPIC_API_KEY: 'a' })).toMatchObject({
      kind: 'claude-code',
      by: 'provider',
    });
  });

  it('a key of OpenAI goes to Codex, which is downloaded', () => {
    expect(choose(['gemini-cli'], { OPENAI_API_KEY: 'o' })).toMatchObject({
      kind: 'codex',
      isInstalled: false,
      by: 'provider',
      key: 'o',
    });
  });

  it('a key without an agent is named as unused, and an empty one counts as none', () => {
    const env = { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: '' };
    expect(choose(['codex'], env)).toMatchObject({
      kind: 'codex',
      by: 'stand-in',
      unused: ['ANTHROPIC_API_KEY'],
    });
  });
});
