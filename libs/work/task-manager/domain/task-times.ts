import type { TaskRequest } from './new-task.js';

/** Why a task cannot have these times and keys. Null if it can. */
export function whyNoTimes(
  task: TaskRequest,
  isAlone: boolean,
): { field: string; message: string } | null {
  const { startAt, delaySeconds, expiresAt, queueExpiresInSeconds } = task;
  const { concurrencyKey, concurrencyLimit, debounceKey } = task;
  if (startAt !== undefined && delaySeconds !== undefined) {
    return { field: 'delaySeconds', message: 'must be left out with startAt' };
  }
  if (expiresAt !== undefined && queueExpiresInSeconds !== undefined) {
    return { field: 'expiresAt', message: 'must be left out with queueExpiresInSeconds' };
  }
  if (startAt !== undefined && expiresAt !== undefined && isBefore(expiresAt, startAt)) {
    return { field: 'expiresAt', message: 'must be after startAt' };
  }
  if ((delaySeconds ?? 0) > 0 && (queueExpiresInSeconds ?? Infinity) <= (delaySeconds ?? 0)) {
    return { field: 'queueExpiresInSeconds', message: 'must be more than delaySeconds' };
  }
  if (concurrencyLimit !== undefined && concurrencyKey === undefined) {
    return { field: 'concurrencyLimit', message: 'needs the concurrencyKey' };
  }
  if (debounceKey === undefined) return null;
  if (startAt === undefined && delaySeconds === undefined) {
    return { field: 'debounceKey', message: 'needs startAt or delaySeconds' };
  }
  if (isAlone) return null;
  return { field: 'debounceKey', message: 'is only for a task that is created alone' };
}

const isBefore = (one: string, other: string) => Date.parse(one) <= Date.parse(other);

/** The times of a new task, which the database computes in the same way. */
export function timesOf(
  task: Pick<TaskRequest, 'startAt' | 'delaySeconds' | 'expiresAt' | 'queueExpiresInSeconds'>,
  createdAt: Date,
): { startAt: string | null; queueExpiresAt: string | null } {
  const { startAt, delaySeconds, expiresAt, queueExpiresInSeconds } = task;
  return {
    startAt: timeOf(startAt, delaySeconds, createdAt),
    queueExpiresAt: timeOf(expiresAt, queueExpiresInSeconds, createdAt),
  };
}

function timeOf(at: string | undefined, seconds: number | undefined, from: Date): string | null {
  if (at !== undefined) return new Date(at).toISOString();
  if (seconds === undefined) return null;
  return new Date(from.getTime() + seconds * 1_000).toISOString();
}

/** The number of holds of a new task beside its dependencies. */
export function holdsOf(
  {
    concurrencyKey,
    ...task
  }: TaskRequest | Pick<TaskRequest, 'startAt' | 'delaySeconds' | 'concurrencyKey'>,
  createdAt: Date,
): number {
  const { startAt } = timesOf(task, createdAt);
  const isLater = startAt !== null && Date.parse(startAt) > createdAt.getTime();
  return Number(isLater) + Number(concurrencyKey !== undefined);
}
