import { type Database, firstRow } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { legalTaskTransitions, type RunState, type TaskStatus } from '#lib/transitions';
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
  const ended = situation.end_reason ? ` It ended: ${situation.end_reason}.` : '';
  return new DroverError('stale_run', {
    detail: `The run is ${situation.run_state} and its task ${situation.task_status}.${ended}`,
    members: {
      current: situation.task_status,
      runState: situation.run_state,
      endReason: situation.end_reason,
    },
  });
}

function illegalTransition(current: TaskStatus, to: TaskStatus): DroverError {
  return new DroverError('illegal_transition', {
    detail: `The task is ${current}, and can't become ${to} from there.`,
    members: { current, requested: to, legal: legalTaskTransitions(current) },
  });
}
