import { createHash } from 'node:crypto';

/** What happens if tasks of an earlier due time have not finished. */
export const OVERLAPS = ['skip', 'queue', 'allow', 'cancel'] as const;
export type Overlap = (typeof OVERLAPS)[number];

/** Which due times start late, after nobody could start them in time. */
export const MISSED_POLICIES = ['none', 'last', 'all'] as const;
export type MissedPolicy = (typeof MISSED_POLICIES)[number];

/** What became of a due time. */
export const OCCURRENCE_OUTCOMES = ['started', 'skipped', 'missed', 'failed'] as const;
export type OccurrenceOutcome = (typeof OCCURRENCE_OUTCOMES)[number];

/**
 * The time at which a due time starts. The delay depends on schedule and due time alone, so every
 * server calculates the same delay.
 */
export function startOf(scheduleId: string, dueAt: Date, jitterSeconds: number): Date {
  if (jitterSeconds === 0) return dueAt;
  const hash = createHash('sha256').update(`${scheduleId} ${dueAt.toISOString()}`).digest();
  const share = hash.readUInt32BE(0) / 2 ** 32;
  return new Date(dueAt.getTime() + Math.floor(share * jitterSeconds * 1_000));
}
