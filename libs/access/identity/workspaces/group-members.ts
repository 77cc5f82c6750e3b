import { Injectable } from '@nestjs/common';
import { Database, describeChange } from '#lib/database';
import { Logger } from '#lib/observability';
import type { RoleOfGroup } from '../domain/group-roles.js';
import { revokeTokensIssuedBy } from '../tokens/issued-tokens.js';
import { Revocations } from '../tokens/revocations.js';
import { endInvitationOfMember } from '../store/invitations.sql.js';
import { losesHooks, MemberHooks } from './member-hooks.js';
import { lockOwnersAndMember } from './members.sql.js';

/** Memberships that follow the groups of the identity provider. */
@Injectable()
export class GroupMembers {
  constructor(
    private readonly database: Database,
    private readonly revocations: Revocations,
    private readonly hooks: MemberHooks,
    private readonly logger: Logger,
  ) {}

  /**
   * Gives a user these roles in workspaces, by their slugs. Undefined ends the membership. The last
   * OWNER of a workspace stays its OWNER.
   */
  async follow(userId: string, roles: ReadonlyMap<string, RoleOfGroup | undefined>): Promise<void> {
    if (roles.size === 0) return;
    const workspaces = await this.database.service.prisma((tx) =>
      tx.workspace.findMany({
        where: { slug: { in: [...roles.keys()] }, archivedAt: null },
        select: { id: true, slug: true },
      }),
    );
    let changed = false;
    for (const { id, slug } of workspaces) {
      changed = (await this.move(id, userId, roles.get(slug))) || changed;
    }
    if (changed) await this.revocations.announce();
  }

  private async move(
    workspaceId: string,
    userId: string,
    given: RoleOfGroup | undefined,
  ): Promise<boolean> {
    const { role, group = null } = given ?? {};
    const moved = await this.database.tenant(workspaceId).prisma(async (tx, sql) => {
      const rows = await sql.rows(lockOwnersAndMember, [workspaceId, userId]);
      const current = rows.find(({ user_id: id }) => id === userId)?.role;
      if (current === role) return undefined;
      if (current === 'OWNER' && rows.filter((row) => row.role === 'OWNER').length === 1) {
        this.logger.warn('the last owner stays owner without the group', { workspaceId, userId });
        return undefined;
      }
      const where = { workspaceId, userId };
      if (role === undefined) {
        await revokeTokensIssuedBy(userId, workspaceId, {
          runner: sql,
          revocations: this.revocations,
        });
        // The tenant sees the address of a member only.
        await sql.rows(endInvitationOfMember, [workspaceId, userId]);
        await tx.workspaceMember.deleteMany({ where });
      } else if (current === undefined) {
        await tx.workspaceMember.createMany({ data: { ...where, role }, skipDuplicates: true });
      } else {
        const data = { role, version: { increment: 1 }, updatedAt: new Date() };
        await tx.workspaceMember.updateMany({ where, data });
      }
      await sql.rows(endInvitationOfMember, [workspaceId, userId]);
      await this.revocations.revoke(sql, [{ kind: 'user', userId }]);
      if (current !== undefined && (role === undefined || losesHooks(current, role))) {
        await this.hooks.handOver(sql, { workspaceId, userId, keep: false });
      }
      const change = { roleBefore: current ?? null, role: role ?? null, group };
      await describeChange(sql, { workspaceId, userId, details: change });
      return change;
    });
    if (moved === undefined) return false;
    this.logger.info('role follows the groups', { workspaceId, userId, ...moved });
    return true;
  }
}
