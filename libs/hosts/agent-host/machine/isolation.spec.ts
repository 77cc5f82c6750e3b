import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { readVariables } from '#lib/env';
import { isolate, SANDBOX_VARIABLES, sandboxSettings } from './isolation.js';

let dir: string;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'drover-isolation-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

function isolateWith(env: Record<string, string>, folder = dir) {
  const variables = readVariables(z.object(SANDBOX_VARIABLES), { DROVER_SANDBOX: 'off', ...env });
  return isolate(sandboxSettings(variables, folder, { PATH: process.env['PATH'] }));
}

const asRoot = process.getuid?.() === 0 ? test : test.skip;
const asOrdinaryUser = process.getuid?.() === 0 ? test.skip : test;

asRoot('a range that contains an account of the machine is refused', async () => {
  await expect(isolateWith({ DROVER_ACCOUNTS: '65000-66000' })).rejects.toThrow(
    /^DROVER_ACCOUNTS cannot be used: the account \w+ of this machine lies in it\.$/,
  );
});

asRoot(
  'each workspace has its account in the range, and root has none if accounts are off',
  async () => {
    const range = await isolateWith({ DROVER_ACCOUNTS: '1900000000-1900000009' });
    const [one, other] = [range.accounts?.('one'), range.accounts?.('other')];
    expect(one?.uid).toBeGreaterThanOrEqual(1_900_000_000);
    expect(one?.uid).not.toBe(other?.uid);
    expect(range.runAs).toBe('an account of its workspace (1900000000 to 1900000009)');
    const off = await isolateWith({ DROVER_ACCOUNTS: 'off' });
    expect([off.accounts, off.runAs]).toEqual([undefined, 'root']);
  },
);

asRoot(
  'sessions stay root below a closed folder, and the reason is that of the sandbox',
  async () => {
    const closed = mkdtempSync(join(dir, 'closed-'));
    const data = join(closed, 'data');
    const env = { DROVER_SANDBOX: 'auto', DROVER_SANDBOX_PROGRAM: '/bin/false' };
    expect(await isolateWith(env, data)).toEqual({
      sandbox: undefined,
      reason: 'the sandbox could not be made: no reason given',
      runAs: `root, since the user of a session cannot enter ${data}: let all users pass through its parents (chmod o+x)`,
    });
  },
);

asOrdinaryUser('an ordinary user has no accounts for sessions', async () => {
  expect((await isolateWith({})).accounts).toBeUndefined();
});

test.each(['300000-200000', '200000', 'on', '200000-9999999999'])(
  'DROVER_ACCOUNTS refuses %s',
  (text) => {
    expect(() => readVariables(z.object(SANDBOX_VARIABLES), { DROVER_ACCOUNTS: text })).toThrow(
      /DROVER_ACCOUNTS: must/,
    );
  },
);
