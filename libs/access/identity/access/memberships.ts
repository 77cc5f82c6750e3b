import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow } from '#lib/database';
import type { MemberRole } from '#lib/kernel';
import { findAccount, findMembership, findWorkspacesOf } from './membership.sql.js';
import { Revocations } from '../tokens/revocations.js';
import { ShortMemory } from './short-memory.js';

/** Another server can use a role for this long after it was removed here. */
const REMEMBERED = { seconds: 3, max: 10_000 };

/** The rights of a user in the installation. */
type Standing = 'operator' | 'operator without factor' | 'user';

/** Roles of users, at most three seconds old. */
@Injectable()
export class Memberships {
  private readonly needsFactor: boolean;
  private readonly roles: ShortMemory<MemberRole | undefined>;
  private readonly operators: ShortMemory<Standing | undefined>;
  private readonly onlyWorkspaces: ShortMemory<string | undefined>;

  constructor(
    private readonly database: Database,
    revocations: Revocations,
    @Inject(CONFIG) config: Pick<Config, 'identity'>,
  ) {
    const { operatorsNeedSecondFactor, passwordSignIn } = config.identity;
    this.needsFactor = operatorsNeedSecondFactor && passwordSignIn;
    this.roles = new ShortMemory((key) => this.readRole(key), REMEMBERED);
    this.operators = new ShortMemory((userId) => this.readOperator(userId), REMEMBERED);
    this.onlyWorkspaces = new ShortMemory((userId) => this.readOnlyWorkspace(userId), REMEMBERED);
    revocations.onRevoked(({ kind, subject }) => {
      if (kind === 'user') this.forgetUser(subject);
      if (kind === 'workspace') this.roles.forgetWhere((key) => key.endsWith(`/${subject}`));
    });
  }

  /**
   * The user's role. Undefined if the user is disabled or no member, or the workspace is archived.
   */
  roleOf(userId: string, workspaceId: string): Promise<MemberRole | undefined> {
    return this.roles.get(`${userId}/${workspaceId}`);
  }

  /** The workspace of a user who has exactly one. */
  onlyWorkspaceOf(userId: string): Promise<string | undefined> {
    return this.onlyWorkspaces.get(userId);
  }

  /**
   * True if the user has the rights of an operator now. Undefined if the user is unknown or
   * disabled.
   */
  async isOperator(userId: string): Promise<boolean | undefined> {
    const standing = await this.operators.get(userId);
    return standing && standing === 'operator';
  }

  /** True for an operator without the second factor that OPERATORS_NEED_SECOND_FACTOR asks for. */
  async lacksFactor(userId: string): Promise<boolean> {
    return (await this.operators.get(userId)) === 'operator without factor';
  }

  forgetUser(userId: string): void {
    this.operators.forget(userId);
    this.onlyWorkspaces.forget(userId);
    this.roles.forgetWhere((key) => key.startsWith(`${userId}/`));
  }

  private async readRole(key: string): Promise<MemberRole | undefined> {
    const [userId, workspaceId] = key.split('/');
    const row = await firstRow(this.database.service, findMembership, [workspaceId, userId]);
    return row?.role;
  }

  private async readOnlyWorkspace(userId: string): Promise<string | undefined> {
    const rows = await this.database.service.rows(findWorkspacesOf, [userId]);
    return rows.length === 1 ? rows[0]?.workspace_id : undefined;
  }

  private async readOperator(userId: string): Promise<Standing | undefined> {
    const row = await firstRow(this.database.service, findAccount, [userId]);
    if (row === undefined || row.disabled) return undefined;
    if (!row.is_operator) return 'user';
    return this.needsFactor && row.lacks_factor ? 'operator without factor' : 'operator';
  }
}
