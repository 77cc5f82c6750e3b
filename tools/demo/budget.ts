import type { components } from '#lib/api-client';
import type { CleanupScope } from '#lib/local-servers';
import { built } from '#lib/kernel';
import { Sentence } from '../shared/sentence.js';
import { follow, type Task } from './follow.js';
import type { People } from './people.js';
import { ALLOCATED_TOKENS, RAISED_TOKENS, USED_TOKENS } from './settings.js';

type Budget = components['schemas']['Budget'];

export interface BudgetStory {
  /** The state after two tasks have used their tokens. */
  usedUp: Budget;
  /** The server's explanation for the third task. */
  waits: string;
  /** The time from the raise of the budget until a worker has claimed the task. */
  claimedMs: number;
  atEnd: Budget;
  holds: boolean;
}

const DAY_MS = 86_400_000;
const TASKS_IN_ALL = 3;

/** Runs three tasks with a budget for two: the third waits until the budget is raised. */
export async function useUpBudget(scope: CleanupScope, people: People): Promise<BudgetStory> {
  const { administrator } = people;
  const project = await administrator.post('/api/v1/projects', {
    body: { name: 'Ask a model' },
  });
  const now = Date.now();
  const { id } = await administrator.post('/api/v1/budgets', {
    body: {
      scope: 'project',
      scopeId: project.id,
      allocated: ALLOCATED_TOKENS,
      periodStart: new Date(now).toISOString(),
      periodEnd: new Date(now + DAY_MS).toISOString(),
    },
  });
  const params = { path: { id } };
  const ask = (count: number) => askModel(scope, { people, projectId: project.id, count });
  await (await ask(TASKS_IN_ALL - 1)).done();
  const usedUp = await administrator.get('/api/v1/budgets/{id}', { params });
  const third = await ask(1);
  const waits = await reasonOf(people, third.ids[0] ?? '');
  const raised = performance.timeOrigin + performance.now();
  await administrator.patch('/api/v1/budgets/{id}', {
    params,
    body: { allocated: RAISED_TOKENS },
  });
  const [task] = await third.done();
  const atEnd = await administrator.get('/api/v1/budgets/{id}', { params });
  const claimedMs = Date.parse(task?.assignedAt ?? '') - raised;
  return { usedUp, waits, claimedMs, atEnd, holds: addsUp(usedUp, atEnd) };
}

function addsUp(usedUp: Budget, atEnd: Budget): boolean {
  return (
    Number(usedUp.consumed) === (TASKS_IN_ALL - 1) * USED_TOKENS &&
    Number(atEnd.consumed) === TASKS_IN_ALL * USED_TOKENS &&
    Number(atEnd.reserved) === 0
  );
}

async function askModel(
  scope: CleanupScope,
  { people, projectId, count }: { people: People; projectId: string; count: number },
): Promise<{ ids: string[]; done: () => Promise<Task[]> }> {
  const { member } = people;
  const task = {
    title: 'Ask a model',
    taskType: 'ask',
    projectId,
    requiredCapabilities: ['read'],
    inputContext: { command: [process.execPath, built('tools/demo/jobs/ask.js')] },
  };
  const tasks = Array.from({ length: count }, () => task);
  const { items } = await member.post('/api/v1/agent-tasks/batch', { body: { tasks } });
  const ids = items.map(({ id }) => id);
  return {
    ids,
    done: () => follow(member, ids, { scope, filter: { taskType: 'ask' }, everyMs: 40 }),
  };
}

async function reasonOf({ member }: People, taskId: string): Promise<string> {
  const params = { path: { id: taskId } };
  const { reasons } = await member.get('/api/v1/agent-tasks/{id}/explain', { params });
  const short = reasons.find(({ code }) => code === 'budget');
  if (short !== undefined) return short.message;
  throw new Sentence(`The third task does not wait for its budget: ${reasons[0]?.message}`);
}
