import { afterEach, describe, expect, it } from '@jest/globals';
import type { Failure, SeenRequest } from '../../../test/support/model-server/index.js';
import { Rig, type Wire, WIRES } from './testing/rig.js';

const wires = Object.keys(WIRES) as Wire[];

let rig: Rig;
afterEach(() => rig.close());

/** A provider that refuses the first requests, and a run with two fallbacks. */
async function open(...failures: Failure[]): Promise<void> {
  const left = [...failures];
  rig = await Rig.open(() => [{ fails: left.shift(), usage: { input: 30, output: 20 } }], {
    admit: () => Promise.resolve({ kind: 'admitted', fallbacks: ['second', 'third'] }),
  });
}

/** The model of a request, which Gemini has in its path. */
const modelOf = ({ body, path }: SeenRequest): unknown =>
  body.model ?? /models\/([^:]+)/.exec(path)?.[1];

const models = () => rig.server.requests.map(modelOf);

describe('a model that the provider refuses', () => {
  it.each(wires)('%s: the next one answers, and its usage is counted', async (wire) => {
    await open({ status: 429, retryAfter: 3_600 });
    const { status, text } = await rig.read(wire);
    expect({ status, text }).toEqual({ status: 200, text: rig.server.requests[1]?.sent });
    const [asked] = models();
    expect(models()).toEqual([asked, 'second']);
    expect(await rig.usage()).toMatchObject({
      ...rig.server.requests[1]?.served,
      model: 'second',
      requestedModel: 'second',
      status: 200,
      estimated: false,
    });
    expect(rig.ended).toHaveLength(1);
    expect(rig.limits).toEqual([]);
    const [replacement] = rig.replacements;
    expect(replacement).toMatchObject({ provider: WIRES[wire].provider, model: 'second' });
    const refused = { model: asked, message: expect.any(String), retryAfterMs: 3_600_000 };
    expect(replacement?.refused).toEqual([refused]);
  });

  it.each([
    ['messages', { status: 529 }],
    ['messages', { status: 500 }],
    ['responses', { status: 503 }],
    ['gemini', { status: 503 }],
  ] as const)('%s: %j leaves the request to the third one', async (wire, fails) => {
    await open(fails, fails);
    expect((await rig.read(wire)).status).toBe(200);
    expect(models().slice(1)).toEqual(['second', 'third']);
    expect(rig.replacements).toMatchObject([
      { model: 'third', refused: [{}, { model: 'second' }] },
    ]);
  });

  it('is the limit of the run if all fallbacks are refused', async () => {
    await open({ status: 529 }, { status: 404 }, { status: 429, retryAfter: 5 });
    const { status, text } = await rig.read('messages');
    expect([status, JSON.parse(text)]).toMatchObject([
      403,
      { error: { code: 'provider_limited' } },
    ]);
    expect(models()).toEqual(['claude-sonnet-4-5', 'second', 'third']);
    expect(rig.limits).toMatchObject([
      { model: 'claude-sonnet-4-5', reason: 'overloaded' },
      { model: 'third', reason: 'rate', retryAfterMs: 5_000 },
    ]);
    expect(rig.replacements).toEqual([]);
    expect(await rig.usage()).toMatchObject({ model: 'claude-sonnet-4-5', input: 0, status: 529 });
  });

  it.each([
    ['an error of the request', { status: 400 }, 400],
    ['a refused key', { status: 401 }, 403],
    ['a limit of the whole key', { status: 402 }, 403],
  ] as const)('%s has no fallback', async (_, fails, status) => {
    await open(fails);
    expect((await rig.read('messages')).status).toBe(status);
    expect(models()).toEqual(['claude-sonnet-4-5']);
  });
});
