import { isDeepStrictEqual } from 'node:util';
import { DroverError } from '#lib/kernel';
import { keepHidden, redactSecrets, type SecretValues } from '#lib/secrets/domain';
import { TASK_PHASES } from '#lib/transitions/domain';
import { requirementsAfter, whyNotRequired } from './requirements.js';
import { hiddenTags, SECRET_FIELDS, secretValuesOf } from './task-secrets.js';
import { EDITABLE, type EditableField, type Given } from './task-fields.js';
import type { TaskView } from './task-view.js';

/** An update with its estimate. */
export type FoundUpdate = Partial<Given<EditableField>> & {
  tags?: string[];
  /** The only agent that can take it from its next run on. Null means any capable agent. */
  agentId?: string | null;
};

/** The changes that a client can make to a task. Absent fields stay. */
export type TaskUpdate = Omit<FoundUpdate, 'estimatedTokens' | 'estimateSource'> & {
  /** Null means that the server finds it. */
  estimatedTokens?: string | null;
};

export type UpdateField = Exclude<keyof FoundUpdate, 'agentId'>;

/** Every field of an update with its new value. */
export type UpdatedFields = Required<Pick<FoundUpdate, UpdateField>>;

export interface UpdatePlan {
  next: UpdatedFields;
  /** The fields with a new value. */
  changed: UpdateField[];
  addedTags: string[];
  removedTags: string[];
  /** The log's record of it: old and new values, if they cannot be secrets. */
  details: Record<string, unknown>;
  /** The secrets in the new values. */
  values: SecretValues;
}

const FIELDS = [...Object.keys(EDITABLE), 'tags'] as UpdateField[];

/** The only fields of a closed task that can change. */
const NOTES: readonly UpdateField[] = ['metadata', 'tags'];

/**
 * The changes of an update to a task. Pure.
 *
 * @param task its view with the secrets that the update concerns
 * @param shown its view as shown to the client
 */
export function planUpdate(task: TaskView, update: FoundUpdate, shown: TaskView): UpdatePlan {
  const current = fieldsOf(task);
  const given = Object.fromEntries(
    Object.entries(update).filter(([name, value]) => name !== 'agentId' && value !== undefined),
  ) as FoundUpdate;
  const requiredCapabilities = requirementsOfNext(task, update);
  const restored = normalised(given, current, fieldsOf(shown));
  // A value that was secret before stays hidden, even if its name is gone.
  const values = secretValuesOf(task, { ...current, ...restored });
  const tags = restored.tags && { tags: hiddenTags(restored.tags, values).sort() };
  const next: UpdatedFields = { ...current, ...restored, ...tags, requiredCapabilities };
  const changed = FIELDS.filter((field) => !isDeepStrictEqual(next[field], current[field]));
  const addedTags = next.tags.filter((tag) => !task.tags.includes(tag));
  const removedTags = task.tags.filter((tag) => !next.tags.includes(tag));
  const details = { changed: Object.fromEntries(changed.map((field) => [field, logged(field)])) };
  return { next, changed, addedTags, removedTags, details, values };

  function logged(field: UpdateField): unknown {
    if (field === 'tags') return { added: addedTags, removed: removedTags };
    if (field === 'metadata' || field === 'secrets') {
      return { keys: changedKeys(current[field], next[field]).map((key) => values.hide(key)) };
    }
    if (field === 'title') return { from: shown.title, to: values.redact(next.title) };
    // Long and of unknown content, so the log only says that it changed.
    if (field === 'description') return {};
    return { from: redactSecrets(current[field]), to: redactSecrets(next[field]) };
  }
}

/**
 * @throws DroverError `task_closed` if the task has ended and more than notes would change,
 *   `validation_failed` for a milestone without a project, or a required capability of one agent
 */
export function requireUpdatable(
  task: TaskView,
  { changed, next }: UpdatePlan,
  given: TaskUpdate,
): void {
  const refused = changed.filter((field) => !NOTES.includes(field));
  if (TASK_PHASES[task.status] === 'closed' && refused.length > 0) {
    throw new DroverError('task_closed', {
      detail: `The task is ${task.status}; ${refused.join(', ')} cannot change any more.`,
      members: { current: task.status, fields: refused },
    });
  }
  const asked = whyNotRequired({ requiredCapabilities: unlessHeld(given, task) });
  if (asked) throw new DroverError('validation_failed', { errors: [asked] });
  if (next.milestoneId && !next.projectId) {
    const errors = [{ field: 'milestoneId', message: 'needs the projectId of its project' }];
    throw new DroverError('validation_failed', { errors });
  }
}

function requirementsOfNext(task: TaskView, { requiredCapabilities, agentId }: FoundUpdate) {
  const { requiredCapabilities: current, agent, inputContext } = task;
  const { repositoryId, acceptanceScript } = task;
  if (requiredCapabilities === undefined && agentId === undefined) return current;
  const fixed = {
    agent: agent as object | null,
    inputContext: inputContext as object,
    repositoryId,
    acceptanceScript,
  };
  return requirementsAfter(current, { requiredCapabilities, agentId, ...fixed });
}

/** The client can send the capability of the assigned agent back, as it was shown. */
function unlessHeld({ requiredCapabilities }: TaskUpdate, task: TaskView): string[] | undefined {
  return requiredCapabilities?.filter((one) => !task.requiredCapabilities.includes(one));
}

function fieldsOf(task: TaskView): UpdatedFields {
  const fields = Object.fromEntries(FIELDS.map((field) => [field, task[field]]));
  return { ...(fields as UpdatedFields), tags: [...task.tags].sort() };
}

function normalised(given: FoundUpdate, current: UpdatedFields, shown: UpdatedFields): FoundUpdate {
  const { tags, projectId, milestoneId } = given;
  const restored = SECRET_FIELDS.filter((field) => given[field] !== undefined).map(
    (field) => [field, keepHidden(given[field], current[field], shown[field])] as const,
  );
  return {
    ...given,
    ...(Object.fromEntries(restored) as FoundUpdate),
    ...(tags ? { tags: [...new Set(tags)].sort() } : {}),
    ...(projectId ? { projectId: projectId.toLowerCase() } : {}),
    ...(milestoneId ? { milestoneId: milestoneId.toLowerCase() } : {}),
  };
}

function changedKeys(before: unknown, after: unknown): string[] {
  const [a, b] = [isObject(before) ? before : {}, isObject(after) ? after : {}];
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  return keys.filter((key) => !isDeepStrictEqual(a[key], b[key])).slice(0, 100);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
