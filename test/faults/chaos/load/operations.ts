import type { Random } from '../random.js';
import type { Answer, Question } from './client.js';
import { aJob, aTaskType } from './jobs.js';
import type { Journal } from './journal.js';

/** The next request of a client, and the effect of the answer on its state. */
export interface Operation extends Question {
  remember(answer: Answer | undefined): void;
}

type Make = (random: Random, journal: Journal) => Operation | undefined;

const POLICIES = ['block', 'block', 'fail', 'ignore'] as const;
const HOLDS_AT_MOST = 2;
const NOTHING = (): void => undefined;
const DONE_OR_ILLEGAL = [200, 409] as const;

/** The weights of operations. Creating ones are left out while too many tasks wait. */
export const WEIGHTS = {
  create: 46,
  batch: 3,
  depend: 6,
  cancel: 6,
  cascade: 2,
  pause: 6,
  resume: 6,
  retry: 4,
  archive: 4,
  bulk_cancel: 1,
  bulk_retry: 2,
  update: 3,
  read: 12,
  explain: 4,
  list: 3,
  hold: 2,
  unhold: 4,
  reallocate: 6,
} as const;

export type OperationName = keyof typeof WEIGHTS;
export const CREATING: readonly OperationName[] = ['create', 'batch'];

let counter = 0;

function newKey(random: Random): string {
  counter += 1;
  return `chaos-${counter}-${random.int(0, 2 ** 31).toString(36)}`;
}

function someone(random: Random, journal: Journal): string | undefined {
  return journal.recentIds.length === 0 ? undefined : random.pick(journal.recentIds);
}

function several(random: Random, journal: Journal, most: number): string[] {
  const ids = Array.from({ length: random.int(1, most) }, () => someone(random, journal));
  return [...new Set(ids.filter((id) => id !== undefined))];
}

function create(random: Random, journal: Journal): Operation {
  const key = newKey(random);
  const dependsOn = random.chance(0.25)
    ? several(random, journal, 3).map((taskId) => ({ taskId, policy: random.pick(POLICIES) }))
    : [];
  journal.unanswered.add(key);
  return {
    operation: 'create',
    method: 'POST',
    path: '/agent-tasks',
    idempotencyKey: key,
    body: {
      ...aJob(random, key, journal.budgets.scopes),
      ...(dependsOn.length > 0 && { dependsOn }),
    },
    expects: [201],
    remember(answer) {
      if (answer === undefined) return;
      journal.unanswered.delete(key);
      if (answer.status === 201) journal.created(String(answer.body['id']), key);
    },
  };
}

/** A small tree: all others wait for the first task. */
function batch(random: Random, journal: Journal): Operation {
  const key = newKey(random);
  const size = random.int(2, 6);
  const titles = Array.from({ length: size }, (_, n) => `${key}-${n}`);
  const tasks = titles.map((title, n) => ({
    ...aJob(random, title, journal.budgets.scopes),
    ref: `r${n}`,
    ...(n > 0 && { dependsOn: [{ ref: 'r0', policy: random.pick(POLICIES) }] }),
  }));
  for (const title of titles) journal.unanswered.add(title);
  return {
    operation: 'batch',
    method: 'POST',
    path: '/agent-tasks/batch',
    idempotencyKey: key,
    body: { tasks },
    expects: [201],
    remember(answer) {
      if (answer === undefined) return;
      for (const title of titles) journal.unanswered.delete(title);
      const { items } = answer.body as { items?: { id: string }[] };
      items?.forEach(({ id }, n) => journal.created(id, titles[n] ?? ''));
    },
  };
}

function command(name: 'cancel' | 'pause' | 'resume' | 'archive', body: object = {}): Make {
  return (random, journal) => {
    const known = name === 'resume' ? journal.pausedIds : [];
    const id = known.length > 0 ? random.pick(known) : someone(random, journal);
    if (id === undefined) return undefined;
    return {
      operation: name,
      method: 'POST',
      path: `/agent-tasks/${id}/${name}`,
      body,
      expects: DONE_OR_ILLEGAL,
      remember(answer) {
        if (answer?.status !== 200) return;
        if (name === 'cancel') journal.note(id, { cancelled: true });
        if (name === 'archive') journal.note(id, { archived: true });
        journal.note(id, { paused: name === 'pause' });
      },
    };
  };
}

function retry(random: Random, journal: Journal): Operation | undefined {
  const id = someone(random, journal);
  if (id === undefined) return undefined;
  journal.note(id, { retried: true });
  return {
    operation: 'retry',
    method: 'POST',
    path: `/agent-tasks/${id}/retry`,
    body: {},
    expects: DONE_OR_ILLEGAL,
    remember: NOTHING,
  };
}

function bulk(name: 'cancel' | 'retry'): Make {
  return (random, journal) => {
    const ids = several(random, journal, name === 'cancel' ? 3 : 10);
    if (ids.length === 0) return undefined;
    if (name === 'retry') for (const id of ids) journal.note(id, { retried: true });
    return {
      operation: `bulk_${name}`,
      method: 'POST',
      path: `/agent-tasks/bulk/${name}`,
      body: { ids },
      expects: [200],
      remember: NOTHING,
    };
  };
}

function depend(random: Random, journal: Journal): Operation | undefined {
  const [id, ...others] = several(random, journal, 4);
  if (id === undefined || others.length === 0) return undefined;
  const dependsOn = others.map((taskId) => ({ taskId, policy: random.pick(POLICIES) }));
  return {
    operation: 'depend',
    method: 'POST',
    path: `/agent-tasks/${id}/dependencies`,
    body: { dependsOn },
    expects: DONE_OR_ILLEGAL,
    remember: NOTHING,
  };
}

function update(random: Random, journal: Journal): Operation | undefined {
  const id = someone(random, journal);
  if (id === undefined) return undefined;
  return {
    operation: 'update',
    method: 'PATCH',
    path: `/agent-tasks/${id}`,
    body: { priority: random.int(1, 10) },
    expects: DONE_OR_ILLEGAL,
    remember: NOTHING,
  };
}

function look(name: 'read' | 'explain'): Make {
  return (random, journal) => {
    const id = someone(random, journal);
    if (id === undefined) return undefined;
    const path = `/agent-tasks/${id}${name === 'read' ? '' : '/explain'}`;
    return {
      operation: name,
      method: 'GET',
      path,
      expects: [200],
      remember(answer) {
        if (name === 'read' && answer?.body['status'] === 'COMPLETED') {
          journal.note(id, { completed: true });
        }
      },
    };
  };
}

const list: Make = () => ({
  operation: 'list',
  method: 'GET',
  path: '/agent-tasks?limit=20&status=RUNNING',
  expects: [200],
  remember: NOTHING,
});

/** Pauses a task type until a client resumes it, or for a while. */
function hold(random: Random, journal: Journal): Operation | undefined {
  if (journal.holds.size >= HOLDS_AT_MOST) return undefined;
  const isShort = random.chance(0.5);
  const until = new Date(Date.now() + random.int(1, 6) * 1_000).toISOString();
  return {
    operation: 'hold',
    method: 'POST',
    path: '/pauses',
    idempotencyKey: newKey(random),
    body: {
      scope: 'task_type',
      taskType: aTaskType(random),
      reason: 'chaos',
      ...(isShort && { until }),
    },
    // A repeated request is refused if its time has passed meanwhile.
    expects: isShort ? [201, 400] : [201],
    remember(answer) {
      if (answer?.status === 201 && !isShort) journal.holds.add(String(answer.body['id']));
    },
  };
}

function unhold(_: Random, journal: Journal): Operation | undefined {
  const [id] = journal.holds;
  if (id === undefined) return undefined;
  journal.holds.delete(id);
  return {
    operation: 'unhold',
    method: 'DELETE',
    path: `/pauses/${id}`,
    expects: [200],
    remember: NOTHING,
  };
}

/** The source is most often the workspace's budget, which has more. */
function reallocate(random: Random, { budgets: { ids } }: Journal): Operation {
  const [ofAll, ...ofMilestones] = ids;
  const [one, other] = random.shuffled(ofMilestones);
  const from = random.chance(0.6) ? ofAll : one;
  return {
    operation: 'reallocate',
    method: 'POST',
    path: `/budgets/${from}/reallocate`,
    idempotencyKey: newKey(random),
    body: { to: other, amount: random.int(1, 900) },
    expects: DONE_OR_ILLEGAL,
    remember: NOTHING,
  };
}

/**
 * @returns undefined if nothing exists yet to use
 */
export const OPERATIONS: Record<OperationName, Make> = {
  create,
  batch,
  depend,
  cancel: command('cancel'),
  cascade: command('cancel', { cascade: true }),
  pause: command('pause'),
  resume: command('resume'),
  retry,
  archive: command('archive'),
  bulk_cancel: bulk('cancel'),
  bulk_retry: bulk('retry'),
  update,
  read: look('read'),
  explain: look('explain'),
  list,
  hold,
  unhold,
  reallocate,
};
