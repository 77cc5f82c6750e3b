import { expect, it } from '@jest/globals';
import { whyUnchecked } from '../syncing/required-checks.js';
import { answering } from '../testing/answering.js';

const HEAD = 'a'.repeat(40);
const STATUS = `GET /commits/${HEAD}/status`;
const RUNS = `GET /commits/${HEAD}/check-runs`;

const run = (name: string, conclusion: string | null) => ({
  name,
  conclusion,
  output: { title: null },
});
const NEXT = `<https://forge.example.com/api/repos/team/shop/commits/${HEAD}/x>; rel="next"`;

it('checks are read to their last page', async () => {
  const status = (context: string) => ({
    url: 'x',
    total_count: 2,
    statuses: [{ context, state: 'success', description: null }],
  });
  const { forge } = answering('github', {
    [STATUS]: { body: status('one'), headers: { link: NEXT } },
    [RUNS]: {
      body: { total_count: 3, check_runs: [run('build', 'success')] },
      headers: { link: NEXT },
    },
    [`GET /commits/${HEAD}/x`]: [
      { body: status('two') },
      { body: { total_count: 3, check_runs: [run('lint', 'skipped'), run('slow', null)] } },
    ],
  });
  const { all, unread } = await forge.checks(HEAD);
  expect(all.map(({ name, state }) => `${name} ${state}`)).toEqual([
    'one success',
    'two success',
    'build success',
    'lint success',
    'slow pending',
  ]);
  expect(unread).toBeUndefined();
});

it('reviews and comments are read with the oldest first', async () => {
  const said = (id: number, at: string) => ({
    id,
    user: { login: 'ada' },
    body: 'A word.',
    state: 'COMMENTED',
    created_at: at,
    submitted_at: at,
  });
  const { forge } = answering('github', {
    'GET /pulls/1/reviews': {
      body: [said(1, '2026-11-26T10:00:00Z'), said(2, '2026-11-26T12:00:00Z')],
    },
    'GET /pulls/1/comments': { body: [] },
    'GET /issues/1/comments': { body: [said(1, '2026-11-26T11:00:00Z')] },
  });
  const { events } = await forge.read(1);
  expect(events.map(({ id }) => id)).toEqual(['review:1', 'comment:1', 'review:2']);
});

it('a token that cannot read check runs is named where a check is missing', async () => {
  const { forge } = answering('github', {
    [STATUS]: { body: { url: 'x', total_count: 0, statuses: [] } },
    [RUNS]: { status: 403, body: { message: 'Resource not accessible by token' } },
  });
  expect(whyUnchecked(['build'], await forge.checks(HEAD))?.reason).toMatch(
    /not reported yet\. The token cannot read check runs: use a classic token/,
  );
});

it.each([
  ['Base branch was modified. Review and try the merge again.', 5],
  ['Required status check "build" is expected.', 60],
  ['2 of 2 required status checks are pending.', 60],
  ['At least 1 approving review is required by reviewers with write access.', undefined],
])('%s is a wait of %s s', async (message, waitSeconds) => {
  const { forge } = answering('github', {
    'PUT /pulls/1/merge': { status: 405, body: { message } },
  });
  const merge = { head: HEAD, tip: HEAD, method: 'merge', message: 'A change' } as const;
  const end = await forge.merge(1, merge);
  expect(end).toMatchObject({ kind: 'refused' });
  expect('waitSeconds' in end ? end.waitSeconds : undefined).toBe(waitSeconds);
});

it('a hook that goes to another address than the one of Drover is named', async () => {
  const check = async (urls: string[], publicUrl: string | null): Promise<string | undefined> => {
    const { forge } = answering('github', {
      'GET ': { body: { permissions: { push: true }, allow_squash_merge: true } },
      'GET /branches/main': { body: { protected: false, commit: { sha: HEAD } } },
      [RUNS]: { body: { total_count: 0, check_runs: [] } },
      'GET /hooks': { body: urls.map((url) => ({ active: true, config: { url } })) },
    });
    const wanted = {
      target: 'main',
      requiredChecks: [],
      mergeMethod: 'squash',
      publicUrl,
    } as const;
    const found = await forge.check(wanted);
    return found.find(({ about, isFine }) => about === 'hook' && !isFine)?.message;
  };
  const old = 'https://old.example.com/api/v1/hooks/1';
  const drover = 'https://drover.example.com';
  expect(await check([old, `${drover}/api/v1/hooks/1`], `${drover}/`)).toBeUndefined();
  expect(await check([old], null)).toBeUndefined();
  const elsewhere =
    'The hook goes to https://old.example.com. If Drover is not reached there, change the hook: ' +
    `PUBLIC_URL of the server is ${drover}`;
  expect(await check([old], drover)).toContain(elsewhere);
  expect(await check([`${drover}.evil/api/v1/hooks/1`], drover)).toContain(
    'drover.example.com.evil',
  );
  for (const other of ['https://ci.example.com/', 'https://ci.example.com/hooks/1']) {
    expect(await check([other], drover)).toContain('There is no hook of Drover');
  }
});

it('the token goes to the server of the API only', async () => {
  const link = '<https://other.example.com/repos/team/shop/page>; rel="next"';
  const { forge, asked } = answering('github', {
    [STATUS]: { body: { url: 'x', total_count: 200, statuses: [] }, headers: { link } },
  });
  await expect(forge.checks(HEAD)).rejects.toThrow('another server: https://other.example.com');
  expect(asked).toHaveLength(1);
});
