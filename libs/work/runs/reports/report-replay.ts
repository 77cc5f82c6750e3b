import { type Database, firstRow } from '#lib/database';
import { DroverError } from '#lib/kernel';
import {
  LIVE_RUN_STATES,
  legalTaskTransitions,
  type RunState,
  type TaskStatus,
} from '#lib/transitions';
import { runSituation, type RunSituation } from './run-situation.sql.js';
import type { Reporter } from './reporter.js';

/** The answer to an accepted report. */
export interface ReportOutcome {
  runId: string;
  taskId: string;
  status: TaskStatus;
  version: number;
}

export function outcome(
  by: Reporter,
  taskId: string,
  status: TaskStatus,
  version: number,
): ReportOutcome {
  return { runId: by.runId, taskId, status, version };
}

/** How to recognize a replay: a report that has been accepted before. */
export interface Replay {
  is: (situation: RunSituation) => boolean;
  /** The status that the report asks for. */
  to: TaskStatus;
}

/**
 * The answer to a report that changed nothing: a success if it repeats an accepted report.
 *
 * @throws DroverError `stale_run`, `illegal_transition`, `change_required`,
 *   `acceptance_required`, `run_not_found`
 */
export async function answerReplay(
  database: Database,
  by: Reporter,
  { is, to }: Replay,
): Promise<ReportOutcome> {
  const situation = await situationOf(database, by);
  if (is(situation)) {
    return outcome(by, situation.task_id, situation.task_status, situation.task_version);
  }
  if (to === 'COMPLETED' && situation.is_live && situation.has_change)
    throw new DroverError('change_required');
  const isSession = by.actor.kind !== 'agent';
  if (to === 'COMPLETED' && situation.is_live && situation.has_acceptance && isSession)
    throw new DroverError('acceptance_required');
  throw situation.is_live ? illegalTransition(situation.task_status, to) : staleRun(situation);
}

/** @throws DroverError `stale_run`, `run_not_found` */
export async function refuseReport(database: Database, by: Reporter): Promise<never> {
  throw staleRun(await situationOf(database, by));
}

/** @throws DroverError `run_not_found` */
export async function situationOf(database: Database, by: Reporter): Promise<RunSituation> {
  const params = [by.workspaceId, by.runId, by.agentId];
  const situation = await firstRow(database.tenant(by.workspaceId), runSituation, params);
  if (!situation) throw new DroverError('run_not_found');
  return situation;
}

/**
 * A run becomes STALE for missed heartbeats alone. Its agent may well be alive, and repeat its
 * report.
 */
export function hasBegun(state: RunState): boolean {
  return state === 'WORKING' || state === 'STALE';
}

export function staleRun(situation: RunSituation): DroverError {
  const { run_state: state, task_status: status } = situation;
  return new DroverError('stale_run', {
    detail: `The run is ${state} and its task ${status}.${whyStale(situation)}`,
    members: {
      current: situation.task_status,
      runState: situation.run_state,
      endReason: situation.end_reason,
    },
  });
}

/** A run that is still to be ended has its reason already: see RunSituation. */
function whyStale({ run_state: state, end_reason: reason }: RunSituation): string {
  if (reason === null) return '';
  if (!LIVE_RUN_STATES.includes(state)) return ` It ended: ${reason}.`;
  return reason === 'timeout' ? ' Its time is over.' : ' Its workspace is archived.';
}

function illegalTransition(current: TaskStatus, to: TaskStatus): DroverError {
  const isPaused = current === 'PAUSED' && to === 'RUNNING';
  const detail = isPaused
    ? 'The task is PAUSED. The run can start when the task is resumed.'
    : `The task is ${current}, and can't become ${to} from there.`;
  const members = { current, requested: to, legal: legalTaskTransitions(current) };
  return new DroverError('illegal_transition', { detail, members });
}
