import type { ChangeState, Step } from '../domain/change-state.js';
import type { ReviewView } from '../domain/review.js';
import type { CostRow } from '../store/cost.sql.js';
import type { ShownChange } from '../store/changes.sql.js';

/** The work of a host that is due. ChangeStepDto describes its fields. */
export interface ChangeStepView {
  kind: Step;
  agentId: string | null;
  attempts: number;
}

/** The pull request of a change. PullRequestDto describes its fields. */
export interface PullRequestView {
  number: number;
  url: string;
}

/** A change in the API. ChangeDto describes its fields. */
export interface ChangeView {
  id: string;
  title: string;
  repositoryId: string;
  repositoryName: string;
  agentKind: string | null;
  state: ChangeState;
  version: number;
  revision: number;
  target: string;
  branch: string | null;
  baseCommit: string | null;
  headCommit: string | null;
  mergedCommit: string | null;
  filesChanged: number | null;
  insertions: number | null;
  deletions: number | null;
  summary: string | null;
  runId: string | null;
  approvedBy: string | null;
  reviewTaskId: string | null;
  obstacle: string | null;
  pullRequest: PullRequestView | null;
  step: ChangeStepView | null;
  createdAt: string;
  submittedAt: string | null;
  reviewDueAt: string | null;
  approvedAt: string | null;
  mergedAt: string | null;
  closedAt: string | null;
  attemptsId: string | null;
}

/** What a change has used. ChangeCostDto describes its fields. */
export interface ChangeCost {
  runs: number;
  tokens: string;
  costUsd: string;
  workSeconds: number;
  reviewSeconds: number;
  reviewRounds: number;
}

export interface WholeChange extends ChangeView {
  reviews: ReviewView[];
  cost: ChangeCost;
}

export function toChangeView(row: ShownChange): ChangeView {
  const { step, step_agent_id: agentId, step_attempts: attempts } = row;
  const time = (at: Date | null) => at?.toISOString() ?? null;
  return {
    id: row.task_id,
    title: row.title,
    repositoryId: row.repository_id,
    repositoryName: row.repository_name,
    agentKind: row.agent_kind,
    state: row.state,
    version: row.version,
    revision: row.revision,
    target: row.target,
    branch: row.branch,
    baseCommit: row.base_commit,
    headCommit: row.head_commit,
    mergedCommit: row.merged_commit,
    filesChanged: row.files_changed,
    insertions: row.insertions,
    deletions: row.deletions,
    summary: row.summary,
    runId: row.run_id,
    approvedBy: row.approved_by,
    reviewTaskId: row.review_task_id,
    obstacle: row.obstacle,
    pullRequest:
      row.pull_request === null || row.pull_request_url === null
        ? null
        : { number: row.pull_request, url: row.pull_request_url },
    step: step === null ? null : { kind: step, agentId, attempts },
    createdAt: row.created_at.toISOString(),
    submittedAt: time(row.submitted_at),
    reviewDueAt: time(row.review_due_at),
    approvedAt: time(row.approved_at),
    mergedAt: time(row.merged_at),
    closedAt: time(row.closed_at),
    attemptsId: row.attempts_id,
  };
}

export function toCost(row: CostRow): ChangeCost {
  return {
    runs: row.runs,
    tokens: row.tokens,
    costUsd: row.cost_usd,
    workSeconds: row.work_seconds,
    reviewSeconds: row.review_seconds,
    reviewRounds: row.review_rounds,
  };
}
