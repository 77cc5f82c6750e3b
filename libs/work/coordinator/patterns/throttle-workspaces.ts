import { Injectable } from '@nestjs/common';
import { type Finding, NOTHING, type SweepResult, together } from '#lib/transitions';
import {
  type ChangedThrottle,
  hasOutdatedThrottles,
  outdatedThrottles,
  Throttles,
  writeThrottles,
} from '#lib/budgets';
import { WakeUps } from '#lib/valkey';
import type { Pass } from '../cycle/pass.js';
import type { Reconciler, ReconcilerFacts } from '../cycle/reconciler.js';
import { dueAtOnceIf } from './due.sql.js';

/**
 * Lowers the concurrent runs of workspaces and projects whose budgets would be exhausted before the
 * end of their periods. Lifts the limit when the budgets last again. Only the search for budgets
 * that would not last is slow: a limit whose budget was changed is computed again at once.
 */
@Injectable()
export class ThrottleWorkspaces implements Reconciler {
  static readonly facts = {
    name: 'throttle_workspaces',
    counter: 'throttlesChanged',
    moves: 'limits of concurrent runs, while budgets would not last',
    due: dueAtOnceIf(hasOutdatedThrottles),
    slow: 'partly',
    whole: true,
  } as const satisfies ReconcilerFacts;

  constructor(
    private readonly throttles: Throttles,
    private readonly wakeUps: WakeUps,
  ) {}

  async sweep(pass: Pass): Promise<SweepResult> {
    const { workspaceId, thorough } = pass.scope;
    if (thorough) return this.compute(pass, workspaceId);
    let all = NOTHING;
    for (const outdated of await pass.find(outdatedThrottles)) {
      all = together(all, await this.compute(pass, outdated.workspace_id));
    }
    return all;
  }

  /** @param workspaceId null means all workspaces */
  private async compute(pass: Pass, workspaceId: string | null): Promise<SweepResult> {
    const wanted = JSON.stringify(await this.throttles.wanted(workspaceId));
    const changed = await pass.transaction((tx) => tx.rows(writeThrottles, [workspaceId, wanted]));
    for (const id of new Set(changed.filter(isLooser).map((row) => row.workspace_id))) {
      this.wakeUps.manyClaims(id);
    }
    return { ...pass.countMoved(changed), more: false, findings: changed.map(toFinding) };
  }
}

function isLooser({ max_runs, before }: ChangedThrottle): boolean {
  return max_runs === null || (before !== null && max_runs > before);
}

function toFinding(changed: ChangedThrottle): Finding {
  const { workspace_id: workspaceId, project_id: projectId, budget_id: budgetId } = changed;
  const { max_runs: maxRuns, before } = changed;
  const message =
    maxRuns === null
      ? 'A budget lasts again: its runs are limited no more'
      : 'A budget would not last: fewer runs may go on at once';
  const details = { projectId, budgetId, maxRuns, before };
  return { workspaceId, level: 'WARN', event: 'throttle_changed', message, details };
}
