import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Context, Contexts } from './contexts.js';

const pair = (refreshToken: string) => ({ accessToken: 'a', endsAt: 0, refreshToken });

let folder: string;
let here: Context | undefined;
let contexts: Contexts;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'drover-contexts-'));
  here = undefined;
  contexts = new Contexts(join(folder, 'config.json'), () => here);
});
afterEach(() => rmSync(folder, { recursive: true }));

it('the local context uses the current address and the stored tokens', () => {
  here = { url: 'http://127.0.0.1:3000', apiKey: 'key' };
  contexts.put('local', { url: here.url, tokens: pair('r') });
  here = { url: 'http://127.0.0.1:3001', apiKey: 'key' };
  const now = { url: here.url, tokens: pair('r') };
  expect(contexts.get('local')).toEqual(now);
  expect(contexts.list()).toEqual([{ name: 'local', context: now, current: true }]);
});

it('renewed tokens keep concurrent changes of the context', () => {
  contexts.put('far', { url: 'http://far', tokens: pair('old') });
  contexts.put('far', { url: 'http://far', tokens: pair('old'), workspaceId: 'w' });
  contexts.renewTokens('far', pair('old'), pair('new'));
  expect(contexts.get('far')).toMatchObject({ workspaceId: 'w', tokens: pair('new') });
});

it('a concurrent sign-in or sign-out wins over renewed tokens', () => {
  contexts.put('far', { url: 'http://far', tokens: pair('other') });
  contexts.put('left', { url: 'http://left', tokens: pair('old') });
  contexts.remove('left');
  for (const name of ['far', 'left']) contexts.renewTokens(name, pair('old'), pair('new'));
  expect(contexts.get('far').tokens).toEqual(pair('other'));
  expect(contexts.list()).toHaveLength(1);
});
