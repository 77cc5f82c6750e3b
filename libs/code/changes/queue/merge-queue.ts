import { Injectable } from '@nestjs/common';
import { Database } from '#lib/database';
import type { Caller } from '#lib/kernel';
import { Repositories } from '#lib/repositories';
import { mergeQueue, type QueuedRow } from './merge-queue.sql.js';

export const QUEUE_STATUSES = ['merging', 'queued', 'blocked', 'stopped'] as const;
export type QueueStatus = (typeof QUEUE_STATUSES)[number];

/** An approved change. QueuedChangeDto describes its fields. */
export interface QueuedChange {
  id: string;
  title: string;
  position: number;
  status: QueueStatus;
  approvedBy: string | null;
  approvedAt: string;
  obstacle: string | null;
  agentId: string | null;
  agentName: string | null;
  attempts: number;
  dueAt: string | null;
  expectedAt: string | null;
}

/** The queue of a branch. MergeQueueDto describes its fields. */
export interface BranchQueue {
  repositoryId: string;
  repositoryName: string;
  target: string;
  secondsPerMerge: number | null;
  changes: QueuedChange[];
}

export interface MergeQueues {
  items: BranchQueue[];
  more: boolean;
}

const MAX_CHANGES = 500;

/** Approved changes of each branch, in the order of their merges. */
@Injectable()
export class MergeQueue {
  constructor(
    private readonly database: Database,
    private readonly repositories: Repositories,
  ) {}

  /** @throws DroverError `repository_not_found` */
  async read({ workspaceId }: Caller, repositoryId?: string): Promise<MergeQueues> {
    if (repositoryId !== undefined) await this.repositories.get({ workspaceId }, repositoryId);
    const params = [workspaceId, repositoryId ?? null, MAX_CHANGES + 1];
    const rows = await this.database.tenant(workspaceId).rows(mergeQueue, params);
    const shown = rows.slice(0, MAX_CHANGES);
    const branches = new Map<string, QueuedRow[]>();
    for (const row of shown) {
      const branch = `${row.repository_id} ${row.target}`;
      branches.set(branch, [...(branches.get(branch) ?? []), row]);
    }
    return { items: [...branches.values()].map(toQueue), more: rows.length > MAX_CHANGES };
  }
}

function toQueue(rows: QueuedRow[]): BranchQueue {
  const [first] = rows as [QueuedRow];
  const { repository_id, repository_name, target, seconds_per_merge: seconds } = first;
  return {
    repositoryId: repository_id,
    repositoryName: repository_name,
    target,
    secondsPerMerge: seconds === null ? null : Math.round(seconds),
    changes: rows.map(toQueuedChange),
  };
}

function toQueuedChange(row: QueuedRow): QueuedChange {
  return {
    id: row.task_id,
    title: row.title,
    position: row.position,
    status: statusOf(row),
    approvedBy: row.approved_by,
    approvedAt: row.approved_at.toISOString(),
    obstacle: row.obstacle,
    agentId: row.agent_id,
    agentName: row.agent_name,
    attempts: row.step_attempts,
    dueAt: row.due_at?.toISOString() ?? null,
    expectedAt: row.expected_at?.toISOString() ?? null,
  };
}

function statusOf({ agent_id: agentId, due_at: dueAt, is_due: isDue }: QueuedRow): QueueStatus {
  if (agentId !== null) return 'merging';
  if (dueAt === null) return 'stopped';
  return isDue ? 'queued' : 'blocked';
}
