import type { components } from '#lib/api-client';
import type { Cli } from '../cli.js';
import type { Commands } from '../command.js';
import { usageError } from '../failure.js';
import { type Flags, omitUndefined } from '../flags.js';
import { LIST_OPTIONS, readList } from '../lists.js';
import { formatDuration } from '../output/output.js';

type Group = components['schemas']['ChangeCostGroup'];
type Ranges = NonNullable<Group['ranges']>;
type Range = Ranges[keyof Ranges];

const DAY = /^\d{4}-\d\d-\d\d$/;
const DAY_MS = 86_400_000;
/** The words of `--compare`. */
const COMPARED = {
  kind: 'agentKind',
  model: 'model',
  repo: 'repository',
  type: 'taskType',
} as const;

const commands: Commands = {
  usage: {
    usage: 'usage',
    summary: 'Print token usage, and what merged changes cost',
    about:
      'With `--by change` it lists merged changes. `--compare` puts their groups side by side: the ' +
      'median of single changes, and the tenth and nine tenths of them in parentheses.',
    options: [
      ['--by <group>', 'day, agent, task, project, model or change (default day)'],
      ['--compare <group>', 'with `--by change`: kind, model, repo or type'],
      ['--from <day>', 'first day, such as 2026-11-01'],
      ['--to <day>', 'last day'],
      ['--time-zone <name>', 'time zone of the days (default UTC)'],
      ['--project <project>', 'name or ID of the project'],
      ['--agent <agent>', 'name or ID of the agent'],
      ['--model <name>', 'model'],
      ['--repo <repo>', 'with `--by change`: name or ID of the repository'],
      ['--csv', 'print all items as CSV'],
      ...LIST_OPTIONS,
    ],
    examples: [
      'usage --by model',
      'usage --by project --from 2026-11-01 --json',
      'usage --by change --repo shop --csv',
      'usage --by change --compare kind',
    ],
    run: async (cli, _args, flags) => {
      if (flags.text('by') !== 'change') return printUsage(cli, flags);
      if (flags.has('compare')) return printComparison(cli, flags);
      return printChanges(cli, flags);
    },
  },
};

export default commands;

async function printUsage(cli: Cli, flags: Flags): Promise<void> {
  for (const name of ['compare', 'repo']) {
    if (flags.has(name)) throw usageError(`--${name} needs --by change.`);
  }
  const filter = omitUndefined({
    groupBy: (flags.text('by') ?? 'day') as 'day',
    from: flags.text('from'),
    to: flags.text('to'),
    timeZone: flags.text('time-zone'),
    projectId: flags.text('project'),
    agentId: flags.text('agent'),
    model: flags.text('model'),
  });
  if (flags.has('csv')) {
    const params = { query: { ...filter, format: 'csv' as const } };
    return cli.out.raw(String(await cli.drover.get('/api/v1/usage', { params })));
  }
  const sums = await readList(flags, (page) =>
    cli.drover.get('/api/v1/usage', { params: { query: { ...filter, ...page } } }),
  );
  cli.out.rows(
    sums,
    [
      { title: flags.text('by') ?? 'day', of: ({ name, key }) => name ?? key, wide: true },
      { title: 'input', of: ({ inputTokens }) => inputTokens },
      { title: 'output', of: ({ outputTokens }) => outputTokens },
      { title: 'tokens', of: ({ totalTokens }) => totalTokens },
      { title: 'usd', of: ({ costUsd }) => costUsd },
      { title: 'estimated', of: ({ estimatedTokens }) => estimatedTokens },
      { title: 'reports', of: ({ reports }) => reports },
    ],
    'No usage found.',
  );
}

async function printChanges(cli: Cli, flags: Flags): Promise<void> {
  const filter = readFilter(flags);
  if (flags.has('csv')) {
    const params = { query: { ...filter, format: 'csv' as const } };
    return cli.out.raw(String(await cli.drover.get('/api/v1/changes/costs', { params })));
  }
  const changes = await readList(flags, (page) =>
    cli.drover.get('/api/v1/changes/costs', { params: { query: { ...filter, ...page } } }),
  );
  cli.out.rows(
    changes,
    [
      { title: 'id', isId: true, of: ({ id }) => id },
      { title: 'title', of: ({ title }) => title, wide: true },
      { title: 'kind', of: ({ agentKind }) => agentKind },
      { title: 'model', of: ({ model }) => model },
      { title: 'tokens', of: ({ tokens }) => tokens },
      { title: 'usd', of: ({ costUsd }) => costUsd },
      { title: 'to merge', of: (change) => formatDuration(change.timeToMergeSeconds) },
      { title: 'work', of: ({ workSeconds }) => formatDuration(workSeconds) },
      { title: 'review', of: ({ reviewSeconds }) => formatDuration(reviewSeconds) },
      { title: 'revisions', of: ({ revisions }) => revisions },
      { title: 'rounds', of: ({ reviewRounds }) => reviewRounds },
    ],
    'No merged changes found.',
  );
}

async function printComparison(cli: Cli, flags: Flags): Promise<void> {
  const word = flags.text('compare') ?? '';
  const groupBy = Object.entries(COMPARED).find(([name]) => name === word)?.[1];
  if (groupBy === undefined) {
    throw usageError(`--compare ${word} is unknown.`, 'Use kind, model, repo or type.');
  }
  const filter = { ...readFilter(flags), groupBy };
  const path = '/api/v1/changes/costs/summary';
  if (flags.has('csv')) {
    const params = { query: { ...filter, format: 'csv' as const } };
    return cli.out.raw(String(await cli.drover.get(path, { params })));
  }
  const { items } = await cli.drover.get(path, { params: { query: filter } });
  const range =
    (name: keyof Ranges, format: typeof formatSeconds = String) =>
    (group: Group) =>
      group.ranges && formatRange(group.ranges[name], format);
  cli.out.rows(
    items,
    [
      { title: word, of: ({ name, key }) => name ?? key ?? '(unknown)', wide: true },
      { title: 'merged', of: ({ merged }) => merged },
      { title: 'unmerged', of: ({ unmerged }) => unmerged },
      { title: 'tokens', of: range('tokens') },
      { title: 'usd', of: range('costUsd') },
      { title: 'to merge', of: range('timeToMergeSeconds', formatSeconds) },
      { title: 'work', of: range('workSeconds', formatSeconds) },
      { title: 'review', of: range('reviewSeconds', formatSeconds) },
      { title: 'revisions', of: range('revisions') },
      { title: 'rounds', of: range('reviewRounds') },
    ],
    'No changes found.',
  );
}

function readFilter(flags: Flags) {
  for (const name of ['project', 'agent', 'model', 'time-zone']) {
    if (flags.has(name)) throw usageError(`--${name} does not go with --by change.`);
  }
  return omitUndefined({
    repositoryId: flags.text('repo'),
    from: toTime(flags.text('from'), 0),
    to: toTime(flags.text('to'), DAY_MS),
  });
}

/** The begin of a day in UTC, plus so many ms. A time stays as it is. */
function toTime(text: string | undefined, ms: number): string | undefined {
  if (text === undefined || !DAY.test(text) || Number.isNaN(Date.parse(text))) return text;
  return new Date(Date.parse(text) + ms).toISOString();
}

/** Such as `30 (10-50)`. */
function formatRange({ p10, p50, p90 }: Range, format: (value: string | number) => string): string {
  return `${format(p50)} (${format(p10)}-${format(p90)})`;
}

function formatSeconds(seconds: string | number): string {
  return formatDuration(Number(seconds));
}
