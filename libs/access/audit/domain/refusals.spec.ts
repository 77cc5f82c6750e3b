import { describe, expect, it } from '@jest/globals';
import { Refusals } from './refusals.js';

const ENTRY = {
  actorId: null,
  account: 'a@example.com',
  operation: 'signIn',
  path: '/api/v1/auth/login',
  status: 401,
  details: {},
  attempts: 1,
  requestId: 'r',
  address: '192.0.2.1',
};
const WINDOW_MS = 600_000;

describe('refusals', () => {
  it('the first refusal is an entry, and further ones are counted until the window ends', () => {
    const refusals = new Refusals();
    expect(refusals.note(ENTRY, '192.0.2.1', 0)).toEqual(ENTRY);
    for (let n = 0; n < 5; n++) expect(refusals.note(ENTRY, '192.0.2.1', n)).toBeUndefined();
    expect(refusals.take(WINDOW_MS - 1)).toEqual([]);
    expect(refusals.take(WINDOW_MS)).toEqual([{ ...ENTRY, attempts: 5 }]);
    expect(refusals.take(WINDOW_MS)).toEqual([]);
    expect(refusals.note(ENTRY, '192.0.2.1', WINDOW_MS)).toEqual(ENTRY);
  });

  it('another account, address or status has a window of its own', () => {
    const refusals = new Refusals();
    refusals.note(ENTRY, '192.0.2.1', 0);
    expect(refusals.note({ ...ENTRY, account: 'b@example.com' }, '192.0.2.1', 0)).toBeDefined();
    expect(refusals.note(ENTRY, '192.0.2.2', 0)).toBeDefined();
    expect(refusals.note({ ...ENTRY, status: 429 }, '192.0.2.1', 0)).toBeDefined();
  });

  it('another user or key behind an address has a window of its own', () => {
    const refusals = new Refusals();
    const by = (actorId: string, details = {}) => {
      return refusals.note({ ...ENTRY, account: null, actorId, details }, '192.0.2.1', 0);
    };
    expect([by('a'), by('b'), by('b', { apiKeyId: 'k' }), by('b')].map(Boolean)).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });

  it('operations share a window if they are not counted by themselves', () => {
    const refusals = new Refusals({ byOperation: false });
    expect(refusals.note(ENTRY, '192.0.2.1', 0)).toBeDefined();
    expect(refusals.note({ ...ENTRY, operation: 'listTasks' }, '192.0.2.1', 0)).toBeUndefined();
  });

  it('a flood from many addresses makes a limited number of entries', () => {
    const refusals = new Refusals();
    let entries = 0;
    for (let n = 0; n < 100_000; n++) {
      if (refusals.note({ ...ENTRY, account: `a${n}@example.com` }, `g${n}`, 0)) entries++;
    }
    const later = refusals.take(WINDOW_MS);
    expect(entries).toBe(1_001);
    expect(later).toMatchObject([{ account: null, address: 'many', attempts: 98_999 }]);
  });
});
