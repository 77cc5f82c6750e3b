import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { growingTo } from '#lib/kernel';

const REMEMBERED = 100_000;

/**
 * Workspaces in which something may hold tasks back, as far as this server has seen: a pause, a
 * throttle, a provider limit or a budget. The claims of others ask for none of these.
 */
@Injectable()
export class HeldWorkspaces {
  private readonly known = new LRUCache<string, true>(growingTo(REMEMBERED));

  has(workspaceId: string): boolean {
    return this.known.has(workspaceId);
  }

  /** Notes the result of a claim. */
  note(workspaceId: string, isHeld: boolean): void {
    if (isHeld) this.known.set(workspaceId, true);
    else this.known.delete(workspaceId);
  }
}
