import type { components } from '#lib/api-client';
import { type NameActor, readActors } from '../actors.js';
import { printAttempts, readAttempts, sizeOf } from '../attempts.js';
import type { Cli } from '../cli.js';
import type { CommandSpec, Commands } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { Failure, usageError } from '../failure.js';
import { omitUndefined } from '../flags.js';
import { LIST_OPTIONS, readList } from '../lists.js';
import { formatAge, formatDuration } from '../output/output.js';
import { printTranscript, TRANSCRIPT_OPTION } from '../transcript.js';

type Change = components['schemas']['WholeChange'];
type Comment = components['schemas']['ChangeComment'];

const list: CommandSpec = {
  usage: 'list',
  summary: 'List changes that wait for review',
  options: [
    [
      '--state <state>',
      'WORKING, PROVING, IN_REVIEW, APPROVED, MERGED, FAILED, CLOSED or all (default IN_REVIEW)',
    ],
    ['--repo <repo>', 'name or ID of the repository'],
    ...LIST_OPTIONS,
  ],
  examples: ['review list', 'review list --state all --repo shop --json'],
  run: async (cli, _args, flags) => {
    const state = flags.text('state')?.toUpperCase() ?? 'IN_REVIEW';
    const filter = omitUndefined({
      state: state === 'ALL' ? undefined : (state as 'IN_REVIEW'),
      repositoryId: flags.text('repo'),
    });
    const changes = await readList(flags, (page) =>
      cli.drover.get('/api/v1/changes', { params: { query: { ...filter, ...page } } }),
    );
    cli.out.rows(
      changes,
      [
        { title: 'id', isId: true, of: ({ id }) => id },
        { title: 'state', of: ({ state: shown }) => shown },
        { title: 'repo', of: ({ repositoryName }) => repositoryName },
        { title: 'lines', of: sizeOf },
        { title: 'title', of: ({ title }) => title, wide: true },
        { title: 'age', of: ({ createdAt }) => formatAge(createdAt) },
      ],
      'No changes found.',
    );
  },
};

const show: CommandSpec = {
  usage: 'show <task>',
  summary: 'Show a change with its proofs, reviews and cost',
  about: 'A change has the ID of its task. `drover review diff` prints its diff alone.',
  options: [['--diff', 'print the diff as well'], TRANSCRIPT_OPTION],
  examples: ['review show $TASK', 'review show $TASK --diff --transcript | less'],
  run: async (cli, [id = ''], flags) => {
    const change = await readChange(cli, id);
    const { cost, reviews } = change;
    const nameOf = await readActors(cli, [change.approvedBy, ...reviews.map((one) => one.author)]);
    cli.out.record(change, [
      ['id', change.id],
      ['title', change.title],
      ['state', change.state],
      ['obstacle', change.obstacle],
      ['repository', change.repositoryName],
      ['pull request', change.pullRequest?.url],
      ['branch', change.branch],
      ['target', change.target],
      ['revision', change.revision],
      ['commit', change.headCommit],
      ['merged as', change.mergedCommit],
      ['files', change.filesChanged],
      ['lines', sizeOf(change)],
      ['summary', change.summary],
      ['approved by', change.approvedBy && nameOf(change.approvedBy)],
      ['runs', cost.runs],
      ['tokens', cost.tokens],
      ['usd', cost.costUsd],
      ['work', formatDuration(cost.workSeconds)],
      ['wait for review', cost.reviewRounds > 0 ? formatDuration(cost.reviewSeconds) : null],
      ['attempts', change.attemptsId && `drover review compare ${change.id}`],
      ...reviews.map((one): [string, string] => [
        `${one.kind} ${one.revision}`,
        [describeVerdict(one, nameOf), one.body, ...one.comments.map(describeComment)]
          .filter((text) => text !== '')
          .join('\n'),
      ]),
    ]);
    if (flags.has('diff')) cli.out.raw(`\n${await readDiff(cli, change.id)}`);
    if (flags.has('transcript')) await printTranscript(cli, change.id);
  },
};

const diff: CommandSpec = {
  usage: 'diff <task>',
  summary: 'Print the diff of a change',
  examples: ['review diff $TASK | less'],
  run: async (cli, [id = '']) => {
    cli.out.raw(await readDiff(cli, id));
  },
};

const compare: CommandSpec = {
  usage: 'compare <task>',
  summary: 'Compare the attempts at a change: proof, size and cost',
  about: 'Any of the attempts names all of them. An approval of one closes the others.',
  options: [['--diff', 'print the diffs as well']],
  examples: ['review compare $TASK', 'review compare $TASK --diff | less'],
  run: async (cli, [id = ''], flags) => {
    const attempts = await readAttempts(cli, id);
    printAttempts(cli, attempts);
    if (!flags.has('diff')) return;
    for (const attempt of attempts.filter(({ headCommit }) => headCommit !== null)) {
      const text = await readDiff(cli, attempt.id);
      cli.out.raw(`\n# ${attempt.id} ${attempt.agentKind ?? ''}\n${text}`);
    }
  },
};

const approve: CommandSpec = {
  usage: 'approve <task>',
  summary: 'Approve a change, which is then rebased, proven again and merged',
  options: [
    ['--commit <hash>', 'the commit that you reviewed (default: the current one)'],
    ['--message <text>', 'words for the record'],
  ],
  examples: ['review approve $TASK'],
  run: async (cli, [id = ''], flags) => {
    const headCommit = flags.text('commit') ?? (await readChange(cli, id)).headCommit;
    if (headCommit === null) throw usageError('The change has no submission yet.');
    const body = { headCommit, ...omitUndefined({ body: flags.text('message') }) };
    const params = { path: { id } };
    const change = await cli.drover.post('/api/v1/changes/{id}/approve', { params, body });
    const next = change.state === 'IN_REVIEW' ? 'an agent has to approve it, too' : change.state;
    cli.out.done(change, `Change ${change.id} approved: ${next}`);
  },
};

const requestChanges: CommandSpec = {
  usage: 'request-changes <task> <text>',
  summary: 'Send a change back to its agent',
  options: [
    ['--comment <remark...>', 'remarks about lines, as FILE:LINE:TEXT'],
    ['--commit <hash>', 'the commit that you reviewed'],
  ],
  examples: ["review request-changes $TASK 'Add a test' --comment 'src/date.ts:12:Use the parser'"],
  run: async (cli, [id = '', text = ''], flags) => {
    const comments = flags.list('comment')?.map(readComment);
    const optional = omitUndefined({ comments, headCommit: flags.text('commit') });
    const change = await cli.drover.post('/api/v1/changes/{id}/request-changes', {
      params: { path: { id } },
      body: { body: text, ...optional },
    });
    cli.out.done(change, `Change ${change.id} sent back: ${change.state}`);
  },
};

/** @throws Failure if it is not FILE:LINE:TEXT */
function readComment(remark: string): Comment {
  const [, path, line, text] = /^(.+?):(\d+):([^]+)$/.exec(remark) ?? [];
  if (path !== undefined && line !== undefined && text !== undefined) {
    return { path, line: Number(line), text: text.trim() };
  }
  throw usageError(`${remark} is no remark.`, 'Write it as FILE:LINE:TEXT.');
}

const merge: CommandSpec = {
  usage: 'merge <task>',
  summary: 'Ask hosts to merge an approved change now',
  about: 'Hosts also try again now what they gave up: a proof, or the removal of a branch.',
  examples: ['review merge $TASK'],
  run: (cli, [id = '']) => goOn(cli, id),
};

/** Why a change in this state cannot be proven again, and the next step. */
const NOT_PROVEN: Record<Exclude<Change['state'], 'PROVING'>, readonly [string, string]> = {
  WORKING: ['is not submitted', 'Wait until its run submits it: `drover attach TASK`.'],
  IN_REVIEW: ['is proven already', 'Approve it, or send it back: `drover review --help`.'],
  APPROVED: ['is approved already', 'Have it merged with `drover change merge`.'],
  MERGED: ['is merged', 'Continue it in a new task with `drover task continue`.'],
  FAILED: ['failed', 'Work on it again with `drover task retry`.'],
  CLOSED: ['is closed', 'Work on it again with `drover task retry`.'],
};

const submit: CommandSpec = {
  usage: 'submit <task>',
  summary: 'Ask hosts to prove a submitted change now',
  about:
    'The run of a task submits its change by itself. This command ends the wait after proofs that no ' +
    'host could finish. It refuses a change in any state but PROVING.',
  examples: ['change submit $TASK'],
  run: async (cli, [id = '']) => {
    const change = await readChange(cli, id);
    if (change.state === 'PROVING') return goOn(cli, change.id);
    const [why, advice] = NOT_PROVEN[change.state];
    throw new Failure(`The change ${why} (${change.state}).`, advice, EXIT.refused);
  },
};

/** Has hosts take the step of a change now. */
async function goOn(cli: Cli, id: string): Promise<void> {
  const params = { path: { id } };
  const change = await cli.drover.post('/api/v1/changes/{id}/merge', { params });
  cli.out.done(change, `Change ${change.id} goes on: ${change.state}`);
}

const queue: CommandSpec = {
  usage: 'queue',
  summary: 'Show the merge queue of each branch',
  options: [['--repo <repo>', 'name or ID of the repository']],
  examples: ['review queue', 'review queue --repo shop'],
  run: async (cli, _args, flags) => {
    const query = omitUndefined({ repositoryId: flags.text('repo') });
    const answer = await cli.drover.get('/api/v1/changes/merge-queue', { params: { query } });
    if (cli.out.json) return cli.out.value(answer.items);
    const rows = answer.items.flatMap(({ changes, ...branch }) =>
      changes.map((change) => ({ ...branch, ...change })),
    );
    cli.out.rows(
      rows,
      [
        { title: 'repo', of: ({ repositoryName }) => repositoryName },
        { title: 'branch', of: ({ target }) => target },
        { title: 'place', of: ({ position }) => position },
        { title: 'id', isId: true, of: ({ id }) => id },
        { title: 'status', of: ({ status }) => status },
        { title: 'host', of: ({ agentName }) => agentName },
        { title: 'expected in', of: ({ expectedAt }) => formatWait(expectedAt) },
        { title: 'title', of: ({ title }) => title, wide: true },
        { title: 'obstacle', of: ({ obstacle }) => obstacle, wide: true },
      ],
      'No change waits for its merge.',
    );
  },
};

const assign: CommandSpec = {
  usage: 'assign <task> <agent>',
  summary: 'Assign the task of a change to an agent',
  examples: ['change assign $TASK my-agent'],
  run: async (cli, [id = '', agentId = '']) => {
    const params = { path: { id } };
    const body = { agentId };
    const task = await cli.drover.post('/api/v1/agent-tasks/{id}/assign', { params, body });
    cli.out.done(task, `Task ${task.id} assigned: ${task.status}`);
  },
};

const start: CommandSpec = {
  usage: 'start <task>',
  summary: 'Start the claimed task of a change, with the token of its agent',
  examples: ['change start $TASK'],
  run: async (cli, [id = '']) => {
    const params = { path: { id } };
    const started = await cli.drover.post('/api/v1/agent-tasks/{id}/start', { params, body: {} });
    cli.out.done(started, `Task ${id} started`);
  },
};

const reset: CommandSpec = {
  usage: 'reset <task>',
  summary: 'Close a change: cancel its task, discard its work, remove its branch',
  options: [['--reason <text>', 'reason for the log']],
  examples: ['change reset $TASK'],
  run: async (cli, [id = ''], flags) => {
    const change = await cli.drover.post('/api/v1/changes/{id}/close', {
      params: { path: { id } },
      body: omitUndefined({ reason: flags.text('reason') }),
    });
    cli.out.done(change, `Change ${change.id} closed`);
  },
};

const commands: Commands = {
  review: {
    summary: 'Review and merge what tasks change in repositories',
    commands: [list, show, diff, compare, approve, requestChanges, merge, queue],
  },
  change: {
    summary: 'Move the changes of tasks by hand',
    commands: [
      assign,
      start,
      submit,
      { ...approve, examples: ['change approve $TASK'] },
      { ...merge, examples: ['change merge $TASK'] },
      reset,
    ],
  },
};

export default commands;

async function readDiff(cli: Cli, id: string): Promise<string> {
  const text = await cli.drover.get('/api/v1/changes/{id}/diff', { params: { path: { id } } });
  return String(text ?? '');
}

export function readChange(cli: Cli, id: string): Promise<Change> {
  return cli.drover.get('/api/v1/changes/{id}', { params: { path: { id } } });
}

function describeVerdict(review: Change['reviews'][number], nameOf: NameActor): string {
  const { verdict, author, exitCode } = review;
  const by = `${verdict.replaceAll('_', ' ')} by ${nameOf(author)}`;
  return exitCode === null ? by : `${by}, exit code ${exitCode}`;
}

function describeComment({ path, line, text }: Comment): string {
  return `${path}:${line}: ${text}`;
}

function formatWait(at: string | null): string | null {
  return at === null ? null : formatDuration((Date.parse(at) - Date.now()) / 1_000);
}
