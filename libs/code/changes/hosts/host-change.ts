import { cut } from '#lib/kernel';
import type { RepositoryAccess } from '#lib/repositories/domain';
import type { ChangeState, Step } from '../domain/change-state.js';
import type { PullRequestWork } from '../domain/pull-request-words.js';
import { withoutReferences } from '../domain/references.js';
import type { ReviewView } from '../domain/review.js';
import type { ChangeRow } from '../store/changes.sql.js';

/** A change, as hosts see it. HostChangeDto describes its fields. */
export interface HostChange {
  id: string;
  repositoryId: string;
  state: ChangeState;
  version: number;
  revision: number;
  target: string;
  branch: string | null;
  baseCommit: string | null;
  headCommit: string | null;
  mergedCommit: string | null;
  landingCommits: string[];
  approvedAt: Date | null;
}

/** The repository of a run with its change, and what the run must mend. */
export interface RunRepository {
  repository: RepositoryAccess;
  change: HostChange & { feedback: ReviewView[]; pullRequestUrl: string | null };
}

/** The change that lands on the same branch after another one. */
export interface NextChange {
  changeId: string;
  headCommit: string;
}

export function toNextChange(row: { task_id: string; head_commit: string }): NextChange {
  return { changeId: row.task_id, headCommit: row.head_commit };
}

/** A step with everything that a host needs for it. */
export interface StepWork {
  step: { changeId: string; kind: Step; generation: number; until: Date };
  change: HostChange;
  repository: RepositoryAccess;
  /** Of the task. */
  title: string;
  /** Of the commit on the target. */
  message: string;
  /** The change that lands on the same branch after this one. A host can prove it in advance. */
  next: NextChange | null;
  /** Null: its repository has no forge. */
  pullRequest: PullRequestWork | null;
}

export function toHostChange(row: ChangeRow): HostChange {
  return {
    id: row.task_id,
    repositoryId: row.repository_id,
    state: row.state,
    version: row.version,
    revision: row.revision,
    target: row.target,
    branch: row.branch,
    baseCommit: row.base_commit,
    headCommit: row.head_commit,
    mergedCommit: row.merged_commit,
    approvedAt: row.approved_at,
    landingCommits:
      row.state === 'CLOSED'
        ? [...row.earlier_landings, ...row.landing_commits]
        : row.landing_commits,
  };
}

const MAX_SUBJECT = 100;

/** The message of the commit on the target, with the trailers that name task and run. */
export function commitMessage(
  { title, summary }: { title: string; summary: string | null },
  { task_id: task, run_id: run }: Pick<ChangeRow, 'task_id' | 'run_id'>,
): string {
  const line = cut(title.replaceAll(/\s+/g, ' ').trim(), MAX_SUBJECT);
  const trailers = [`Drover-Task: ${task}`, ...(run === null ? [] : [`Drover-Run: ${run}`])];
  return (
    [withoutReferences(line), withoutReferences(summary?.trim() ?? ''), trailers.join('\n')]
      .filter(Boolean)
      .join('\n\n') + '\n'
  );
}
