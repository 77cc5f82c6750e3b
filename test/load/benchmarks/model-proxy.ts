import { Agent, request } from 'undici';
import type { Benchmark } from '../harness/benchmark.js';
import { figure, quantile } from '../harness/figure.js';
import type { Rig } from '../harness/rig.js';

const TOKEN = 'token';
const REQUESTS = 300;
/** The size of a conversation with its tools. */
const BODY = 100_000;
const STREAMS = 200;
const CHUNKS = 500;
const EVERY_MS = 20;

/** Measures what the model proxy adds to first tokens, and the lateness of chunks of many streams. */
export const modelProxy: Benchmark = {
  name: 'model-proxy',
  what: `${REQUESTS} requests of ${BODY / 1000} kB, and ${STREAMS} streams of ${1000 / EVERY_MS} chunks/s, directly and through a model proxy`,
  async run(rig) {
    const ways = await start(rig);
    const added: { p50: number; p99: number }[] = [];
    const lateness: { direct: number[]; proxied: number[] } = { direct: [], proxied: [] };
    for (let repeat = 0; repeat < rig.repeats; repeat++) {
      added.push(await addedToFirstToken(ways));
      for (const way of ['direct', 'proxied'] as const) {
        lateness[way].push(await latenessOf(ways[way]));
      }
    }
    return [
      figure(
        { name: 'model-first-token-added-p50', unit: 'ms', goal: { atMost: 3 } },
        added.map(({ p50 }) => p50),
      ),
      figure(
        { name: 'model-first-token-added-p99', unit: 'ms', goal: { atMost: 10 } },
        added.map(({ p99 }) => p99),
      ),
      figure(
        { name: 'model-chunk-lateness-p99.9', unit: 'ms', goal: { atMost: 50 } },
        lateness.proxied,
        lateness.direct,
      ),
    ];
  },
};

type Ask = (body: object, onText: (text: string) => void) => Promise<void>;
type Ways = Record<'direct' | 'proxied', Ask>;

async function start(rig: Rig): Promise<Ways> {
  const provider = await rig.startProgram('test/load/models/provider.js', {});
  const env = { PROVIDER_URL: provider.url, TOKEN };
  const proxy = await rig.startProgram('test/load/models/proxy.js', env);
  return { direct: asker(provider.url), proxied: asker(`${proxy.url}/anthropic`) };
}

function asker(url: string): Ask {
  const dispatcher = new Agent({ connections: STREAMS });
  const headers = { 'x-api-key': TOKEN, 'content-type': 'application/json' };
  return async (body, onText) => {
    const options = { method: 'POST', headers, body: JSON.stringify(body), dispatcher } as const;
    const answer = await request(`${url}/v1/messages`, options);
    if (answer.statusCode !== 200) throw new Error(`Status ${answer.statusCode}`);
    for await (const chunk of answer.body) onText(String(chunk));
  };
}

/** Asks in turns, so that both ways have the same machine. */
async function addedToFirstToken(ways: Ways): Promise<{ p50: number; p99: number }> {
  const times: Record<keyof Ways, number[]> = { direct: [], proxied: [] };
  const content = 'Read the file, then write its summary. '.repeat(BODY / 39);
  const messages = [{ role: 'user', content }];
  const metadata = { chunks: 1, everyMs: 0 };
  for (let asked = 0; asked < REQUESTS; asked++) {
    for (const way of ['direct', 'proxied'] as const) {
      const started = performance.now();
      let first: number | undefined;
      await ways[way]({ model: 'm', messages, metadata }, (text) => {
        if (text.includes('@')) first ??= performance.now() - started;
      });
      times[way].push(first ?? Infinity);
    }
  }
  const between = (share: number) => quantile(times.proxied, share) - quantile(times.direct, share);
  return { p50: between(0.5), p99: between(0.99) };
}

/** Returns the 99.9th percentile of the time from the sending of a chunk to its arrival. */
async function latenessOf(ask: Ask): Promise<number> {
  const late: number[] = [];
  const body = { model: 'm', messages: [], metadata: { chunks: CHUNKS, everyMs: EVERY_MS } };
  const follow = () =>
    ask(body, (text) => {
      const now = process.hrtime.bigint();
      for (const [, sent = ''] of text.matchAll(/@(\d+)@/g)) {
        late.push(Number(now - BigInt(sent)) / 1e6);
      }
    });
  await Promise.all(Array.from({ length: STREAMS }, follow));
  if (late.length < STREAMS * CHUNKS * 0.99) throw new Error(`Only ${late.length} chunks arrived`);
  return quantile(late, 0.999);
}
