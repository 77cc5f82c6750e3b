import { describe, expect, it } from '@jest/globals';
import { EVENT_NAMES } from './catalogue.js';
import type { JournalRow } from './journal-row.js';
import { messagesOf } from './message.js';
import { SHORT_WORDS, shortMessageOf } from './short-message.js';

const WORKSPACE = '0198c5a0-0000-7000-8000-000000000001';
const [TASK, RUN, AGENT] = ['a task', 'a run', 'an agent'];
const SAID = { questionId: 'a question', prompt: 'Which?' };
const QUESTION = { taskId: TASK, runId: RUN, agentId: AGENT };
const ASKED = {
  ...SAID,
  choices: ['this', 'that'],
  freeText: false,
  onDeadline: 'fail',
  deadlineAt: '2026-11-23T10:00:00+00:00',
};
const ANSWERED = { ...SAID, answer: 'this', answeredBy: 'user:1' };
const DUE_TIME = { scheduleId: 'a schedule', name: 'nightly', dueAt: '2026-11-22T09:00:00+00:00' };
const EXPIRED = { ...SAID, onDeadline: 'fail', answer: null };
const CREATED = Date.parse('2026-11-22T10:00:00.123Z');

function row(overrides: Partial<JournalRow>): JournalRow {
  return {
    id: '7',
    workspace_id: WORKSPACE,
    event: 'task.status_changed',
    log_event: null,
    task_id: null,
    version: null,
    previous_status: null,
    new_status: null,
    run_id: null,
    run_version: null,
    previous_state: null,
    new_state: null,
    end_reason: null,
    generation: null,
    agent_id: null,
    actor_kind: 'system',
    reason: null,
    message: null,
    details: null,
    retry_at: null,
    created_at: CREATED,
    ...overrides,
  };
}

const ABORTED = row({
  task_id: TASK,
  version: 4,
  previous_status: 'RUNNING',
  new_status: 'ABORTED',
  run_id: RUN,
  agent_id: AGENT,
  reason: 'timeout',
  message: 'for the log alone',
  details: { for: 'the log alone' },
  retry_at: CREATED + 1_000,
});

const RUN_MOVED = {
  run_version: 3,
  previous_state: 'WORKING',
  new_state: 'FAILED',
  end_reason: 'timeout',
  generation: 2,
};

const ABORTED_TOLD = {
  taskId: TASK,
  previousStatus: 'RUNNING',
  newStatus: 'ABORTED',
  version: 4,
  runId: RUN,
  agentId: AGENT,
  reason: 'timeout',
  retryAt: '2026-11-22T10:00:01.123Z',
};

const RUN_TOLD = {
  runId: RUN,
  taskId: TASK,
  agentId: AGENT,
  generation: 2,
  previousState: 'WORKING',
  newState: 'FAILED',
  version: 3,
  reason: 'timeout',
};

const CONFLICT = {
  runId: RUN,
  agentId: AGENT,
  generation: 1,
  endReason: 'agent_stale',
  newerRunId: 'another run',
  newerAgentId: 'another agent',
  newerGeneration: 2,
};

const SECOND_SESSION = { runId: RUN, agentId: AGENT, gatewayId: 'b', rightfulGatewayId: 'a' };

const BUDGET = {
  level: 'warning',
  threshold: 75,
  percentUsed: 76,
  scope: 'task',
  scopeId: TASK,
  budgetId: 'a budget',
  allocated: '100',
  consumed: '76',
};

const CHANGE = {
  repositoryId: 'a repository',
  revision: 1,
  branch: 'codex/1',
  headCommit: 'a commit',
};
const CHANGE_MOVE = { ...CHANGE, previousState: 'PROVING', newState: 'WORKING' };
const BUDGET_END = {
  scope: 'task',
  scopeId: TASK,
  budgetId: 'a budget',
  allocated: '100',
  consumed: '76',
  periodStart: '2026-01-01T00:00:00.000Z',
  periodEnd: '2026-02-01T00:00:00.000Z',
};

const CYCLE = { path: [TASK, 'b', TASK], taskIds: [TASK, 'b'], length: 2, ownerIds: ['an owner'] };

/**
 * Each event of the catalogue: the row that statements write, and everything that a subscriber
 * receives.
 */
type CatalogueRow = [string, Partial<JournalRow>, Record<string, unknown>];
const CATALOGUE: CatalogueRow[] = [
  [
    'task.created',
    { task_id: TASK, version: 1, new_status: 'PENDING' },
    { taskId: TASK, newStatus: 'PENDING', version: 1 },
  ],
  ['task.status_changed', ABORTED, ABORTED_TOLD],
  [
    'task.updated',
    {
      log_event: 'task_updated',
      task_id: TASK,
      version: 2,
      previous_status: 'PAUSED',
      new_status: 'PAUSED',
      details: { changed: { priority: { from: 5, to: 9 } }, changedFields: ['priority', 'title'] },
    },
    { taskId: TASK, status: 'PAUSED', changed: ['priority', 'title'], version: 2 },
  ],
  [
    'task.progress',
    {
      log_event: 'progress_update',
      task_id: TASK,
      run_id: RUN,
      agent_id: AGENT,
      message: 'halfway',
      details: { progressPercent: 50 },
    },
    {
      taskId: TASK,
      runId: RUN,
      progressPercent: 50,
      currentStep: 'halfway',
      checkpoint: false,
    },
  ],
  [
    'task.progress',
    { log_event: 'checkpoint', task_id: TASK, run_id: RUN, details: { progressPercent: 51 } },
    { taskId: TASK, runId: RUN, progressPercent: 51, currentStep: null, checkpoint: true },
  ],
  [
    'task.dependency_cycle',
    { log_event: '', task_id: TASK, details: CYCLE },
    { taskId: TASK, ...CYCLE },
  ],
  [
    'run.state_changed',
    { log_event: '', task_id: TASK, run_id: RUN, agent_id: AGENT, ...RUN_MOVED },
    RUN_TOLD,
  ],
  [
    'run.hung_warning',
    {
      log_event: 'hung_warning',
      task_id: TASK,
      run_id: RUN,
      agent_id: AGENT,
      details: {
        estimatedCompletionAt: '2026-11-22T09:00:00+00:00',
        lastProgressAt: null,
        abortsAfterSeconds: 600,
      },
    },
    {
      runId: RUN,
      taskId: TASK,
      agentId: AGENT,
      estimatedCompletionAt: '2026-11-22T09:00:00+00:00',
      lastProgressAt: null,
      abortsAt: '2026-11-22T10:10:00.123Z',
    },
  ],
  [
    'run.split_brain_conflict',
    { task_id: TASK, run_id: RUN, agent_id: AGENT, details: CONFLICT },
    { taskId: TASK, ...CONFLICT },
  ],
  [
    'run.split_brain_conflict',
    { task_id: TASK, run_id: RUN, agent_id: AGENT, details: SECOND_SESSION },
    { taskId: TASK, ...SECOND_SESSION },
  ],
  [
    'question.asked',
    { task_id: TASK, run_id: RUN, agent_id: AGENT, details: ASKED },
    { ...QUESTION, ...ASKED },
  ],
  [
    'question.answered',
    { task_id: TASK, run_id: RUN, agent_id: AGENT, details: ANSWERED },
    { ...QUESTION, ...ANSWERED },
  ],
  [
    'question.expired',
    { task_id: TASK, run_id: RUN, agent_id: AGENT, details: EXPIRED },
    { ...QUESTION, ...EXPIRED },
  ],
  ...['submitted', 'returned', 'review_requested', 'approved', 'merged', 'failed', 'closed'].map(
    (name): CatalogueRow => [
      `change.${name}`,
      { task_id: TASK, run_id: RUN, reason: 'red', message: 'a sentence', details: CHANGE_MOVE },
      { taskId: TASK, runId: RUN, ...CHANGE_MOVE, reason: 'red', message: 'a sentence' },
    ],
  ),
  [
    'change.commented',
    {
      task_id: TASK,
      message: 'a word',
      details: { ...CHANGE, reviewId: 'a review', state: 'WORKING' },
    },
    { taskId: TASK, ...CHANGE, reviewId: 'a review', state: 'WORKING', message: 'a word' },
  ],
  [
    'change.review_overdue',
    { task_id: TASK, details: { ...CHANGE, waitingSince: '2026-11-22T09:00:00+00:00' } },
    { taskId: TASK, ...CHANGE, waitingSince: '2026-11-22T09:00:00+00:00' },
  ],
  [
    'change.obstructed',
    { task_id: TASK, details: { ...CHANGE, state: 'APPROVED', obstacle: 'It is dirty.' } },
    { taskId: TASK, ...CHANGE, state: 'APPROVED', obstacle: 'It is dirty.' },
  ],
  [
    'budget.ending',
    { task_id: TASK, message: 'a sentence', details: BUDGET_END },
    { taskId: TASK, ...BUDGET_END, message: 'a sentence' },
  ],
  [
    'budget.ended',
    { task_id: TASK, message: 'a sentence', details: { ...BUDGET_END, followedBy: 'renewal' } },
    { taskId: TASK, ...BUDGET_END, followedBy: 'renewal', message: 'a sentence' },
  ],
  [
    'budget.alert',
    { task_id: TASK, message: 'a sentence', details: BUDGET },
    { taskId: TASK, ...BUDGET, message: 'a sentence' },
  ],
  [
    'schedule.due_time_failed',
    { reason: 'project_archived', message: 'a sentence', details: DUE_TIME },
    { ...DUE_TIME, reason: 'project_archived', message: 'a sentence' },
  ],
  [
    'agent.status_changed',
    {
      log_event: '',
      agent_id: AGENT,
      version: 5,
      previous_status: 'IDLE',
      new_status: 'ERROR',
      reason: 'stale',
    },
    { agentId: AGENT, previousStatus: 'IDLE', newStatus: 'ERROR', reason: 'stale', version: 5 },
  ],
];

it('each event of the catalogue has a row', () => {
  expect([...new Set(CATALOGUE.map(([event]) => event))].sort()).toEqual([...EVENT_NAMES].sort());
});

describe('shortMessageOf', () => {
  const moved = (previous: string, next: string, actor = 'system') =>
    row({
      task_id: TASK,
      previous_status: previous,
      new_status: next,
      actor_kind: actor,
    });
  const agent = (status: string) =>
    row({ event: 'agent.status_changed', agent_id: AGENT, new_status: status });

  it.each([
    [row({ event: 'task.created', task_id: TASK, new_status: 'PENDING' }), 'task_created'],
    [moved('PENDING', 'ASSIGNED'), 'task_assigned'],
    [moved('ASSIGNED', 'RUNNING'), 'task_started'],
    [moved('RUNNING', 'PAUSED'), 'task_paused'],
    [moved('PAUSED', 'PENDING'), 'task_resumed'],
    [moved('RUNNING', 'COMPLETED'), 'task_completed'],
    [moved('RUNNING', 'FAILED'), 'task_failed'],
    [moved('RUNNING', 'ABORTED', 'user'), 'task_cancelled'],
    [moved('RUNNING', 'ABORTED', 'api_key'), 'task_cancelled'],
    [moved('RUNNING', 'ABORTED', 'coordinator'), 'task_recovery'],
    [moved('ABORTED', 'PENDING'), 'task_requeued'],
    [moved('ASSIGNED', 'PENDING'), 'task_released'],
    [moved('COMPLETED', 'ARCHIVED'), 'task_archived'],
  ])('the short form of %j names it', (given, word) => {
    expect(shortMessageOf(given)).toEqual({ event: word, task_id: TASK });
    expect(SHORT_WORDS).toHaveProperty(word);
  });

  it.each([
    ['ERROR', 'agent_stale'],
    ['IDLE', 'agent_idle'],
    ['TERMINATED', 'agent_terminated'],
  ])('an agent that is %s has the short form %s', (status, word) => {
    expect(shortMessageOf(agent(status))).toEqual({ event: word, agent_id: AGENT });
    expect(SHORT_WORDS).toHaveProperty(word);
  });

  it.each([row({ event: 'task.progress' }), agent('STARTING')])('%j has no short form', (given) => {
    expect(shortMessageOf(given)).toBeUndefined();
  });
});

describe('messagesOf', () => {
  it.each(CATALOGUE)('%s has all of its fields, and no other', (event, columns, told) => {
    const envelope = { event, workspaceId: WORKSPACE, timestamp: '2026-11-22T10:00:00.123Z' };
    const [subject] = event.split('.');
    const messages = messagesOf(row({ ...columns, event }));
    expect(
      messages.map(({ id, workspaceId, subject: of, body }) => ({
        id,
        workspaceId,
        subject: of,
        body,
      })),
    ).toEqual([{ id: '14', workspaceId: WORKSPACE, subject, body: { ...envelope, ...told } }]);
  });

  it("the task's message precedes that of its run, each with its own id", () => {
    const messages = messagesOf({ ...ABORTED, ...RUN_MOVED });
    expect(messages.map(({ id, subject }) => [id, subject])).toEqual([
      ['14', 'task'],
      ['15', 'run'],
    ]);
    expect(messages.map(({ body }) => body)).toMatchObject([ABORTED_TOLD, RUN_TOLD]);
  });

  it('a task without a retry says so', () => {
    expect(messagesOf({ ...ABORTED, retry_at: null })[0]?.body).toMatchObject({ retryAt: null });
  });
});
