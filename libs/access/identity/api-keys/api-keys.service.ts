import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow, type Prisma } from '#lib/database';
import {
  type Caller,
  DroverError,
  idOfCursor,
  type MemberRole,
  newId,
  type Page,
  toPage,
  type UserCaller,
} from '#lib/kernel';
import { generateApiKey } from '../domain/api-key.js';
import { isAtLeast } from '../domain/roles.js';
import type { Scope } from '../domain/scopes.js';
import { lockAccount } from '../store/lock-account.sql.js';
import { revokeApiKey } from '../store/api-keys.sql.js';
import { revokeTokensOfKey } from '../tokens/issued-tokens.js';
import { Revocations } from '../tokens/revocations.js';

const DEFAULT_SECONDS = 90 * 86_400;

export interface NewApiKeyRequest {
  name: string;
  scopes: Scope[];
  role?: Exclude<MemberRole, 'OWNER'>;
  expiresInSeconds?: number;
}

const API_KEY_FIELDS = {
  id: true,
  name: true,
  prefix: true,
  role: true,
  scopes: true,
  createdBy: true,
  createdAt: true,
  expiresAt: true,
  lastUsedAt: true,
  revokedAt: true,
} as const;

export type ApiKeyView = Prisma.ApiKeyGetPayload<{ select: typeof API_KEY_FIELDS }>;

/** Credentials for programs. */
@Injectable()
export class ApiKeysService {
  constructor(
    private readonly database: Database,
    private readonly revocations: Revocations,
    @Inject(CONFIG) private readonly config: Pick<Config, 'identity'>,
  ) {}

  /**
   * @returns includes the key itself, only this once
   * @throws DroverError `forbidden` for a role above the creator's own, `api_key_limit`
   */
  async create(
    caller: UserCaller,
    request: NewApiKeyRequest,
  ): Promise<ApiKeyView & { key: string }> {
    const { workspaceId, userId } = caller;
    const { name, role = 'MEMBER', expiresInSeconds = DEFAULT_SECONDS } = request;
    if (!isAtLeast(caller.role, role)) {
      throw new DroverError('forbidden', { detail: `Your role is ${caller.role}.` });
    }
    const { key, prefix, hash } = generateApiKey();
    const data = {
      workspaceId,
      id: newId(),
      name,
      prefix,
      keyHash: new Uint8Array(hash),
      role,
      scopes: [...new Set(request.scopes)],
      createdBy: userId,
      expiresAt: new Date(Date.now() + expiresInSeconds * 1000),
    };
    const limit = this.config.identity.maxApiKeysPerUser;
    // As the service role, because the keys of all workspaces count.
    const made = await this.database.service.prisma(async (tx, sql) => {
      await sql.rows(lockAccount, [userId]);
      const isValid = {
        revokedAt: null,
        // Elsewhere the key is refused, and the user could not revoke it.
        workspace: { archivedAt: null, workspaceMembers: { some: { userId } } },
        OR: [{ expiresAt: null }, { expiresAt: { gt: new Date() } }],
      };
      const count = await tx.apiKey.count({ where: { createdBy: userId, ...isValid } });
      if (count >= limit) throw new DroverError('api_key_limit', { members: { limit } });
      return tx.apiKey.create({ data, select: API_KEY_FIELDS });
    });
    return { ...made, key };
  }

  async list(
    { workspaceId }: Caller,
    page: { limit: number; cursor?: string },
  ): Promise<Page<ApiKeyView>> {
    const where = { workspaceId, id: { gt: idOfCursor(page.cursor) ?? undefined } };
    const order = { orderBy: { id: 'asc' }, take: page.limit + 1 } as const;
    const rows = await this.database
      .tenant(workspaceId)
      .prisma((tx) => tx.apiKey.findMany({ where, ...order, select: API_KEY_FIELDS }));
    return toPage(
      rows,
      page.limit,
      ({ id }) => [id],
      (row) => row,
    );
  }

  /**
   * Revokes a key and the agent tokens that it issued.
   *
   * @param keepTokens whether these tokens stay valid until they expire
   * @throws DroverError `api_key_not_found`
   */
  async revoke(
    { workspaceId }: Caller,
    apiKeyId: string,
    { keepTokens = false }: { keepTokens?: boolean } = {},
  ): Promise<void> {
    const { revocations } = this;
    await this.database.tenant(workspaceId).transaction(async (tx) => {
      const revoked = await firstRow(tx, revokeApiKey, [workspaceId, apiKeyId]);
      if (revoked === undefined) throw new DroverError('api_key_not_found');
      await revocations.revoke(tx, [{ kind: 'api_key', apiKeyId }]);
      if (keepTokens) return;
      await revokeTokensOfKey({ workspaceId, apiKeyId }, { runner: tx, revocations });
    });
    await revocations.announce();
  }
}
