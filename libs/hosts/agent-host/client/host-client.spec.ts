import { expect, it } from '@jest/globals';
import { isTransient } from './errors.js';
import { hostClient } from './host-client.js';

it('a body that JSON cannot express is refused at once, and not as a network failure', async () => {
  const server = hostClient('http://127.0.0.1:1/api/v1');
  const deep = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`) as unknown;
  const end = (outputResult: Record<string, unknown>) =>
    server
      .post('/api/v1/runs/{runId}/complete', {
        params: { path: { runId: 'r' } },
        body: { outputResult },
      })
      .catch((error: unknown) => error);
  const refusal = await end({ deep });
  expect(refusal).toMatchObject({ status: 400, code: 'malformed_json' });
  expect(isTransient(refusal)).toBe(false);
  expect(isTransient(await end({}))).toBe(true);
});
