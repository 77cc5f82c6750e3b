import { expect, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '#lib/kernel';
import { accountsIn, accountWithin } from './accounts.js';

const RANGE = { first: 1_900_000_000, last: 1_900_000_003 };
const WORKSPACES = [newId(), newId(), newId(), newId()];

function withFolder(work: (dir: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'drover-accounts-'));
  try {
    work(join(folder, 'accounts'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('each workspace keeps its own account after a restart and on a second host', () => {
  withFolder((dir) => {
    const [accounts, others] = [accountsIn(dir, RANGE), accountsIn(dir, RANGE)];
    const uids = WORKSPACES.map((id, index) => (index % 2 ? accounts : others)(id).uid);
    expect(new Set(uids).size).toBe(WORKSPACES.length);
    expect(WORKSPACES.map((id) => accounts(id).uid)).toEqual(uids);
    expect(WORKSPACES.map((id) => accountsIn(dir, RANGE)(id).uid)).toEqual(uids);
    for (const uid of uids) expect(uid >= RANGE.first && uid <= RANGE.last).toBe(true);
  });
});

test('a workspace gets no account when others have all of the range', () => {
  withFolder((dir) => {
    const accounts = accountsIn(dir, RANGE);
    for (const id of WORKSPACES) accounts(id);
    expect(() => accounts(newId())).toThrow(/All accounts from 1900000000 to 1900000003/);
  });
});

test('a workspace has the same account when the folder is lost', () => {
  const [id = ''] = WORKSPACES;
  const uids: number[] = [];
  for (let life = 0; life < 2; life += 1) {
    withFolder((dir) => uids.push(accountsIn(dir, RANGE)(id).uid));
  }
  expect(uids[0]).toBe(uids[1]);
});

test('a range names the account of the machine that lies in it', () => {
  expect(accountWithin({ first: 0, last: 10 })).toBe('root');
  expect(accountWithin(RANGE)).toBeUndefined();
});
