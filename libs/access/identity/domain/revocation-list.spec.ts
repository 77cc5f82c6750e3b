import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Claims } from './claims.js';
import { agentSubject, RevocationList, type RevocationRow } from './revocation-list.js';

const FUTURE = 2_000;
const agent = (agentId: string, tokenVersion: number, workspaceId = 'w'): Claims => ({
  kind: 'agent',
  workspaceId,
  agentId,
  tokenVersion,
});
const user = (sessionId: string): Claims => ({
  kind: 'user',
  userId: 'u',
  sessionId,
  workspaceId: null,
});
const run = (runId: string): Claims => ({
  kind: 'run',
  workspaceId: 'w',
  agentId: 'a',
  taskId: 't',
  runId,
});

function listOf(...rows: Omit<RevocationRow, 'expiresAt'>[]): RevocationList {
  const list = new RevocationList();
  for (const row of rows) list.add({ ...row, expiresAt: FUTURE });
  return list;
}

describe('the revocation list', () => {
  it('a revoked session or run does not revoke the other kind with that id', () => {
    const list = listOf({ kind: 'session', subject: 'x' });
    expect(list.isRevoked(user('x'))).toBe(true);
    expect(list.isRevoked(user('y'))).toBe(false);
    expect(list.isRevoked(run('x'))).toBe(false);
    expect(listOf({ kind: 'run', subject: 'x' }).isRevoked(run('x'))).toBe(true);
  });

  it('the tokens of an agent below a version are revoked', () => {
    const list = listOf({ kind: 'agent', subject: agentSubject('x', 3) });
    expect([1, 2, 3, 4].map((version) => list.isRevoked(agent('x', version)))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(list.isRevoked(agent('y', 1))).toBe(false);
  });

  it('all tokens of an agent are revoked if no version is named', () => {
    expect(listOf({ kind: 'agent', subject: 'x' }).isRevoked(agent('x', 9_999))).toBe(true);
  });

  it.each([
    ['of the agent of its workspace only', ['w'], [true, false]],
    ['of each that has the id, where it names no workspace', [undefined], [true, true]],
    ['of both, by rows of their own', ['w', 'v'], [true, true]],
  ])('tokens %s are revoked', (_, workspaces, revoked) => {
    const row = { kind: 'agent' as const, subject: agentSubject('x', 2) };
    const list = listOf(...workspaces.map((workspaceId) => ({ ...row, workspaceId })));
    const refused = (version: number) =>
      ['w', 'v'].map((workspaceId) => list.isRevoked(agent('x', version, workspaceId)));
    expect([refused(1), refused(2)]).toEqual([revoked, [false, false]]);
  });

  it('the higher version of entries with and without a workspace applies', () => {
    const rows = ([w, all]: number[]) => [
      { kind: 'agent' as const, workspaceId: 'w', subject: agentSubject('x', w as number) },
      { kind: 'agent' as const, subject: agentSubject('x', all as number) },
    ];
    for (const versions of [
      [2, 4],
      [4, 2],
    ]) {
      const list = listOf(...rows(versions));
      expect([list.isRevoked(agent('x', 3)), list.isRevoked(agent('x', 4))]).toEqual([true, false]);
      expect(list.isRevoked(agent('x', 3, 'v'))).toBe(versions[1] === 4);
    }
  });

  it('the tokens of all agents and runs of a workspace are revoked, and no session', () => {
    const list = listOf({ kind: 'workspace', subject: 'w' });
    expect(
      [agent('x', 9_999), run('x'), user('x')].map((claims) => list.isRevoked(claims)),
    ).toEqual([true, true, false]);
    const other = listOf({ kind: 'workspace', subject: 'v' });
    expect([agent('x', 1), run('x')].map((claims) => other.isRevoked(claims))).toEqual([
      false,
      false,
    ]);
  });

  it('the list does not depend on the order and number of its rows', () => {
    const versions = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 });
    const property = fc.property(versions, fc.integer({ min: 1, max: 25 }), (all, version) => {
      const rows = all.map((v) => ({ kind: 'agent' as const, subject: agentSubject('x', v) }));
      const list = listOf(...rows, ...rows.reverse());
      expect(list.isRevoked(agent('x', version))).toBe(version < Math.max(...all));
    });
    fc.assert(property);
  });

  it('only expired entries are forgotten', () => {
    const list = listOf(
      { kind: 'session', subject: 'x' },
      { kind: 'agent', subject: agentSubject('a', 2) },
    );
    list.prune(FUTURE - 1);
    expect(list.size).toBe(2);
    list.prune(FUTURE);
    expect(list.size).toBe(0);
  });
});
