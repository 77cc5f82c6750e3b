import type { components } from '#lib/api-client';
import type { CommandSpec, Commands } from '../command.js';

type Counts = components['schemas']['Attention'];

/** Each count with its meaning and the command that shows more. */
const LINES: [keyof Counts, string, string][] = [
  ['failedTasks', 'failed tasks', 'drover dead-letter list'],
  [
    'unclaimableTasks',
    'tasks that no agent can take',
    "drover api GET '/agent-tasks?unclaimable=true'",
  ],
  ['openQuestions', 'open questions', 'drover question list'],
  ['changesInReview', 'changes in review', 'drover review list'],
  ['obstructedChanges', 'changes with an obstacle', 'drover review list --state all'],
  ['usedUpBudgets', 'budgets used up', 'drover budget list'],
  ['endingBudgets', 'budgets almost used up', 'drover budget list'],
  ['failedSchedules', 'failed schedules', 'drover schedule list'],
  ['silentAgents', 'agents without heartbeats', 'drover agent list'],
  ['refusingProviders', 'providers that refuse requests', 'drover api GET /provider-limits'],
  ['failingWebhooks', 'failing webhooks', 'drover webhook list'],
  ['failingNotices', 'failing notices', 'drover webhook list'],
];
const MAX_COUNT = 100;

const attention: CommandSpec = {
  usage: 'attention',
  summary: 'Show what needs your attention',
  examples: ['attention'],
  run: async (cli) => {
    const counts = await cli.drover.get('/api/v1/attention');
    if (cli.out.json) return cli.out.value(counts);
    const found = LINES.filter(([name]) => counts[name] > 0);
    cli.out.rows(
      found,
      [
        { title: 'count', of: ([name]) => (counts[name] < MAX_COUNT ? counts[name] : '100+') },
        { title: 'of', of: ([, words]) => words },
        { title: 'see', of: ([, , command]) => command },
      ],
      'Nothing needs your attention.',
    );
  },
};

const commands: Commands = { attention };

export default commands;
