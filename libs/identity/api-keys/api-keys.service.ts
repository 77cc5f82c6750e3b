import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import {
  type Caller,
  DroverError,
  type MemberRole,
  newId,
  type Page,
  toPage,
  type UserCaller,
} from '#lib/kernel';
import { generateApiKey } from '../domain/api-key.js';
import { idAfter } from '../domain/id-cursor.js';
import { isAtLeast } from '../domain/roles.js';
import type { Scope } from '../domain/scopes.js';
import { type ApiKeyRow, insertApiKey, listApiKeys, revokeApiKey } from '../store/api-keys.sql.js';
import { Revocations } from '../tokens/revocations.js';

const DEFAULT_SECONDS = 90 * 86_400;

export interface NewApiKeyRequest {
  name: string;
  scopes: Scope[];
  role?: ApiKeyRow['role'];
  expiresInSeconds?: number;
}

export interface ApiKeyView {
  id: string;
  name: string;
  prefix: string;
  role: MemberRole;
  scopes: string[];
  createdBy: string;
  createdAt: Date;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
  revokedAt: Date | null;
}

/** Credentials for programs. */
@Injectable()
export class ApiKeysService {
  constructor(
    private readonly database: Database,
    private readonly revocations: Revocations,
  ) {}

  /**
   * @returns the key itself as well, this once
   * @throws DroverError `forbidden` for a role above the maker's own
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
    const scopes = [...new Set(request.scopes)];
    const row = await firstRow(this.database.tenant(workspaceId), insertApiKey, [
      workspaceId,
      newId(),
      name,
      prefix,
      hash,
      role,
      scopes,
      userId,
      expiresInSeconds,
    ]);
    return { ...toApiKeyView(row as ApiKeyRow), key };
  }

  async list(
    { workspaceId }: Caller,
    page: { limit: number; cursor?: string },
  ): Promise<Page<ApiKeyView>> {
    const parameters = [workspaceId, idAfter(page.cursor), page.limit + 1];
    const rows = await this.database.tenant(workspaceId).rows(listApiKeys, parameters);
    return toPage(rows, page.limit, (row) => [row.id], toApiKeyView);
  }

  /** @throws DroverError `api_key_not_found` */
  async revoke({ workspaceId }: Caller, apiKeyId: string): Promise<void> {
    await this.database.tenant(workspaceId).transaction(async (tx) => {
      const revoked = await firstRow(tx, revokeApiKey, [workspaceId, apiKeyId]);
      if (revoked === undefined) throw new DroverError('api_key_not_found');
      await this.revocations.revoke(tx, [{ kind: 'api_key', apiKeyId }]);
    });
    await this.revocations.announce();
  }
}

function toApiKeyView(row: ApiKeyRow): ApiKeyView {
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    role: row.role,
    scopes: row.scopes,
    createdBy: row.created_by,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
  };
}
