import { expect, it } from '@jest/globals';
import { synchronise } from '../syncing/synchronise.js';
import { answering } from '../testing/answering.js';

const HEAD = 'a'.repeat(40);
const PULL = {
  number: 1,
  state: 'open',
  body: '',
  updated_at: '2026-11-26T10:00:00Z',
  head: { ref: 'work', sha: HEAD },
  base: { ref: 'main' },
};
const WANTED = {
  number: 1,
  seen: null,
  branch: 'work',
  target: 'main',
  headCommit: HEAD,
  title: 'A change',
  body: 'Words.',
  status: null,
  comments: [],
};
const NOTHING = { record: () => Promise.resolve(), holds: () => {} };

const review = (id: number, login: string, official: boolean, more: object = {}) => ({
  id,
  user: { login },
  state: 'APPROVED',
  commit_id: HEAD,
  official,
  ...more,
});

it.each([
  ['people who can write count', 200, ['ada']],
  ['official verdicts count where the token sees no rights', 403, ['bob']],
])('%s', async (_, status, logins) => {
  const { forge } = answering('gitea', {
    'GET /pulls/1': { body: PULL },
    'PATCH /pulls/1': { body: PULL },
    'GET /issues/1/comments': { body: [{ id: 1, user: { login: 'bob' }, body: 'A word.' }] },
    'GET /pulls/1/reviews': { body: [review(1, 'ada', false), review(2, 'bob', true)] },
    'GET /collaborators/ada/permission': { status, body: { permission: 'write' } },
    // A team that reads pull requests can be assigned.
    'GET /collaborators/bob/permission': { status, body: { permission: 'read' } },
    'GET /assignees': { body: [{ login: 'ada' }, { login: 'bob' }] },
  });
  const { events } = await synchronise(forge, WANTED, NOTHING);
  expect(events.map(({ login, verdict }) => [login, verdict])).toEqual(
    logins.map((login) => [login, 'approved']),
  );
});

it('a review without a commit names none', async () => {
  const { forge } = answering('gitea', {
    'GET /issues/1/comments': { body: [] },
    'GET /pulls/1/reviews': { body: [review(1, 'ada', true, { commit_id: '' })] },
  });
  expect((await forge.read(1)).events).toMatchObject([{ commit: null }]);
});

it('a late comment counts beside many reviews', async () => {
  const submitted_at = '2026-11-26T10:00:00Z';
  const reviews = Array.from({ length: 250 }, (_, id) => review(id, 'ada', true, { submitted_at }));
  const comment = { id: 1, user: { login: 'ada' }, body: 'A word.' };
  const { forge } = answering('gitea', {
    'GET /pulls/1': { body: PULL },
    'PATCH /pulls/1': { body: PULL },
    'GET /issues/1/comments': { body: [{ ...comment, created_at: '2026-11-26T11:00:00Z' }] },
    'GET /pulls/1/reviews': [{ body: reviews }, { body: [] }],
    'GET /collaborators/ada/permission': { body: { permission: 'write' } },
  });
  const { events } = await synchronise(forge, WANTED, NOTHING);
  expect(events.at(-1)?.id).toBe('comment:1');
  expect(events).toHaveLength(200);
});

it('a pull request that goes to another branch is left alone', async () => {
  const { forge, asked } = answering('gitea', {
    'GET /pulls/1': { body: { ...PULL, base: { ref: 'release' } } },
  });
  await expect(synchronise(forge, WANTED, NOTHING)).rejects.toThrow(
    'The pull request goes to release, not main',
  );
  expect(asked).toEqual(['GET /pulls/1']);
});

const TIP = 'b'.repeat(40);
const NO_STYLE = 'fast-forward-only is not allowed an allowed merge style for this repository';
const refusal = (status: number, message: string) => ({ status, body: { message } });

it.each([
  ['later', [refusal(405, 'Please try again later')], TIP, { kind: 'refused', waitSeconds: 5 }],
  ['by another method', [refusal(405, NO_STYLE), {}], TIP, { kind: 'merged' }],
  ['not', [refusal(405, 'User not allowed to merge PR')], TIP, { kind: 'refused' }],
  ['not: rejected', [refusal(409, 'push rejected by a hook')], TIP, { kind: 'refused' }],
  ['on the moved target', [refusal(500, '')], HEAD, { kind: 'moved' }],
  ['on the moved target, 409', [refusal(409, 'out of date')], HEAD, { kind: 'moved' }],
])('a merge takes place %s', async (_, answers, tip, end) => {
  const tries = answers.length;
  const { forge, asked } = answering('gitea', {
    'POST /pulls/1/merge': answers,
    'GET /pulls/1': { body: PULL },
    'GET /branches/main': { body: { commit: { id: tip } } },
  });
  const merge = { head: HEAD, tip: TIP, method: 'merge', message: 'A change' } as const;
  expect(await forge.merge(1, merge)).toMatchObject(end);
  expect(asked.filter((request) => request.startsWith('POST'))).toHaveLength(tries);
});
