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
