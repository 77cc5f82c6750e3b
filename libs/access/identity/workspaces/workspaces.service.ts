import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow } from '#lib/database';
import {
  type Caller,
  DroverError,
  idOfCursor,
  type MemberRole,
  type Network,
  newId,
  type Page,
  toPage,
} from '#lib/kernel';
import { toSlug } from '../domain/slug.js';
import type { Account } from '../access/decorators.js';
import { lockAccount } from '../store/lock-account.sql.js';
import { archiveWorkspace } from './workspaces.sql.js';
import { Memberships } from '../access/memberships.js';
import { Revocations } from '../tokens/revocations.js';
import { WORKSPACE_FIELDS, type WorkspaceView } from './workspace-view.js';

/** Tenants. */
@Injectable()
export class WorkspacesService {
  constructor(
    private readonly database: Database,
    private readonly memberships: Memberships,
    private readonly revocations: Revocations,
    @Inject(CONFIG) private readonly config: Pick<Config, 'identity'>,
  ) {}

  /**
   * Its creator becomes its OWNER.
   *
   * @param workspace.slug derived from the name if absent
   * @throws DroverError `slug_taken`, `workspace_limit`
   */
  async create(
    { userId, isOperator }: Pick<Account, 'userId' | 'isOperator'>,
    workspace: { name: string; slug?: string },
  ): Promise<WorkspaceView> {
    const id = newId();
    const slug = workspace.slug ?? toSlug(workspace.name, id);
    const data = { id, name: workspace.name, slug, createdBy: userId };
    if (!isOperator) this.refuseReserved(slug);
    const limit = isOperator ? Infinity : this.config.identity.maxWorkspacesPerUser;
    const row = await this.database.service.prisma(async (tx, sql) => {
      await sql.rows(lockAccount, [userId]);
      const count = await tx.workspace.count({ where: { createdBy: userId } });
      if (count >= limit) throw new DroverError('workspace_limit', { members: { limit } });
      const options = { data, skipDuplicates: true, select: WORKSPACE_FIELDS };
      const [made] = await tx.workspace.createManyAndReturn(options);
      if (made === undefined) throw new DroverError('slug_taken');
      await tx.workspaceMember.create({ data: { workspaceId: id, userId, role: 'OWNER' } });
      return made;
    });
    this.memberships.forgetUser(userId);
    return row;
  }

  // All users of the group become members of the workspace with this slug.
  private refuseReserved(slug: string): void {
    const rules = this.config.identity.singleSignOn?.groupRoles ?? [];
    if (!rules.some(({ workspace }) => workspace === slug)) return;
    const detail = 'OIDC_GROUP_ROLES names this slug, so only operators can create the workspace.';
    throw new DroverError('slug_taken', { detail });
  }

  async listOwn(
    userId: string,
    { limit, cursor }: { limit: number; cursor?: string },
  ): Promise<Page<WorkspaceView & { role: MemberRole }>> {
    const rows = await this.database.service.prisma((tx) =>
      tx.workspaceMember.findMany({
        where: {
          userId,
          workspaceId: { gt: idOfCursor(cursor) ?? undefined },
          workspace: { archivedAt: null },
        },
        orderBy: { workspaceId: 'asc' },
        take: limit + 1,
        select: { role: true, workspace: { select: WORKSPACE_FIELDS } },
      }),
    );
    return toPage(
      rows,
      limit,
      ({ workspace }) => [workspace.id],
      ({ workspace, role }) => ({ ...workspace, role: role as MemberRole }),
    );
  }

  async get({ workspaceId: id }: Caller): Promise<WorkspaceView> {
    const row = await this.database
      .tenant(id)
      .prisma((tx) => tx.workspace.findUnique({ where: { id }, select: WORKSPACE_FIELDS }));
    if (row === null) throw new DroverError('workspace_not_found');
    return row;
  }

  /** @throws DroverError `version_mismatch` */
  async change(
    { workspaceId: id }: Caller,
    change: {
      name?: string;
      allowRunCommands?: boolean;
      network?: Network;
      allowedHosts?: string[];
      allowedModels?: string[];
    },
    version?: number,
  ): Promise<WorkspaceView> {
    const data = { ...change, version: { increment: 1 }, updatedAt: new Date() };
    const [row] = await this.database.tenant(id).prisma((tx) =>
      tx.workspace.updateManyAndReturn({
        where: { id, version },
        data,
        select: WORKSPACE_FIELDS,
      }),
    );
    // The guard has seen the workspace, so only its version can differ.
    if (row === undefined) throw new DroverError('version_mismatch');
    return row;
  }

  /**
   * Closes a workspace for good. Nobody can enter it, and all tokens of its agents and runs are
   * revoked. The coordinator ends live runs after the revocation. Its rows stay.
   *
   * @throws DroverError `version_mismatch`
   */
  async archive(caller: Caller, version?: number): Promise<WorkspaceView> {
    const { workspaceId } = caller;
    await this.database.tenant(workspaceId).transaction(async (tx) => {
      const archived = await firstRow(tx, archiveWorkspace, [workspaceId, version ?? null]);
      if (archived === undefined) throw new DroverError('version_mismatch');
      await this.revocations.revoke(tx, [{ kind: 'workspace', workspaceId }]);
    });
    await this.revocations.announce();
    return this.get(caller);
  }
}
