import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';

const REMEMBERED = 100_000;

/**
 * Workspaces that have, or had, a budget, as far as this server has seen. The claims of others do
 * not pay for budgets.
 */
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
