import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import { type ApiKeyCaller, DroverError } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { hashApiKey, isApiKeyForm } from '../domain/api-key.js';
import { lesserRole } from '../domain/roles.js';
import { type ApiKeyRecord, findApiKeyByHash } from './api-key-by-hash.sql.js';
import { stampApiKeys } from './stamp-api-keys.sql.js';
import { Revocations } from '../tokens/revocations.js';
import { EndingKeys } from './ending-keys.js';
import { ShortMemory } from './short-memory.js';

const REMEMBERED = { seconds: 3, max: 10_000 };
const STAMP_INTERVAL_MS = 60_000;

/** Authenticates programs by their API keys. */
@Injectable()
export class ApiKeyVerifier implements BeforeApplicationShutdown {
  private readonly records: ShortMemory<ApiKeyRecord | undefined>;
  /** Keys used since the last stamp: id to workspace. */
  private readonly used = new Map<string, string>();
  private stamping: NodeJS.Timeout | undefined;
  private readonly ending: EndingKeys;

  constructor(
    private readonly database: Database,
    revocations: Revocations,
    private readonly logger: Logger,
  ) {
    this.ending = new EndingKeys(logger);
    this.records = new ShortMemory((key) => this.find(key), REMEMBERED);
    // A key's id does not reveal the cache key, and revocations are rare, so everything is
    // forgotten.
    revocations.onRevoked(({ kind }) => {
      if (['api_key', 'user', 'workspace'].includes(kind)) this.records.forgetWhere(() => true);
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearTimeout(this.stamping);
    await this.stamp();
  }

  /** @throws DroverError `invalid_token`, `token_expired` or `token_revoked` */
  async verify(key: string): Promise<ApiKeyCaller> {
    if (!isApiKeyForm(key)) throw new DroverError('invalid_token');
    const record = await this.records.get(key);
    if (record === undefined) throw new DroverError('invalid_token');
    if (record.revoked) throw new DroverError('token_revoked');
    if (record.maker_role === null) {
      throw new DroverError('token_revoked', { detail: 'Who made the key has left.' });
    }
    if (record.expired || hasPassed(record.expires_at)) throw new DroverError('token_expired');
    this.noteUse(record);
    return {
      kind: 'api_key',
      workspaceId: record.workspace_id,
      apiKeyId: record.id,
      userId: record.created_by,
      role: lesserRole(record.role, record.maker_role),
      scopes: record.scopes,
    };
  }

  private find(key: string): Promise<ApiKeyRecord | undefined> {
    return firstRow(this.database.service, findApiKeyByHash, [hashApiKey(key)]);
  }

  private noteUse(record: ApiKeyRecord): void {
    this.used.set(record.id, record.workspace_id);
    this.ending.note(record);
    if (this.stamping !== undefined) return;
    this.stamping = setTimeout(() => void this.stamp(), STAMP_INTERVAL_MS);
    this.stamping.unref();
  }

  private async stamp(): Promise<void> {
    this.stamping = undefined;
    if (this.used.size === 0) return;
    const [ids, workspaceIds] = [[...this.used.keys()], [...this.used.values()]];
    this.used.clear();
    await this.database.service
      .rows(stampApiKeys, [workspaceIds, ids])
      .catch((error: unknown) => this.logger.warn('use of API keys not noted', { error }));
  }
}

function hasPassed(time: Date | null): boolean {
  return time !== null && time.getTime() <= Date.now();
}
