import { Injectable } from '@nestjs/common';
import {
  Database,
  firstRow,
  type Prisma,
  type SqlRunner,
  type Transaction,
  violatedConstraint,
} from '#lib/database';
import { type Caller, DroverError, idOfCursor, newId, type Page, toPage } from '#lib/kernel';
import {
  forgetAgentTokens,
  insertAgentToken,
  lockValidKey,
  takeTokensIssuedBy,
  takeTokensOfKey,
} from './agent-tokens.sql.js';
import { lockEnabledMember } from '../workspaces/lock-member.js';
import type { Revocations } from './revocations.js';
import { type IssuedToken, TokenService } from './token.service.js';

const FIELDS = {
  id: true,
  agentId: true,
  issuedBy: true,
  issuedByKey: true,
  issuedAt: true,
  expiresAt: true,
} as const;

export type IssuedTokenView = Prisma.AgentTokenGetPayload<{ select: typeof FIELDS }>;

/** The valid tokens of agents with their issuers, one row each. */
@Injectable()
export class IssuedTokens {
  constructor(
    private readonly database: Database,
    private readonly tokens: TokenService,
  ) {}

  /**
   * A token of an API key ends with the key at the latest.
   *
   * @param tx has locked the agent
   * @throws DroverError `forbidden` if the caller was removed or disabled meanwhile, `token_revoked` or
   *   `token_expired` if the key ended meanwhile, `wrong_token_kind`
   */
  async issue(
    tx: Transaction,
    caller: Caller,
    claims: { agentId: string; tokenVersion: number; expiresInSeconds?: number },
  ): Promise<IssuedToken> {
    if (caller.kind !== 'user' && caller.kind !== 'api_key')
      throw new DroverError('wrong_token_kind');
    const { workspaceId, userId } = caller;
    if (!(await lockEnabledMember(tx, caller))) throw new DroverError('forbidden');
    const tokenId = newId();
    const key = caller.kind === 'api_key' ? caller.apiKeyId : null;
    const expiresInSeconds = await this.boundByKey(tx, caller, claims.expiresInSeconds);
    const ids = { workspaceId, tokenId };
    const issued = this.tokens.issueAgentToken({ ...claims, ...ids, expiresInSeconds });
    const row = [workspaceId, tokenId, claims.agentId, userId, key, issued.expiresAt];
    await tx.rows(insertAgentToken, row).catch((error: unknown) => {
      if (violatedConstraint(error) !== 'agent_tokens_issuer_fkey') throw error;
      throw new DroverError('forbidden', { cause: error });
    });
    return issued;
  }

  private async boundByKey(
    tx: Transaction,
    caller: Caller,
    requested: number | undefined,
  ): Promise<number | undefined> {
    if (caller.kind !== 'api_key') return requested;
    const key = await firstRow(tx, lockValidKey, [caller.workspaceId, caller.apiKeyId]);
    if (key === undefined) throw new DroverError('token_revoked');
    if (key.seconds_left === null) return requested;
    if (key.seconds_left <= 0) throw new DroverError('token_expired');
    return Math.min(requested ?? Infinity, key.seconds_left);
  }

  /** Forgets the tokens of an agent, which are refused by their version. */
  async forget(tx: Transaction, workspaceId: string, agentId: string): Promise<void> {
    await tx.rows(forgetAgentTokens, [workspaceId, agentId]);
  }

  async list(
    { workspaceId }: Caller,
    { limit, cursor, ...of }: { limit: number; cursor?: string } & TokenFilter,
  ): Promise<Page<IssuedTokenView>> {
    const where = { workspaceId, ...of, expiresAt: { gt: new Date() } };
    const rows = await this.database.tenant(workspaceId).prisma((tx) =>
      tx.agentToken.findMany({
        where: { ...where, id: { gt: idOfCursor(cursor) ?? undefined } },
        orderBy: { id: 'asc' },
        take: limit + 1,
        select: FIELDS,
      }),
    );
    return toPage(
      rows,
      limit,
      ({ id }) => [id],
      (row) => row,
    );
  }
}

interface TokenFilter {
  issuedBy?: string;
  agentId?: string;
}

interface Revoking {
  runner: SqlRunner;
  revocations: Revocations;
}

/**
 * Revokes the tokens that a user has issued. Call `Revocations.announce` after the commit.
 *
 * @param workspaceId null: in all workspaces; `runner` is then the service role
 */
export async function revokeTokensIssuedBy(
  userId: string,
  workspaceId: string | null,
  revoking: Revoking,
): Promise<void> {
  await revokeTaken(
    await revoking.runner.rows(takeTokensIssuedBy, [userId, workspaceId]),
    revoking,
  );
}

/** The same for the tokens that an API key has issued. */
export async function revokeTokensOfKey(
  { workspaceId, apiKeyId }: { workspaceId: string; apiKeyId: string },
  revoking: Revoking,
): Promise<void> {
  await revokeTaken(await revoking.runner.rows(takeTokensOfKey, [workspaceId, apiKeyId]), revoking);
}

async function revokeTaken(
  taken: readonly { id: string }[],
  { runner, revocations }: Revoking,
): Promise<void> {
  const ended = taken.map(({ id }) => ({ kind: 'agent_token', tokenId: id }) as const);
  await revocations.revoke(runner, ended);
}
