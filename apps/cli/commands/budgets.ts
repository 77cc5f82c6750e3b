import type { components } from '#lib/api-client';
import type { CommandSpec, Commands } from '../command.js';
import { usageError } from '../failure.js';
import { type Flags, omitUndefined, toTokens } from '../flags.js';
import { LIST_OPTIONS, readList } from '../lists.js';
import { formatAge, formatBar, type Output } from '../output/output.js';

type Budget = components['schemas']['Budget'];
type Policy = Budget['policy'];
type Every = components['schemas']['Recurrence']['every'];

const POLICY = [
  '--policy <policy>',
  'action on running tasks at exhaustion: pause, finish or abort',
] as const;
const PERIOD = [
  ['--from <time>', 'start of the period (default now, or the begin of the day, week or month)'],
  ['--to <time>', 'end of a period that does not recur'],
  ['--every <length>', 'length of recurring periods: day, week or month'],
  ['--time-zone <name>', 'time zone of recurring periods (default UTC)'],
] as const;

const list: CommandSpec = {
  usage: 'list',
  summary: 'List budgets',
  options: LIST_OPTIONS,
  examples: ['budget list'],
  run: async (cli, _args, flags) => {
    const budgets = await readList(flags, (query) =>
      cli.drover.get('/api/v1/budgets', { params: { query } }),
    );
    cli.out.rows(
      budgets,
      [
        { title: 'id', isId: true, of: ({ id }) => id },
        { title: 'scope', of: ({ scope }) => scope },
        { title: 'name', of: ({ scopeName }) => scopeName, wide: true },
        { title: 'allocated', of: ({ allocated }) => allocated },
        { title: 'consumed', of: ({ consumed }) => consumed },
        { title: 'reserved', of: ({ reserved }) => reserved },
        { title: 'available', of: ({ available }) => available },
        { title: 'used', of: ({ percentUsed }) => formatBar(percentUsed), wide: true },
        { title: 'period end', of: ({ periodEnd }) => periodEnd, wide: true },
        { title: 'recurs', of: formatRecurrence, wide: true },
      ],
      'No budgets found. Create one with `drover budget create`.',
    );
  },
};

const show: CommandSpec = {
  usage: 'show <budget>',
  summary: 'Show a budget and its forecast',
  examples: ['budget show $BUDGET'],
  run: async (cli, [id = '']) => {
    const params = { path: { id } };
    const [budget, projection] = await Promise.all([
      cli.drover.get('/api/v1/budgets/{id}', { params }),
      cli.drover.get('/api/v1/budgets/{id}/projection', { params }),
    ]);
    if (cli.out.json) return cli.out.value({ ...budget, projection });
    showBudget(cli.out, budget);
    cli.out.record(projection, [
      ['tokens per day', projection.dailyBurnRate],
      ['days left', projection.daysUntilExhaustion],
      ['range', formatRange(projection)],
      ['exhausted at', projection.projectedExhaustionDate],
      ['lasts until period end', projection.willLastPeriod ? 'yes' : 'no'],
      ['recommendation', projection.recommendation],
    ]);
  },
};

function formatRange(projection: components['schemas']['Projection']): string | null {
  const { earliestDaysUntilExhaustion: from, latestDaysUntilExhaustion: to } = projection;
  return from === null || to === null ? null : `${from} to ${to} days`;
}

function showBudget(out: Output, budget: Budget): void {
  out.record(budget, [
    ['id', budget.id],
    ['scope', `${budget.scope} ${budget.scopeId}`],
    ['name', budget.scopeName],
    ['allocated', budget.allocated],
    ['consumed', budget.consumed],
    ['reserved', budget.reserved],
    ['available', budget.available],
    ['used', formatBar(budget.percentUsed)],
    ['period', `${out.time(budget.periodStart)} to ${out.time(budget.periodEnd)}`],
    ['recurs', formatRecurrence(budget)],
    ['policy', budget.policy],
    ['active', budget.isActive],
  ]);
}

function formatRecurrence({ recurrence }: Budget): string {
  if (recurrence === null) return 'no';
  const { every, timeZone, allocated } = recurrence;
  return `every ${every} (${timeZone}), ${allocated} tokens`;
}

/** The recurrence that the flags name. */
function readRecurrence(flags: Flags) {
  const every = flags.text('every') as Every | undefined;
  const timeZone = flags.text('time-zone');
  if (every === undefined && timeZone !== undefined) {
    throw usageError('--time-zone needs --every.');
  }
  return every && { every, ...omitUndefined({ timeZone }) };
}

const alerts: CommandSpec = {
  usage: 'alerts <budget>',
  summary: 'List the alerts of a budget, newest first',
  options: LIST_OPTIONS,
  examples: ['budget alerts $BUDGET'],
  run: async (cli, [id = ''], flags) => {
    const items = await readList(flags, (query) =>
      cli.drover.get('/api/v1/budgets/{id}/alerts', { params: { path: { id }, query } }),
    );
    cli.out.rows(
      items,
      [
        { title: 'age', of: ({ at }) => formatAge(at) },
        { title: 'level', of: ({ level }) => level },
        { title: 'message', of: ({ message }) => message, wide: true },
        { title: 'consumed', of: ({ consumed }) => consumed },
        { title: 'allocated', of: ({ allocated }) => allocated },
      ],
      'No alerts yet.',
    );
  },
};

const create: CommandSpec = {
  usage: 'create <tokens>',
  summary: 'Create a budget for the workspace, a project, a milestone or a task',
  options: [
    ['--scope <scope>', 'global, project, milestone or task (default global)'],
    ['--project <project>', 'name or ID of the project that it covers'],
    ['--id <id>', 'ID of the project, milestone or task'],
    ...PERIOD,
    POLICY,
  ],
  examples: [
    'budget create 1.5M --to 2026-12-31T00:00:00Z',
    'budget create 20000 --project Website --to 2026-12-31T00:00:00Z',
    'budget create 1000000 --every month --time-zone Europe/Berlin',
  ],
  run: async (cli, [tokens = ''], flags) => {
    const project = flags.text('project');
    const fallback = project === undefined ? 'global' : 'project';
    const scope = (flags.text('scope') ?? fallback) as Budget['scope'];
    const recurrence = readRecurrence(flags);
    const from = flags.text('from');
    const body = {
      scope,
      allocated: toTokens(tokens, '<tokens>'),
      ...omitUndefined({
        recurrence,
        periodStart: recurrence ? from : (from ?? new Date().toISOString()),
        periodEnd: recurrence ? flags.text('to') : flags.required('to'),
        scopeId: flags.text('id') ?? project,
        policy: flags.text('policy') as Policy | undefined,
      }),
    };
    const budget = await cli.drover.post('/api/v1/budgets', { body });
    cli.out.done(budget, budget.id);
  },
};

const edit: CommandSpec = {
  usage: 'edit <budget>',
  summary: 'Change the tokens, period or policy of a budget',
  options: [
    ['--tokens <count>', 'new number of tokens'],
    ...PERIOD,
    ['--once', 'end the budget with its present period'],
    POLICY,
  ],
  examples: [
    'budget edit $BUDGET --tokens 2000000',
    'budget edit $BUDGET --every week --time-zone America/New_York',
    'budget edit $BUDGET --once',
  ],
  run: async (cli, [id = ''], flags) => {
    const recurrence = readRecurrence(flags);
    if (recurrence && flags.has('once')) throw usageError('--once does not go with --every.');
    const body = {
      ...omitUndefined({
        allocated: flags.tokens('tokens'),
        periodStart: flags.text('from'),
        periodEnd: flags.text('to'),
        recurrence,
        policy: flags.text('policy') as Policy | undefined,
      }),
      ...(flags.has('once') && { recurrence: null }),
    };
    const budget = await cli.drover.patch('/api/v1/budgets/{id}', {
      params: { path: { id } },
      body,
    });
    cli.out.done(
      budget,
      `${id} updated: ${budget.available} of ${budget.allocated} tokens available`,
    );
  },
};

const reallocate: CommandSpec = {
  usage: 'reallocate <from> <to> <tokens>',
  summary: 'Move tokens from one budget to another',
  examples: ['budget reallocate $FROM $TO 5000'],
  run: async (cli, [id = '', to = '', tokens = '']) => {
    const amount = toTokens(tokens, '<tokens>');
    const params = { path: { id } };
    const body = { to, amount };
    const answer = await cli.drover.post('/api/v1/budgets/{id}/reallocate', { params, body });
    cli.out.done(answer, `${amount} tokens moved from ${id} to ${to}`);
  },
};

const commands: Commands = {
  budget: {
    summary: 'Manage token budgets',
    commands: [list, show, alerts, create, edit, reallocate],
  },
};

export default commands;
