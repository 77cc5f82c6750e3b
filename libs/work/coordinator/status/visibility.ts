import { Injectable } from '@nestjs/common';
import { Database, firstRow, type ServiceScope, type TenantScope } from '#lib/database';
import { Memberships } from '#lib/identity';
import { type Caller, DroverError } from '#lib/kernel';
import { listWorkspaceIds, workspaceExists } from './visibility.sql.js';

/** Maximum number of workspaces that an operator sees by id. */
const LISTED_WORKSPACES = 1_000;

/** The part of the coordinator that a caller can see: one workspace, or all of them (null). */
export interface View {
  workspaceId: string | null;
  /** Runs statements that see just this part. */
  runner: TenantScope | ServiceScope;
}

/** Members see their own workspace. Operators of the installation see all. */
@Injectable()
export class Visibility {
  constructor(
    private readonly database: Database,
    private readonly memberships: Memberships,
  ) {}

  /**
   * @param requested the workspace to show; without one, all that the caller can see
   * @throws DroverError `workspace_not_found` when this caller cannot see it
   */
  async viewOf(caller: Caller, requested?: string): Promise<View> {
    if (requested === caller.workspaceId || !(await this.isOperator(caller))) {
      if (requested !== undefined && requested !== caller.workspaceId) {
        throw new DroverError('workspace_not_found');
      }
      return { workspaceId: caller.workspaceId, runner: this.database.tenant(caller.workspaceId) };
    }
    if (requested === undefined) return { workspaceId: null, runner: this.database.service };
    const found = await firstRow(this.database.service, workspaceExists, [requested]);
    if (!found) throw new DroverError('workspace_not_found');
    return { workspaceId: requested, runner: this.database.tenant(requested) };
  }

  /** The workspaces in the view: at most the newest thousand. */
  async workspaces({ workspaceId }: View): Promise<string[]> {
    if (workspaceId !== null) return [workspaceId];
    const rows = await this.database.service.rows(listWorkspaceIds, [LISTED_WORKSPACES]);
    return rows.map((row) => row.id);
  }

  private async isOperator(caller: Caller): Promise<boolean> {
    // A key belongs to one workspace, even if an operator created it.
    if (caller.kind !== 'user') return false;
    return (await this.memberships.isOperator(caller.userId)) ?? false;
  }
}
