import { ModelProxy } from '#lib/model-proxy';

/** A proxy of one run, whose admissions cost nothing. */
const { PROVIDER_URL = '', TOKEN = '' } = process.env;
const proxy = await ModelProxy.open({
  listen: 'loopback',
  token: TOKEN,
  access: (provider) => Promise.resolve({ provider, baseUrl: PROVIDER_URL, key: 'key' }),
  admit: () => Promise.resolve({ kind: 'admitted' }),
  ended: () => undefined,
  limited: () => undefined,
  replaced: () => undefined,
});
process.stdout.write(`${JSON.stringify({ message: 'listening', address: proxy.url })}\n`);
