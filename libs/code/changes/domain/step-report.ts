import type { FieldError } from '#lib/kernel';
import type { Step } from './change-state.js';

export const OUTCOMES = [
  'green',
  'red',
  'refused',
  'merged',
  'conflict',
  'blocked',
  'waits',
  'failed',
  'released',
  'removed',
  'synced',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** The outcomes of each step. */
const OUTCOMES_OF: Record<Step, readonly Outcome[]> = {
  prove: ['green', 'red', 'refused', 'blocked', 'waits', 'failed', 'released'],
  land: ['merged', 'red', 'conflict', 'blocked', 'waits', 'failed', 'released'],
  // A closed change can be on the target: a host was about to push it.
  remove: ['removed', 'merged', 'blocked', 'waits', 'failed', 'released'],
  sync: ['synced', 'blocked', 'failed', 'released'],
};

/** What a host reports of a step. The outcome decides which fields are needed. */
export interface StepReport {
  generation: number;
  outcome: Outcome;
  /** green, red: the proven commit; merged: the commit on the target. */
  commit?: string;
  exitCode?: number;
  /** red: the end of the output of the acceptance commands. */
  output?: string;
  durationMs?: number;
  /** conflict: the paths of the files. */
  files?: string[];
  /** conflict: the conflict as git shows it. */
  text?: string;
  /** refused, blocked, waits, failed: why, in words for people. merged: what the forge did otherwise. */
  reason?: string;
  /** blocked, waits: the least time until the next attempt, in seconds. */
  waitSeconds?: number;
}

const NEEDED: Partial<Record<Outcome, readonly (keyof StepReport)[]>> = {
  green: ['commit'],
  red: ['commit', 'exitCode'],
  refused: ['reason'],
  merged: ['commit'],
  conflict: ['files'],
  blocked: ['reason'],
  waits: ['reason'],
  failed: ['reason'],
};

/** The errors of a report, for the step that it is about. */
export function errorsOfReport(step: Step, report: StepReport): FieldError[] {
  const allowed = OUTCOMES_OF[step];
  if (!allowed.includes(report.outcome)) {
    const message = `must be one of ${allowed.join(', ')}: the step is ${step}`;
    return [{ field: 'outcome', message }];
  }
  return (NEEDED[report.outcome] ?? [])
    .filter((field) => report[field] === undefined)
    .map((field) => ({ field, message: `must be given with the outcome ${report.outcome}` }));
}
