import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Turn } from '../../../test/support/model-server/index.js';
import type { Admission, ModelRequest } from './domain/contract.js';
import { Rig, type Wire, WIRES } from './testing/rig.js';

const asked = fc.record({
  wire: fc.constantFrom(...(Object.keys(WIRES) as Wire[])),
  input: fc.integer({ min: 0, max: 800 }),
  cacheRead: fc.integer({ min: 0, max: 200 }),
  output: fc.integer({ min: 7, max: 500 }),
  failure: fc.constantFrom(undefined, 'cut', 'refused', 'broken off'),
});

it('a budget that holds the bounds of requests is never overdrawn', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(asked, { maxLength: 12 }), fc.integer({ max: 9000 }), isHeld),
    { numRuns: 15 },
  );
});

it('an encoded model of a path is admitted by its name', async () => {
  const models: string[] = [];
  const rig = await Rig.open([{}], {
    admit: ({ model }) => {
      models.push(model);
      return Promise.resolve({ kind: 'admitted' });
    },
  });
  const ask = (model: string) => rig.ask(`/gemini/v1beta/models/${model}:generateContent`, {});
  expect((await ask('gemini-2.5%2Dpro')).status).toBe(200);
  expect((await ask('gemini-2.5%pro')).status).toBe(400);
  expect(models).toEqual(['gemini-2.5-pro']);
  await rig.close();
});

type Asked = (typeof asked extends fc.Arbitrary<infer T> ? T : never)[];

async function isHeld(requests: Asked, budget: number): Promise<void> {
  const holds = new Map<string, number>();
  let consumed = 0;
  const held = () => [...holds.values()].reduce((sum, each) => sum + each, 0);
  const admit = ({ id, inputBound, outputBound = 0 }: ModelRequest): Promise<Admission> => {
    const bound = inputBound + outputBound;
    if (consumed + held() + bound > budget) {
      const message = 'No budget is left.';
      return Promise.resolve({ kind: 'refused', reason: 'budget_exceeded', message });
    }
    holds.set(id, bound);
    return Promise.resolve({ kind: 'admitted' });
  };
  const turns = requests.map(({ input, cacheRead, output, failure }): Turn => {
    const fails = failure === 'refused' ? ({ status: 500 } as const) : undefined;
    const cutAfter = failure === 'cut' ? 2 : undefined;
    return { usage: { input, cacheRead, output, cacheWrite: 0 }, fails, cutAfter };
  });
  const rig = await Rig.open(({ prompt }) => [turns[Number(prompt)] ?? {}], {
    admit,
    ended(usage) {
      const { id, input, output, cacheRead, cacheWrite } = usage;
      const used = input + output + cacheRead + cacheWrite;
      expect(used).toBeLessThanOrEqual(holds.get(id) ?? -1);
      holds.delete(id);
      consumed += used;
    },
  });
  await Promise.all(
    requests.map(async ({ wire, failure }, index) => {
      const abort = new AbortController();
      const body = withPrompt(wire, `${index}`);
      const response = await rig.ask(WIRES[wire].path, body, { signal: abort.signal });
      if (failure === 'broken off') abort.abort();
      await response.text().catch(() => undefined);
    }),
  );
  await rig.proxy.close();
  await rig.server.close();
  expect(held()).toBe(0);
  expect(consumed).toBeLessThanOrEqual(Math.max(0, budget));
}

function withPrompt(wire: Wire, prompt: string): object {
  const body = WIRES[wire].body(true);
  if (wire === 'gemini')
    return { ...body, contents: [{ role: 'user', parts: [{ text: prompt }] }] };
  const said = [{ role: 'user', content: prompt }];
  return wire === 'responses' ? { ...body, input: said } : { ...body, messages: said };
}
