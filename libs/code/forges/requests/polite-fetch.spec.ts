import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ForgeRefusal, ForgeUnavailable } from './failures.js';
import { openForge } from './open-forge.js';
import { ForgeLimits } from './polite-fetch.js';

describe('requests', () => {
  type Answer = { status: number; headers?: Record<string, string>; body?: unknown };
  let answers: Answer[];
  let asked: string[];
  let server: ReturnType<typeof createServer>;
  let url: string;

  beforeEach(async () => {
    [answers, asked] = [[], []];
    server = createServer((request: IncomingMessage, response: ServerResponse) => {
      asked.push(`${request.method} ${request.url}`);
      const { status, headers, body = {} } = answers.shift() ?? { status: 500 };
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/team/shop.git`;
  });

  afterEach(() => new Promise((resolve) => server.close(resolve)));

  const open = (forge: 'github' | 'gitea', limits = new ForgeLimits()) =>
    openForge(
      { url, forge, forgeUrl: null, credentials: { kind: 'token', token: 'secret' } },
      limits,
    )!;

  const failure = (asking: Promise<unknown>): Promise<unknown> =>
    asking.then(
      () => 'none',
      (e) => e,
    );

  describe.each(['github', 'gitea'] as const)('%s', (kind) => {
    const DATE = 'Thu, 26 Nov 2026 10:00:00 GMT';
    const reset = String(Date.parse(DATE) / 1_000 + 90);

    it.each<[string, Answer, number | undefined]>([
      ['a limit with its wait', { status: 429, headers: { 'retry-after': '7' } }, 7],
      [
        'a used-up limit',
        {
          status: 403,
          headers: { date: DATE, 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset },
        },
        90,
      ],
      ['a secondary limit', { status: 403, body: { message: 'secondary rate limit' } }, 60],
      ['a limit without a word', { status: 429 }, 60],
      ['a failure', { status: 502 }, undefined],
      ['a failure with its wait', { status: 503, headers: { 'retry-after': '3' } }, 3],
    ])('%s is a wait', async (_, answer, waitSeconds) => {
      answers.push(answer);
      const error = await failure(open(kind).get(1));
      expect(error).toBeInstanceOf(ForgeUnavailable);
      expect(error).toMatchObject({ waitSeconds });
    });

    it('while the forge limits requests, the host makes none', async () => {
      answers.push({ status: 429, headers: { 'retry-after': '60' } });
      const limits = new ForgeLimits();
      await failure(open(kind, limits).get(1));
      const error = await failure(open(kind, limits).get(2));
      expect(error).toMatchObject({ waitSeconds: 60 });
      expect(asked).toHaveLength(1);
    });

    it.each([
      [401, 'refuses the token'],
      [301, 'moved'],
      [404, 'refused'],
    ])('the answer %d is a sentence for people', async (status, words) => {
      answers.push({ status, headers: { location: 'https://other.example.com/' } });
      const error = await failure(open(kind).get(1));
      expect(error).toBeInstanceOf(ForgeRefusal);
      expect(String(error)).toContain(words);
      expect(asked).toHaveLength(1);
    });

    it('a forge that cannot be reached is a wait', async () => {
      const forge = open(kind);
      await new Promise((resolve) => server.close(resolve));
      expect(await failure(forge.get(1))).toBeInstanceOf(ForgeUnavailable);
    });
  });
});
