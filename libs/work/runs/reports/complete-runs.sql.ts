import { hotCommand } from '#lib/database';
import {
  asFew,
  isOverdue,
  journaled,
  runMayGo,
  runTransition,
  taskTransition,
  isInUse,
} from '#lib/transitions';

/** A holder's completion of one run. */
export interface CompletionReport {
  run_id: string;
  agent_id: string;
  actor_kind: string;
  actor_id: string | null;
  /** A JSON value. null leaves the task without a result. */
  output_result: unknown;
  summary: string | null;
}

export interface CompletedRow {
  run_id: string;
  agent_id: string;
  task_id: string;
  version: number;
  dependents_unsettled: boolean;
}

/** The completed runs. */
const SOME =
  'SELECT run_id, agent_id, id AS task_id, version, dependents_unsettled FROM task_moved';

/** The same if all runs were completed. Otherwise nothing changes. */
const ALL = `SELECT m.run_id, m.agent_id, m.id AS task_id, m.version, m.dependents_unsettled
FROM (SELECT CASE WHEN (SELECT count(*) FROM task_moved) = (SELECT count(*) FROM report) THEN true
  ELSE run_not_completed() END AS complete) c
LEFT JOIN task_moved m ON c.complete`;

/**
 * Completes runs and their tasks: both become COMPLETED. A run is left out if it is not the live
 * one of its task, belongs to another agent, is overdue, or ends with the submission of a change. The
 * token of a run completes no task with acceptance commands: its host does. The tasks are locked in
 * the order of their ids. A run needs no lock: it changes only under its task's lock.
 *
 * For all reports of a workspace that arrive together, each run at most once. Indexes: primary
 * keys. $1 workspace, $2 JSON array of CompletionReport.
 */
export const completeRuns = hotCommand<CompletedRow>('complete_runs', completionOf(SOME));

/** The same, or an error if a run is left out. For a transaction that then claims. */
export const completeAllRuns = hotCommand<CompletedRow>('complete_all_runs', completionOf(ALL));

function completionOf(returned: string): string {
  return `
WITH report AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($2::jsonb) AS c (run_id uuid, agent_id uuid, actor_kind text,
    actor_id text, output_result jsonb, summary text)
  WHERE ${asFew('c.run_id')}
),
held AS MATERIALIZED (
  SELECT r.task_id, r.id AS run_id, c.actor_kind, c.actor_id, c.output_result, c.summary
  FROM report c
  JOIN task_runs r ON r.workspace_id = $1 AND r.id = c.run_id AND r.agent_id = c.agent_id
  WHERE ${runMayGo('r.state', 'COMPLETED')} AND ${isInUse('$1')} AND ${isOverdue('r')} IS NOT TRUE
  ORDER BY r.task_id
),
${taskTransition(
  'COMPLETED',
  'held',
  {
    workspace_id: '$1',
    task_id: 'm.task_id',
    actor_kind: 'm.actor_kind',
    actor_id: 'm.actor_id',
    output_result: 'm.output_result',
    summary: 'm.summary',
  },
  {
    where: `t.run_id = m.run_id AND t.repository_id IS NULL
      AND (t.acceptance_script IS NULL OR m.actor_kind = 'agent')`,
  },
)},
${runTransition('COMPLETED', 'task_moved', {
  workspace_id: '$1',
  run_id: 'm.run_id',
  end_reason: `'completed'`,
  ended_by: `'agent'`,
})},
${journaled('both')}
${returned}`;
}
