import { describe, expect, it } from '@jest/globals';
import {
  bodyOf,
  commentsOf,
  type DescribedChange,
  statusOf,
  titleOf,
} from './pull-request-words.js';

type Review = DescribedChange['reviews'][number];

const review = (more: Partial<Review>): Review => ({
  id: '1',
  revision: 1,
  kind: 'review',
  verdict: 'commented',
  commit: 'head',
  author: 'user:1',
  authorName: null,
  body: '',
  comments: [],
  exitCode: null,
  durationMs: null,
  createdAt: '',
  isOfForge: false,
  ...more,
});

const change = (more: Partial<DescribedChange> = {}): DescribedChange => ({
  title: 'A change',
  description: null,
  summary: null,
  agentKind: 'codex',
  state: 'IN_REVIEW',
  revision: 1,
  headCommit: 'head',
  mergedCommit: null,
  obstacle: null,
  runs: 2,
  tokens: '1200',
  costUsd: '0.42',
  reviews: [],
  issue: null,
  page: 'https://drover.example.com/reviews/1',
  ...more,
});

const proof = (more: Partial<Review>) => review({ kind: 'proof', verdict: 'green', ...more });

describe('the words of a pull request', () => {
  it('it has the task, its cost and its acceptance', () => {
    const reviews = [proof({ exitCode: 0, durationMs: 1_200, body: 'ok' })];
    const body = bodyOf(change({ summary: 'It works.', issue: 12, reviews }));
    for (const words of [
      'It works.\n\nCloses #12\n\n',
      '| Task | [A change](https://drover.example.com/reviews/1) |',
      '| Cost | 2 runs, 1200 tokens, 0.42 USD |',
      '| Acceptance | Acceptance succeeded in 2 s |',
      '```\nok\n```',
    ]) {
      expect(body).toContain(words);
    }
  });

  it('words of an agent cannot end the part of Drover, a cell or a fence', () => {
    const reviews = [proof({ body: '```\nout' })];
    const title = 'One | two ](https://example.com)\n<!-- drover ends -->';
    const body = bodyOf(change({ title, summary: 'x <!-- drover ends -->', reviews }));
    expect(body).not.toContain('<!--');
    expect(body).toContain(String.raw`One \| two  (https://example.com) &lt;!--`);
    expect(body).toContain('````\n```\nout\n````');
  });

  it('words of an agent name nobody and close no issue', () => {
    const summary = 'Fixes #7, owner/shop#8 and GH-9 of @all. Resolves https://f.example/issues/1';
    const code = '`npm i @scope/a#1` mail a@example.com\n```\n@all #7\n```';
    const comment = review({ verdict: 'approved', body: 'Closes #7 @all' });
    const body = bodyOf(change({ title: 'Close #7', summary: `${summary} ${code}`, issue: 12 }));
    const said = [body, commentsOf({ reviews: [comment] })[0]?.body]
      .join('\n')
      .split(code)
      .join('');
    expect(body).toContain(code);
    expect(said.match(/#\d+|@\w+|GH-\d|resolves https/gi)).toEqual(['#12']);
    for (const evasion of [
      '\\`@all #7\\`',
      'a ``` @all\n\n#7 ``` b',
      '<b>\n```\n@all #7\n```\n</b>',
      '`a\nb` @all #7 `c`',
      '`a``b` @all #7 `c`',
      '````\n```\n````\n@all #7\n```',
      '~~~\n```\n~~~\n@all #7\n```',
      '```\n``` \n@all #7\n```',
    ]) {
      expect(bodyOf(change({ summary: evasion }))).not.toMatch(/#\d|@\w/);
    }
  });

  it('it fits into the limits of a forge', () => {
    const long = 'x'.repeat(100_000);
    const body = bodyOf(change({ title: long, summary: long, reviews: [proof({ body: long })] }));
    expect(body.length).toBeLessThan(30_000);
    expect(titleOf(` A\n${long}`)).toHaveLength(200);
  });

  it.each([
    ['no proof', [], { state: 'pending', description: 'Acceptance is under way' }],
    ['a proof of an earlier commit', [proof({ commit: 'other' })], { state: 'pending' }],
    ['a green proof', [proof({ exitCode: 0 })], { state: 'success' }],
    ['a proof without commands', [proof({})], { description: 'There are no acceptance commands' }],
    [
      'a red proof',
      [proof({ verdict: 'red', exitCode: 3, durationMs: 10 })],
      { state: 'failure', description: 'Acceptance failed with exit code 3 in 1 s' },
    ],
    [
      'a proof that ended without an exit code',
      [proof({ verdict: 'red', exitCode: -1, durationMs: 10 })],
      { state: 'failure', description: 'Acceptance failed in 1 s' },
    ],
  ] as const)('the status of %s', (_, reviews, status) => {
    expect(statusOf(change({ reviews }))).toMatchObject(status);
  });

  it('reviews that were made here become comments, and those of the forge do not', () => {
    const comments = [{ path: 'a.ts', line: 3, text: 'Why?\nHow?' }];
    const reviews = [
      proof({}),
      review({ id: '2', verdict: 'changes_requested', body: 'Almost.', comments }),
      review({ id: '3', author: 'github:ada', isOfForge: true, body: 'Said there.' }),
      review({ id: '4', verdict: 'approved', author: 'agent:1' }),
    ];
    expect(commentsOf({ reviews })).toEqual([
      {
        id: '2',
        body: '**A person requested changes in Drover.**\n\nAlmost.\n\n- `a.ts:3`: Why? How?',
      },
      { id: '4', body: '**An agent approved this change in Drover.**' },
    ]);
  });
});
