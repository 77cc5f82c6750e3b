import { expect, it } from '@jest/globals';
import { isTransient } from './errors.js';
import { HttpClient } from './http-client.js';

it('A body that cannot be written as JSON is refused at once, and not for want of a network', async () => {
  const http = new HttpClient('http://127.0.0.1:1');
  const deep = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`) as unknown;
  const request = { method: 'POST', path: '/', timeoutMs: 1_000 } as const;
  const refusal = await http.send({ ...request, body: { deep } }).catch((error: unknown) => error);
  expect(refusal).toMatchObject({ status: 400, code: 'unsendable_body' });
  expect(isTransient(refusal)).toBe(false);
  expect(isTransient(await http.send(request).catch((error: unknown) => error))).toBe(true);
  http.close();
});
