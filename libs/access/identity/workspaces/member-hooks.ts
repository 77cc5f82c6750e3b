import { Injectable } from '@nestjs/common';
import type { SqlRunner } from '#lib/database';
import { type Caller, DroverError, type MemberRole } from '#lib/kernel';
import { isAtLeast } from '../domain/roles.js';
import { lockEnabledMember, lockMembershipsOf } from './lock-member.js';

/** The role that creates webhooks and inbound hooks. */
const HOOK_ROLE = 'ADMIN';

export interface MemberHook {
  kind: 'webhook' | 'inbound_hook';
  id: string;
  description: string | null;
  enabled: boolean;
}

/** A hook of a user in one of several workspaces. Only members see its description. */
export type UserHook = Omit<MemberHook, 'description'> & { workspaceId: string };

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
    // In each process the same order, because they lock.
    this.owners.sort((one, other) => other.kind.localeCompare(one.kind));
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

  /**
   * The same in all workspaces of a user.
   *
   * @param tx of the service role
   */
  async handOverAll(
    tx: SqlRunner,
    { userId, keep }: { userId: string; keep: boolean },
  ): Promise<UserHook[]> {
    const all: UserHook[] = [];
    for (const workspaceId of await lockMembershipsOf(tx, userId)) {
      const hooks = await this.handOver(tx, { workspaceId, userId, keep });
      all.push(...hooks.map(({ kind, id, enabled }) => ({ workspaceId, kind, id, enabled })));
    }
    return all;
  }
}

export function losesHooks(before: MemberRole, after: MemberRole): boolean {
  return !isAtLeast(after, before) && !isAtLeast(after, HOOK_ROLE);
}

/**
 * Locks the membership of a caller who creates or enables a hook. So a member who is removed or
 * disabled meanwhile leaves no enabled hook. Roles of the guard are up to three seconds old.
 *
 * @returns the user
 * @throws DroverError `forbidden` or `wrong_token_kind`
 */
export async function lockHookCreator(tx: SqlRunner, caller: Caller): Promise<string> {
  if (caller.kind !== 'user' && caller.kind !== 'api_key')
    throw new DroverError('wrong_token_kind');
  const role = await lockEnabledMember(tx, caller);
  if (role === undefined || !isAtLeast(role, HOOK_ROLE)) throw new DroverError('forbidden');
  return caller.userId;
}
