import { describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { BUILT_IN_RULES, type RoutingRule, selectModel, type TaskFacts } from './select-model.js';

const MODELS = { haiku: 'small-one', sonnet: 'usual-one', opus: 'large-one' };
const PROJECT = newId();

function facts(given: Partial<TaskFacts> = {}): TaskFacts {
  return {
    taskType: 'development',
    priority: 5,
    estimatedComplexity: null,
    estimatedTokens: null,
    projectId: null,
    ...given,
  };
}

describe('selectModel, by the rules of the server', () => {
  it.each<[Partial<TaskFacts>, string, string]>([
    [{}, 'sonnet', 'default'],
    [{ priority: 10 }, 'opus', 'critical'],
    [{ priority: 9 }, 'opus', 'critical'],
    [{ priority: 8 }, 'sonnet', 'default'],
    [{ estimatedComplexity: 9 }, 'opus', 'complex'],
    [{ estimatedComplexity: 8 }, 'sonnet', 'default'],
    [{ taskType: 'boilerplate' }, 'haiku', 'boilerplate'],
    [{ taskType: 'boilerplate', estimatedTokens: 90_000n }, 'haiku', 'boilerplate'],
    [{ taskType: 'boilerplate', estimatedComplexity: 9 }, 'opus', 'complex'],
    [{ taskType: 'boilerplate', priority: 9 }, 'opus', 'critical'],
    [{ estimatedTokens: 9_999n }, 'haiku', 'small'],
    [{ estimatedTokens: 10_000n }, 'sonnet', 'default'],
    [{ estimatedTokens: 0n, estimatedComplexity: 50 }, 'opus', 'complex'],
  ])('%p gets %s', (given, tier, rule) => {
    const model = MODELS[tier as keyof typeof MODELS];
    expect(selectModel(facts(given), [], MODELS)).toEqual({ tier, model, rule });
    expect(BUILT_IN_RULES).toContain(rule);
  });
});

describe('selectModel, by the rules of the workspace', () => {
  it.each<[RoutingRule, Partial<TaskFacts>, boolean]>([
    [{}, {}, true],
    [{ taskType: 'development' }, {}, true],
    [{ taskType: 'review' }, {}, false],
    [{ minPriority: 5 }, {}, true],
    [{ minPriority: 6 }, {}, false],
    [{ minComplexity: 3 }, { estimatedComplexity: 3 }, true],
    [{ minComplexity: 3 }, { estimatedComplexity: 2 }, false],
    [{ minComplexity: 1 }, {}, false],
    [{ maxEstimatedTokens: '500' }, { estimatedTokens: 500n }, true],
    [{ maxEstimatedTokens: '500' }, { estimatedTokens: 501n }, false],
    [{ maxEstimatedTokens: '500' }, {}, false],
    [{ projectId: PROJECT }, { projectId: PROJECT }, true],
    [{ projectId: PROJECT }, {}, false],
    [{ taskType: 'development', minPriority: 6 }, {}, false],
    [{ taskType: 'development', minPriority: 5, projectId: PROJECT }, { projectId: PROJECT }, true],
  ])('%p and %p: %p', (rule, given, holds) => {
    const choice = selectModel(facts(given), [{ ...rule, model: 'another-one' }], MODELS);
    const own = { tier: null, model: 'another-one', rule: 'own', index: 0 };
    expect(choice.rule === 'own' ? choice : undefined).toEqual(holds ? own : undefined);
  });

  it('the first rule of the workspace that matches decides before the server', () => {
    const rules: RoutingRule[] = [
      { taskType: 'review', tier: 'haiku' },
      { minPriority: 5, tier: 'opus' },
      { tier: 'haiku' },
    ];
    const choose = (given: Partial<TaskFacts>) => selectModel(facts(given), rules, MODELS);
    const large = { tier: 'opus', model: 'large-one', rule: 'own', index: 1 };
    expect(choose({})).toEqual(large);
    expect(choose({ priority: 4 })).toMatchObject({ tier: 'haiku', index: 2 });
    expect(choose({ taskType: 'review', priority: 10 })).toMatchObject({ tier: 'haiku', index: 0 });
  });
});
