import { Injectable } from '@nestjs/common';
import type { SweepResult } from '#lib/transitions';
import { LostRuns } from '../recovery/lost-runs.js';
import { lostRuns } from './lost-runs.sql.js';
import type { Pass } from '../cycle/pass.js';
import type { Reconciler, ReconcilerFacts } from '../cycle/reconciler.js';

/**
 * Live runs of archived workspaces. Indexes: workspaces (a scan of few rows),
 * task_runs_live_agent_idx.
 */
const lockRunsOfArchivedWorkspaces = lostRuns(
  'lock_runs_of_archived_workspaces',
  'JOIN workspaces w ON w.id = r.workspace_id',
  'w.archived_at IS NOT NULL',
  'r.workspace_id, r.task_id',
);

/**
 * Ends the live rows of archived workspaces: the runs, the intents to spawn, and with the runs
 * their sessions. Agents and gateways are told to stop them. The tasks lose no attempt.
 */
@Injectable()
export class CloseWorkspaces implements Reconciler {
  static readonly facts = {
    name: 'close_workspaces',
    counter: 'archivedRunsEnded',
    moves: 'live runs of archived workspaces: ended',
  } as const satisfies ReconcilerFacts;

  constructor(private readonly runs: LostRuns) {}

  sweep(pass: Pass): Promise<SweepResult> {
    return this.runs.release(pass, lockRunsOfArchivedWorkspaces, 'workspace_archived');
  }
}
