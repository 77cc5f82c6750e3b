import { describe, expect, it } from '@jest/globals';
import type { ModelRequest } from '#lib/model-proxy';
import { DroverProblem } from '#lib/api-client';
import type { ModelHold } from '../api/types.js';
import { RequestHolds } from './request-holds.js';

const REQUEST: ModelRequest = {
  id: '01900000-0000-7000-8000-000000000001',
  provider: 'anthropic',
  model: 'claude-sonnet-4-5',
  inputBound: 4_000,
  outputBound: 500,
};
const NEVER = new AbortController().signal;
const quiet = () => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };

/** A server that answers by the wish, and remembers it. */
function aServer(
  answer: (wish: Wish, before: number) => ModelHold['outcome'] | Error,
  reason: ModelHold['reason'] = null,
) {
  const wishes: Wish[] = [];
  const released: string[] = [];
  const holds = new RequestHolds({
    runId: 'run',
    log,
    wait: { baseMs: 1, capMs: 1 },
    api: {
      holdRequest: (_, __, wish) => {
        const outcome = answer(wish, wishes.length);
        wishes.push(wish);
        if (outcome instanceof Error) return Promise.reject(outcome);
        const rest = { message: 'Too little.', budget: null, model: null, fallbacks: [] };
        return Promise.resolve({ outcome, reason, ...rest });
      },
      releaseRequest: (_, id) => Promise.resolve(released.push(id)),
    },
  });
  return { holds, wishes, released };
}
interface Wish {
  tokens: number;
  final: boolean;
}

describe('the tokens of a request', () => {
  it('are held by the bytes of its input and its limit of output', async () => {
    const { holds, wishes } = aServer(() => 'granted');
    expect(await holds.ask(REQUEST, NEVER)).toEqual({ kind: 'admitted' });
    expect(wishes).toEqual([{ tokens: 4_500, model: REQUEST.model, final: false }]);
  });

  it('are held by the count of the provider if the bytes are too many', async () => {
    const { holds, wishes } = aServer(({ tokens }) => (tokens > 2_000 ? 'refused' : 'granted'));
    const counted = { ...REQUEST, countInput: () => Promise.resolve(1_200) };
    expect(await holds.ask(counted, NEVER)).toEqual({ kind: 'admitted' });
    expect(wishes.map(({ tokens }) => tokens)).toEqual([4_500, 1_700]);
  });

  it('a count that the provider does not tell changes nothing, and the last refusal counts', async () => {
    const { holds, wishes } = aServer(() => 'refused');
    const uncounted = { ...REQUEST, countInput: () => Promise.resolve(undefined) };
    expect(await holds.ask(uncounted, NEVER)).toEqual({
      kind: 'refused',
      reason: 'budget_exceeded',
      message: 'Too little.',
    });
    expect(wishes.map(({ final }) => final)).toEqual([false, false, true]);
  });

  it('are refused at once if the model has no price', async () => {
    const { holds, wishes } = aServer(() => 'unpriced');
    const counted = { ...REQUEST, countInput: () => Promise.resolve(1_200) };
    const refused = { kind: 'refused', reason: 'model_unpriced', message: 'Too little.' };
    expect(await holds.ask(counted, NEVER)).toEqual(refused);
    expect(wishes.map(({ final }) => final)).toEqual([false]);
  });

  it('are refused at once if the model is not allowed', async () => {
    const { holds, wishes } = aServer(() => 'unpriced', 'model_not_allowed');
    const refused = { kind: 'refused', reason: 'model_not_allowed', message: 'Too little.' };
    expect(await holds.ask(REQUEST, NEVER)).toEqual(refused);
    expect(wishes).toHaveLength(1);
  });

  it('are waited for while other requests hold them', async () => {
    const { holds, wishes } = aServer((_, before) => (before < 2 ? 'wait' : 'granted'));
    expect(await holds.ask(REQUEST, NEVER)).toEqual({ kind: 'admitted' });
    expect(wishes).toHaveLength(3);
  });

  it('are not waited for when the agent has gone', async () => {
    const { holds } = aServer(() => 'wait');
    await expect(holds.ask(REQUEST, AbortSignal.abort())).rejects.toThrow();
  });

  it('a server of the version before holds nothing', async () => {
    const problem = { status: 404, code: 'route_not_found', title: 'The path does not exist' };
    const { holds } = aServer(() => new DroverProblem(problem as never, undefined));
    expect(await holds.ask(REQUEST, NEVER)).toEqual({ kind: 'admitted' });
  });
});
