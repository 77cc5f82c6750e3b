import type { DueTimes } from './due-times.js';
import type { MissedPolicy } from './schedule.js';

/** A due time that starts later than this is missed. */
export const LATE_MS = 60_000;

/** A schedule whose time has come. */
export interface DueSchedule {
  dueAt: Date;
  /** `dueAt` with its jitter, or later if it had to wait. */
  startAt: Date;
  /** Maximum delay of a start in seconds. */
  jitterSeconds: number;
  missed: MissedPolicy;
  /** Maximum number of missed due times that start with the policy `all`. */
  missedLimit: number;
}

/** The next step of a due schedule. It settles the due time, and `next` becomes the due time. */
export type DuePlan =
  | { kind: 'start'; next: Date | null }
  /** The due times before `next` create no tasks. */
  | { kind: 'miss'; next: Date | null };

/** Decides about one due time. A schedule with several past due times is due again at once. */
export function planDue(schedule: DueSchedule, times: DueTimes, now: Date): DuePlan {
  const { dueAt } = schedule;
  const following = times.after(dueAt);
  const isInTime = now.getTime() - schedule.startAt.getTime() <= LATE_MS;
  if (isInTime) return { kind: 'start', next: following };
  const resumeAt = firstToStart(schedule, times, now);
  return resumeAt !== null && resumeAt.getTime() <= dueAt.getTime()
    ? { kind: 'start', next: following }
    : { kind: 'miss', next: resumeAt };
}

/** The first of the missed due times that starts, else the first due time in time. */
function firstToStart(schedule: DueSchedule, times: DueTimes, now: Date) {
  const { dueAt, jitterSeconds, missed, missedLimit } = schedule;
  switch (missed) {
    case 'none': {
      // A due time before this one is late even with the whole jitter.
      const oldest = now.getTime() - LATE_MS - jitterSeconds * 1_000;
      return times.after(new Date(Math.max(dueAt.getTime(), oldest)));
    }
    case 'last':
      return times.lastUpTo(now, 1)[0] ?? times.after(now);
    case 'all':
      return times.lastUpTo(now, missedLimit)[0] ?? times.after(now);
  }
}
