import type { Transaction } from '#lib/database';
import { isApproved } from '../domain/change-decisions.js';
import type { LockedChange } from '../store/changes.sql.js';
import { approvalsOfChange } from '../store/reviews.sql.js';
import { askReviewerAgain } from './agent-reviews.sql.js';

/**
 * Takes a person's approval, under the lock of the task. If an agent has to approve the change, too,
 * and gave no verdict, the server asks the agent again.
 *
 * @returns false if the agent still has to approve the change
 */
export async function takeApproval(
  tx: Transaction,
  workspaceId: string,
  { task_id: changeId, revision, review }: LockedChange,
): Promise<boolean> {
  const approvals = await tx.rows(approvalsOfChange, [workspaceId, changeId, revision]);
  const agent = approvals.some(({ author }) => author.startsWith('agent:'));
  if (isApproved(review, { agent, person: true })) return true;
  await tx.rows(askReviewerAgain, [workspaceId, changeId]);
  return false;
}
