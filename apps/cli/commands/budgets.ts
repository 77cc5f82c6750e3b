import type { components } from '#lib/api-client';
import type { CommandSpec, Commands } from '../command.js';
import { present } from '../flags.js';
import { LIST_OPTIONS, listed } from '../lists.js';
import { ago, bar, type Output } from '../output/output.js';

type Budget = components['schemas']['Budget'];
type Policy = Budget['policy'];

const POLICY = [
  '--policy <policy>',
  'what runs do when it is used up: pause, finish or abort',
] as const;
const PERIOD = [
  ['--from <time>', 'when its period begins; now unless given'],
  ['--to <time>', 'when its period ends'],
] as const;

const list: CommandSpec = {
  usage: 'list',
  summary: 'List the budgets',
  options: LIST_OPTIONS,
  examples: ['budget list'],
  run: async (cli, _args, flags) => {
    const budgets = await listed(flags, (query) =>
      cli.drover.get('/api/v1/budgets', { params: { query } }),
    );
    cli.out.rows(
      budgets,
      [
        { title: 'id', of: ({ id }) => id },
        { title: 'scope', of: ({ scope }) => scope },
        { title: 'name', of: ({ scopeName }) => scopeName, wide: true },
        { title: 'allocated', of: ({ allocated }) => allocated },
        { title: 'consumed', of: ({ consumed }) => consumed },
        { title: 'reserved', of: ({ reserved }) => reserved },
        { title: 'available', of: ({ available }) => available },
        { title: 'used', of: ({ percentUsed }) => bar(percentUsed), wide: true },
        { title: 'until', of: ({ periodEnd }) => periodEnd, wide: true },
      ],
      'No budget. Make one with `drover budget create`.',
    );
  },
};

const show: CommandSpec = {
  usage: 'show <id>',
  summary: 'Show a budget, and how far it will reach',
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
      ['tokens a day', projection.dailyBurnRate],
      ['days left', projection.daysUntilExhaustion],
      ['between', between(projection)],
      ['exhausted', projection.projectedExhaustionDate],
      ['lasts', projection.willLastPeriod ? 'to the end of the period' : 'not to the end'],
      ['advice', projection.recommendation],
    ]);
  },
};

function between(projection: components['schemas']['Projection']): string | null {
  const { earliestDaysUntilExhaustion: from, latestDaysUntilExhaustion: to } = projection;
  return from === null || to === null ? null : `${from} and ${to} days`;
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
    ['used', bar(budget.percentUsed)],
    ['period', `${budget.periodStart} to ${budget.periodEnd}`],
    ['policy', budget.policy],
    ['active', budget.isActive],
  ]);
}

const alerts: CommandSpec = {
  usage: 'alerts <id>',
  summary: 'List the steps that a budget has reached, the newest first',
  options: LIST_OPTIONS,
  examples: ['budget alerts $BUDGET'],
  run: async (cli, [id = ''], flags) => {
    const told = await listed(flags, (query) =>
      cli.drover.get('/api/v1/budgets/{id}/alerts', { params: { path: { id }, query } }),
    );
    cli.out.rows(
      told,
      [
        { title: 'when', of: ({ at }) => ago(at) },
        { title: 'level', of: ({ level }) => level },
        { title: 'message', of: ({ message }) => message, wide: true },
        { title: 'consumed', of: ({ consumed }) => consumed },
        { title: 'allocated', of: ({ allocated }) => allocated },
      ],
      'It has reached no step yet.',
    );
  },
};

const create: CommandSpec = {
  usage: 'create <tokens>',
  summary: 'Limit the tokens of the workspace, a project, a milestone or a task',
  options: [
    ['--scope <scope>', 'global, project, milestone or task; global unless given'],
    ['--id <id>', 'the project, milestone or task'],
    ...PERIOD,
    POLICY,
  ],
  examples: [
    'budget create 1000000 --to 2026-12-31T00:00:00Z',
    'budget create 20000 --scope project --id $PROJECT --to 2026-12-31T00:00:00Z',
  ],
  run: async (cli, [allocated = ''], flags) => {
    const scope = (flags.text('scope') ?? 'global') as Budget['scope'];
    const body = {
      scope,
      allocated,
      periodEnd: flags.required('to'),
      periodStart: flags.text('from') ?? new Date().toISOString(),
      ...present({ scopeId: flags.text('id'), policy: flags.text('policy') as Policy | undefined }),
    };
    const budget = await cli.drover.post('/api/v1/budgets', { body });
    cli.out.done(budget, budget.id);
  },
};

const edit: CommandSpec = {
  usage: 'edit <id>',
  summary: 'Raise or lower a budget, change its period or its policy',
  options: [['--tokens <count>', 'tokens that it has from now on'], ...PERIOD, POLICY],
  examples: ['budget edit $BUDGET --tokens 2000000'],
  run: async (cli, [id = ''], flags) => {
    const body = present({
      allocated: flags.text('tokens'),
      periodStart: flags.text('from'),
      periodEnd: flags.text('to'),
      policy: flags.text('policy') as Policy | undefined,
    });
    const budget = await cli.drover.patch('/api/v1/budgets/{id}', {
      params: { path: { id } },
      body,
    });
    cli.out.done(budget, `${id} has ${budget.available} of ${budget.allocated} tokens left`);
  },
};

const reallocate: CommandSpec = {
  usage: 'reallocate <from> <to> <tokens>',
  summary: 'Move tokens from one budget to another',
  examples: ['budget reallocate $FROM $TO 5000'],
  run: async (cli, [id = '', to = '', amount = '']) => {
    const params = { path: { id } };
    const body = { to, amount };
    const answer = await cli.drover.post('/api/v1/budgets/{id}/reallocate', { params, body });
    cli.out.done(answer, `${amount} tokens moved from ${id} to ${to}`);
  },
};

const usage: CommandSpec = {
  usage: 'usage',
  summary: 'Say what was used, by day, agent, task, project or model',
  options: [
    ['--by <what>', 'day, agent, task, project or model; day unless given'],
    ['--from <day>', 'from this day on, such as 2026-11-01'],
    ['--to <day>', 'until this day'],
    ['--project <id>', 'of this project'],
    ['--agent <id>', 'of this agent'],
    ['--model <name>', 'of this model'],
    ...LIST_OPTIONS,
  ],
  examples: ['usage --by model', 'usage --by project --from 2026-11-01 --json'],
  run: async (cli, _args, flags) => {
    const filter = present({
      groupBy: (flags.text('by') ?? 'day') as 'day',
      from: flags.text('from'),
      to: flags.text('to'),
      projectId: flags.text('project'),
      agentId: flags.text('agent'),
      model: flags.text('model'),
    });
    const sums = await listed(flags, (page) =>
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
        { title: 'reports', of: ({ reports }) => reports },
      ],
      'Nothing was used.',
    );
  },
};

const commands: Commands = {
  budget: {
    summary: 'Limit tokens, and see how far they reach',
    commands: [list, show, alerts, create, edit, reallocate],
  },
  usage,
};

export default commands;
