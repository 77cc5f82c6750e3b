import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';

const REMEMBERED = 100_000;

/** The workspaces of which this server has seen that they have, or had, a budget. Others do not pay for budgets. */
@Injectable()
export class BudgetedWorkspaces {
  private readonly known = new LRUCache<string, true>({ max: REMEMBERED });

  has(workspaceId: string): boolean {
    return this.known.has(workspaceId);
  }

  add(workspaceId: string): void {
    this.known.set(workspaceId, true);
  }
}
