import type { Logger } from '#lib/observability';
import { API_KEY_NOTICE_DAYS } from '../domain/api-key.js';
import type { ApiKeyRecord } from './api-key-by-hash.sql.js';

const DAY_MS = 86_400_000;

/** Warns about used API keys that expire soon, because their users would stop without warning. */
export class EndingKeys {
  /** The time of each key's last warning. Each server warns once a day. */
  private readonly warnedAt = new Map<string, number>();

  constructor(private readonly logger: Logger) {}

  note({ id, workspace_id: workspaceId, expires_at: expiresAt }: ApiKeyRecord): void {
    if (expiresAt === null) return;
    const now = Date.now();
    if (expiresAt.getTime() - now > API_KEY_NOTICE_DAYS * DAY_MS) return;
    if (now - (this.warnedAt.get(id) ?? -Infinity) < DAY_MS) return;
    this.warnedAt.set(id, now);
    this.logger.warn('an API key in use ends soon: make another one and put it in its place', {
      apiKeyId: id,
      workspaceId,
      expiresAt,
    });
  }
}
