import { Injectable } from '@nestjs/common';
import { Database, firstRow, type SqlRunner } from '#lib/database';
import {
  type Caller,
  DroverError,
  idOfCursor,
  type MemberRole,
  type Page,
  toPage,
} from '#lib/kernel';
import { Memberships } from '../access/memberships.js';
import { type Actor, decideAdd, decideChange, decideRemove } from '../domain/member-rules.js';
import { endInvitationOfMember } from '../store/invitations.sql.js';
import { findUserToAdd, lockOwnersAndMember } from './members.sql.js';
import { revokeTokensIssuedBy } from '../tokens/issued-tokens.js';
import { Revocations } from '../tokens/revocations.js';
import { actorOf, enforce } from './actor.js';
import { losesHooks, type MemberHook, MemberHooks } from './member-hooks.js';
import { MEMBER_FIELDS, type MemberView, toMemberView } from './workspace-view.js';

/** True: the hooks of a member who loses the right to them stay enabled. Default: false. */
interface HookChoice {
  keepHooks?: boolean;
}

/** The members of a workspace with their roles. */
@Injectable()
export class MembersService {
  constructor(
    private readonly database: Database,
    private readonly revocations: Revocations,
    private readonly hooks: MemberHooks,
    private readonly memberships: Memberships,
  ) {}

  async list(
    { workspaceId }: Caller,
    page: { limit: number; cursor?: string },
  ): Promise<Page<MemberView>> {
    const where = { workspaceId, userId: { gt: idOfCursor(page.cursor) ?? undefined } };
    const order = { orderBy: { userId: 'asc' }, take: page.limit + 1 } as const;
    const rows = await this.database
      .tenant(workspaceId)
      .prisma((tx) => tx.workspaceMember.findMany({ where, ...order, select: MEMBER_FIELDS }));
    return toPage(rows, page.limit, (row) => [row.userId], toMemberView);
  }

  /**
   * Adds a user without an invitation, which only operators can do.
   *
   * @throws DroverError `forbidden`, `user_not_found` or `already_member`
   */
  async add(caller: Caller, id: string, role: MemberRole): Promise<MemberView> {
    const { workspaceId } = caller;
    const actor = actorOf(caller);
    enforce(decideAdd(actor, role));
    const userId = await this.findUser(actor, workspaceId, id);
    const data = { workspaceId, userId, role };
    await this.database.tenant(workspaceId).prisma(async (tx, sql) => {
      const { count } = await tx.workspaceMember.createMany({ data, skipDuplicates: true });
      if (count === 0) throw new DroverError('already_member');
      await sql.rows(endInvitationOfMember, [workspaceId, userId]);
      // Servers also cache for seconds that a user is no member.
      await this.revocations.revoke(sql, [{ kind: 'user', userId }]);
    });
    await this.revocations.announce();
    return this.read(workspaceId, userId);
  }

  /**
   * @returns the hooks of the member too, if the new role cannot manage hooks
   * @throws DroverError `member_not_found`, `version_mismatch`, `forbidden` or `last_owner`
   */
  async changeRole(
    caller: Caller,
    userId: string,
    { role, version, keepHooks }: { role: MemberRole; version?: number } & HookChoice,
  ): Promise<MemberView & { hooks: MemberHook[] }> {
    const { workspaceId } = caller;
    const hooks = await this.database.tenant(workspaceId).prisma(async (tx, sql) => {
      const { target, owners } = await lockMember(sql, workspaceId, userId);
      if (version !== undefined && version !== target.version) {
        throw new DroverError('version_mismatch');
      }
      enforce(decideChange(actorOf(caller), target, role, owners));
      const data = { role, version: { increment: 1 }, updatedAt: new Date() };
      await tx.workspaceMember.updateMany({ where: { workspaceId, userId }, data });
      await this.revocations.revoke(sql, [{ kind: 'user', userId }]);
      if (!losesHooks(target.role, role)) return [];
      return this.hooks.handOver(sql, { workspaceId, userId, keep: keepHooks ?? false });
    });
    await this.revocations.announce();
    return { ...(await this.read(workspaceId, userId)), hooks };
  }

  /**
   * Revokes the agent tokens that the member issued, and ends an open invitation of the member, who
   * could otherwise return with it.
   *
   * @returns the hooks that the member created, which are disabled unless they are kept
   * @throws DroverError `member_not_found`, `forbidden` or `last_owner`
   */
  async remove(
    caller: Caller,
    userId: string,
    { keepHooks = false }: HookChoice = {},
  ): Promise<{ userId: string; hooks: MemberHook[] }> {
    const { workspaceId } = caller;
    const hooks = await this.database.tenant(workspaceId).prisma(async (tx, sql) => {
      const { target, owners } = await lockMember(sql, workspaceId, userId);
      enforce(decideRemove(actorOf(caller), target, owners));
      const { revocations } = this;
      await revokeTokensIssuedBy(userId, workspaceId, { runner: sql, revocations });
      await sql.rows(endInvitationOfMember, [workspaceId, userId]);
      await tx.workspaceMember.deleteMany({ where: { workspaceId, userId } });
      await this.revocations.revoke(sql, [{ kind: 'user', userId }]);
      return this.hooks.handOver(sql, { workspaceId, userId, keep: keepHooks });
    });
    await this.revocations.announce();
    return { userId, hooks };
  }

  private async read(workspaceId: string, userId: string): Promise<MemberView> {
    const where = { workspaceId_userId: { workspaceId, userId } };
    const row = await this.database
      .tenant(workspaceId)
      .prisma((tx) => tx.workspaceMember.findUnique({ where, select: MEMBER_FIELDS }));
    if (row === null) throw new DroverError('member_not_found');
    return toMemberView(row);
  }

  private async findUser(asker: Actor, workspaceId: string, id: string): Promise<string> {
    // An API key has no user.
    const isOperator = asker.userId !== '' && (await this.memberships.isOperator(asker.userId));
    const parameters = [id, workspaceId, isOperator ?? false];
    const user = await firstRow(this.database.service, findUserToAdd, parameters);
    if (user !== undefined) return user.id;
    const detail =
      'Only operators of this installation add users unasked: invite an e-mail address.';
    throw new DroverError('user_not_found', { detail });
  }
}

async function lockMember(sql: SqlRunner, workspaceId: string, userId: string) {
  const rows = await sql.rows(lockOwnersAndMember, [workspaceId, userId]);
  const row = rows.find((candidate) => candidate.user_id === userId);
  if (row === undefined) throw new DroverError('member_not_found');
  const owners = rows.filter(({ role }) => role === 'OWNER').length;
  return { target: { userId, role: row.role, version: row.version }, owners };
}
