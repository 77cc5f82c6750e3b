import { describe, expect, it } from '@jest/globals';
import type { DroverError } from '#lib/kernel';
import { limitedBy, type LimitReport, limitSeconds, MAX_LIMIT_SECONDS } from './provider-limit.js';

const NOW = new Date('2026-03-01T12:00:00Z');
const inSeconds = (seconds: number) => new Date(NOW.getTime() + seconds * 1_000).toISOString();

function fieldOf(refused: () => unknown): string | undefined {
  try {
    refused();
    return undefined;
  } catch (error) {
    return (error as DroverError).extras.errors?.[0]?.field;
  }
}

describe('limitedBy', () => {
  it.each<[LimitReport, runModel: string | null, provider: string, model: string | null]>([
    [{}, 'claude-sonnet-4-6', 'anthropic', 'claude-sonnet-4-6'],
    [{}, 'us.anthropic.claude-sonnet-4-6', 'anthropic', 'us.anthropic.claude-sonnet-4-6'],
    [{ model: 'claude-sonnet-4-20250514' }, null, 'anthropic', 'claude-sonnet-4'],
    [{ model: 'gpt-5' }, 'claude-opus-4-6', 'openai', 'gpt-5'],
    [{ model: 'o3-mini' }, null, 'openai', 'o3-mini'],
    [{ model: 'gemini-2.5-pro' }, null, 'google', 'gemini-2.5-pro'],
    [{ provider: 'Gemini', model: 'gemini-2.5-pro' }, null, 'google', 'gemini-2.5-pro'],
    [{ provider: 'Bedrock', model: 'claude-opus-4-6' }, null, 'bedrock', 'claude-opus-4-6'],
    [{ provider: 'mistral', model: 'devstral' }, null, 'mistral', 'devstral'],
    [{ allModels: true }, 'gpt-5', 'openai', null],
    [{}, 'ft:gpt-4o-mini:org::x', 'openai', 'ft:gpt-4o-mini:org::x'],
    [{}, 'ft:gpt-4o-2024-08-06:org::x', 'openai', 'ft:gpt-4o-2024-08-06:org::x'],
    [{ provider: 'a' }, 'deepseek/deepseek-r1:free', 'a', 'deepseek/deepseek-r1:free'],
    [{}, 'anthropic.claude-sonnet-4-20250514-v1:0', 'anthropic', 'anthropic.claude-sonnet-4'],
    [{ provider: 'a' }, 'arn:aws:bedrock:eu::x/claude-5:0', 'a', 'arn:aws:bedrock:eu::x/claude-5'],
  ])('%p of a run with %p: %s, %p', (report, runModel, provider, model) => {
    expect(limitedBy(report, runModel)).toMatchObject({ provider, model });
  });

  it.each<[LimitReport, covered: string[], free: string[]]>([
    [
      { model: 'claude-sonnet-4' },
      ['claude-sonnet-4', 'claude-sonnet-4-20250514', 'claude-sonnet-4@20250514'],
      ['claude-sonnet-4-5', 'claude-opus-4', 'a-claude-sonnet-4', 'claude-sonnet-40'],
    ],
    [
      { model: 'deepseek/deepseek-r1:free', provider: 'deepseek' },
      ['deepseek/deepseek-r1:free', 'deepseek/deepseek-r1:free@2'],
      ['deepseek/deepseek-r1', 'deepseek/deepseek-r1:paid'],
    ],
    [
      { model: 'anthropic.claude-sonnet-4-20250514-v1:0' },
      ['anthropic.claude-sonnet-4-20250514-v1:0', 'anthropic.claude-sonnet-4:1'],
      ['anthropic.claude-sonnet-4:free', 'anthropic.claude-sonnet-4-20250514:free'],
    ],
    [{ model: 'gpt-4.1' }, ['gpt-4.1-2025-04-14', 'gpt-4.1'], ['gpt-4.1-mini', 'gpt-4x1']],
    [
      { model: 'claude-sonnet-4', allModels: true },
      ['claude-opus-4-6', 'eu.anthropic.claude-3-haiku', 'anthropic/claude-opus-4-6'],
      ['gpt-5', 'gemini-3-pro', 'not-claude-like'],
    ],
    [
      { provider: 'openai', model: 'gpt-5', allModels: true },
      ['gpt-4o', 'o3-mini'],
      ['claude-3-haiku'],
    ],
    [
      { provider: 'gemini', model: 'gemini-3-pro', allModels: true },
      ['gemini-3-flash', 'google/gemini-3-pro'],
      ['gpt-5'],
    ],
    [
      { provider: 'mistral', model: 'devstral', allModels: true },
      ['mistral-large', 'mistral/codestral', 'devstral', 'devstral-latest'],
      ['codestral', 'gpt-5', 'devstral-two'],
    ],
  ])('%p covers %p, and not %p', (report, covered, free) => {
    const isCovered = new RegExp(limitedBy(report, null)?.covers ?? '$^');
    expect(covered.filter((name) => !isCovered.test(name))).toEqual([]);
    expect(free.filter((name) => isCovered.test(name))).toEqual([]);
  });

  it.each<LimitReport>([{}, { provider: 'anthropic', allModels: true }, { model: 'devstral' }])(
    '%p of a run without a model leads to no limit',
    (report) => {
      expect(limitedBy(report, null)).toBeNull();
    },
  );
});

describe('limitSeconds', () => {
  it.each<[LimitReport, number]>([
    [{}, 60],
    [{ retryAfterSeconds: 7 }, 7],
    [{ until: inSeconds(90) }, 90],
    [{ until: inSeconds(MAX_LIMIT_SECONDS) }, MAX_LIMIT_SECONDS],
    [{ until: inSeconds(MAX_LIMIT_SECONDS + 1) }, MAX_LIMIT_SECONDS],
    [{ until: inSeconds(0) }, 0],
    [{ until: inSeconds(-1) }, 0],
  ])('%p: %p', (report, seconds) => {
    expect(limitSeconds(report, NOW)).toBe(seconds);
  });

  it('a time that is given twice is refused', () => {
    const report = { until: inSeconds(5), retryAfterSeconds: 5 };
    expect(fieldOf(() => limitSeconds(report, NOW))).toBe('until');
  });
});
