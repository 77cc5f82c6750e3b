import { Link, type LinkProps } from '@tanstack/react-router';
import { type Attention, formatAttention, useAttention } from '../api/attention.js';
import { useWorkspace } from '../api/workspace.js';
import { Panel } from './parts.js';

interface Line {
  name: keyof Attention;
  one: string;
  many: string;
  to: LinkProps['to'];
  search?: { unclaimable: true };
  adminsOnly?: boolean;
}

const LINES: Line[] = [
  { name: 'failedTasks', one: 'failed task', many: 'failed tasks', to: '/dead-letter' },
  {
    name: 'unclaimableTasks',
    one: 'task that no agent can take',
    many: 'tasks that no agent can take',
    to: '/tasks',
    search: { unclaimable: true },
  },
  { name: 'openQuestions', one: 'open question', many: 'open questions', to: '/questions' },
  { name: 'changesInReview', one: 'change in review', many: 'changes in review', to: '/reviews' },
  {
    name: 'obstructedChanges',
    one: 'change with an obstacle',
    many: 'changes with an obstacle',
    to: '/reviews',
  },
  { name: 'usedUpBudgets', one: 'budget is used up', many: 'budgets are used up', to: '/budgets' },
  {
    name: 'endingBudgets',
    one: 'budget is almost used up',
    many: 'budgets are almost used up',
    to: '/budgets',
  },
  {
    name: 'failedSchedules',
    one: 'failed schedule',
    many: 'failed schedules',
    to: '/schedules',
  },
  {
    name: 'silentAgents',
    one: 'agent without heartbeats',
    many: 'agents without heartbeats',
    to: '/agents',
  },
  {
    name: 'refusingProviders',
    one: 'provider refuses requests',
    many: 'providers refuse requests',
    to: '/models',
  },
  {
    name: 'failingWebhooks',
    one: 'failing webhook',
    many: 'failing webhooks',
    to: '/webhooks',
    adminsOnly: true,
  },
  {
    name: 'failingNotices',
    one: 'failing notice',
    many: 'failing notices',
    to: '/notices',
    adminsOnly: true,
  },
];

/** Links to what waits for people. Nothing is shown while nothing does. */
export function NeedsAttention() {
  const { may } = useWorkspace();
  const { data } = useAttention();
  if (data === undefined) return null;
  const lines = LINES.filter(
    ({ name, adminsOnly }) => data[name] > 0 && (!adminsOnly || may('ADMIN')),
  );
  if (lines.length === 0) return null;
  return (
    <Panel title="Needs attention">
      <ul className="attention">
        {lines.map(({ name, one, many, to, search = {} }) => (
          <li key={name}>
            <Link to={to ?? '/'} search={search} className="link">
              {formatAttention(data[name])} {data[name] === 1 ? one : many}
            </Link>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
