import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow } from '#lib/database';
import { type Caller, DroverError, type MemberRole, newId, type Page, toPage } from '#lib/kernel';
import { idAfter } from '../domain/id-cursor.js';
import { toSlug } from '../domain/slug.js';
import { revokeWorkspaceTokens } from '../store/revoke-workspace-tokens.sql.js';
import {
  findWorkspace,
  insertWorkspace,
  listOwnWorkspaces,
  updateWorkspace,
  type WorkspaceRow,
} from '../store/workspaces.sql.js';
import { Memberships } from '../access/memberships.js';
import { Revocations } from '../tokens/revocations.js';
import { toWorkspaceView, type WorkspaceView } from './workspace-view.js';

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
   * Its maker becomes its OWNER.
   *
   * @param workspace.slug made of the name when left out
   * @throws DroverError `slug_taken`
   */
  async create(userId: string, workspace: { name: string; slug?: string }): Promise<WorkspaceView> {
    const id = newId();
    const slug = workspace.slug ?? toSlug(workspace.name, id);
    const parameters = [id, workspace.name, slug, userId];
    const row = await firstRow(this.database.service, insertWorkspace, parameters);
    if (row === undefined) throw new DroverError('slug_taken');
    this.memberships.forgetUser(userId);
    return toWorkspaceView(row);
  }

  async listOwn(
    userId: string,
    page: { limit: number; cursor?: string },
  ): Promise<Page<WorkspaceView & { role: MemberRole }>> {
    const parameters = [userId, idAfter(page.cursor), page.limit + 1];
    const rows = await this.database.service.rows(listOwnWorkspaces, parameters);
    return toPage(
      rows,
      page.limit,
      (row) => [row.id],
      (row) => ({ ...toWorkspaceView(row), role: row.role }),
    );
  }

  async get({ workspaceId }: Caller): Promise<WorkspaceView> {
    const row = await firstRow(this.database.tenant(workspaceId), findWorkspace, [workspaceId]);
    return toWorkspaceView(found(row));
  }

  /** @throws DroverError `version_mismatch` */
  async rename({ workspaceId }: Caller, name: string, version?: number): Promise<WorkspaceView> {
    const parameters = [workspaceId, version ?? null, name, false];
    const row = await firstRow(this.database.tenant(workspaceId), updateWorkspace, parameters);
    return toWorkspaceView(unchangedSince(row));
  }

  /**
   * Closes a workspace for good: nobody gets in any more, no token of its agents and runs is good.
   * Its rows stay.
   *
   * @throws DroverError `version_mismatch`
   */
  async archive({ workspaceId }: Caller, version?: number): Promise<WorkspaceView> {
    const { agentTokenSeconds, runTokenSeconds } = this.config.identity;
    const row = await this.database.tenant(workspaceId).transaction(async (tx) => {
      const parameters = [workspaceId, version ?? null, null, true];
      const archived = unchangedSince(await firstRow(tx, updateWorkspace, parameters));
      await tx.rows(revokeWorkspaceTokens, [workspaceId, agentTokenSeconds, runTokenSeconds]);
      return archived;
    });
    await this.revocations.announce();
    return toWorkspaceView(row);
  }
}

function found(row: WorkspaceRow | undefined): WorkspaceRow {
  if (row === undefined) throw new DroverError('workspace_not_found');
  return row;
}

// The guard has seen the workspace, so only its version can be what did not match.
function unchangedSince(row: WorkspaceRow | undefined): WorkspaceRow {
  if (row === undefined) throw new DroverError('version_mismatch');
  return row;
}
