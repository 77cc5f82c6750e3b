import { Injectable } from '@nestjs/common';
import { firstRow, type SqlRunner } from '#lib/database';
import { type Caller, DroverError, type MemberRole } from '#lib/kernel';
import { isAtLeast } from '../domain/roles.js';
import { lockRole } from './members.sql.js';

/** The role that creates webhooks and inbound hooks. */
const HOOK_ROLE = 'ADMIN';

export interface MemberHook {
  kind: 'webhook' | 'inbound_hook';
  id: string;
  description: string | null;
  enabled: boolean;
}

/** A library with hooks of members. */
export interface HookOwner {
  kind: MemberHook['kind'];
  /** Locks and returns the enabled hooks that a member created. Disables them unless `keep`. */
  handOver(
    tx: SqlRunner,
    creator: { workspaceId: string; userId: string; keep: boolean },
  ): Promise<{ id: string; description: string | null }[]>;
}

/** Hooks act without their creator. They end with the rights of the creator. */
@Injectable()
export class MemberHooks {
  private readonly owners: HookOwner[] = [];

  add(owner: HookOwner): void {
    this.owners.push(owner);
  }

  /** @param tx has locked the member */
  async handOver(
    tx: SqlRunner,
    creator: { workspaceId: string; userId: string; keep: boolean },
  ): Promise<MemberHook[]> {
    const hooks: MemberHook[] = [];
    for (const owner of this.owners) {
      for (const hook of await owner.handOver(tx, creator)) {
        hooks.push({ kind: owner.kind, ...hook, enabled: creator.keep });
      }
    }
    return hooks;
  }
}

export function losesHooks(before: MemberRole, after: MemberRole): boolean {
  return !isAtLeast(after, before) && !isAtLeast(after, HOOK_ROLE);
}

/**
 * Locks the membership of a caller who creates or enables a hook. So a member who is removed
 * meanwhile leaves no enabled hook. Roles of the guard are up to three seconds old.
 *
 * @returns the user
 * @throws DroverError `forbidden` or `wrong_token_kind`
 */
export async function lockHookCreator(tx: SqlRunner, caller: Caller): Promise<string> {
  if (caller.kind !== 'user' && caller.kind !== 'api_key')
    throw new DroverError('wrong_token_kind');
  const member = await firstRow(tx, lockRole, [caller.workspaceId, caller.userId]);
  if (!member || !isAtLeast(member.role, HOOK_ROLE)) throw new DroverError('forbidden');
  return caller.userId;
}
