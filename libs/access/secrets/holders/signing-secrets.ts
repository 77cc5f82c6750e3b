import type { SqlRunner } from '#lib/database';
import { instruments } from '#lib/observability';
import {
  type ColumnOfHostCredential,
  type ColumnOfInboundHook,
  type ColumnOfModelProvider,
  type ColumnOfRepository,
  type ColumnOfWebhook,
  openWhole,
  sealWhole,
  type SigningColumn,
} from '../domain/originals.js';
import { newSigningSecret } from '../domain/signing-secret.js';
import { KeyRing } from '../keys/key-ring.js';
import type { WEBHOOK_SECRETS } from './signing-secrets.sql.js';

/** Seconds for which the previous secret stays valid. */
const ROTATION_SECONDS = 86_400;

/**
 * A webhook, an inbound hook, a way to a provider of models, a credential for a host, a repository.
 */
export interface SignerPlace {
  workspaceId: string;
  id: string;
}

type ColumnOf = (
  place: SignerPlace,
  column: SigningColumn,
) =>
  | ColumnOfWebhook
  | ColumnOfInboundHook
  | ColumnOfModelProvider
  | ColumnOfHostCredential
  | ColumnOfRepository;

/** Signing secrets: one for each owner, and the previous one while it is valid. */
export abstract class SigningSecrets {
  constructor(
    private readonly ring: KeyRing,
    private readonly statements: typeof WEBHOOK_SECRETS,
    private readonly columnOf: ColumnOf,
  ) {}

  /**
   * Runs after the statement that creates the owner, in its transaction. @returns the new secret
   */
  async create(runner: SqlRunner, place: SignerPlace): Promise<string> {
    const secret = newSigningSecret();
    await this.write(runner, place, secret);
    return secret;
  }

  /**
   * Performs a transaction that writes secrets, for runners that wrap errors.
   *
   * @throws DroverError `conflict_retry` if the key is gone; see `KeyRing.explain`
   */
  written<T>(transaction: Promise<T>): Promise<T> {
    return transaction.catch((error: unknown) => {
      throw this.ring.explain(error);
    });
  }

  /** Replaces the secret by a given one. The previous one is removed. */
  async write(runner: SqlRunner, place: SignerPlace, secret: string): Promise<void> {
    await this.writeColumn(runner, { ...place, column: 'secret' }, secret, null);
  }

  /**
   * Replaces the secret. The previous one stays valid for 24 hours, unless it cannot be opened.
   *
   * @returns the new secret
   */
  async rotate(runner: SqlRunner, place: SignerPlace): Promise<string> {
    const valid = await this.open(runner, [place]);
    const before = valid.find(({ column }) => column === 'secret');
    if (before !== undefined) {
      await this.writeColumn(
        runner,
        { ...place, column: 'previous_secret' },
        before.secret,
        ROTATION_SECONDS,
      );
    }
    return this.create(runner, place);
  }

  /**
   * The valid secrets of each owner, the current one first, without those that cannot be opened.
   */
  async valid(runner: SqlRunner, places: readonly SignerPlace[]): Promise<Map<string, string[]>> {
    const opened = new Map<string, string[]>();
    for (const { id, secret } of await this.open(runner, places)) {
      opened.set(id, [...(opened.get(id) ?? []), secret]);
    }
    return opened;
  }

  private async open(
    runner: SqlRunner,
    places: readonly SignerPlace[],
  ): Promise<{ id: string; column: SigningColumn; secret: string }[]> {
    const params = [places.map((each) => each.workspaceId), places.map((each) => each.id)];
    const opened = [];
    for (const row of await runner.rows(this.statements.valid, params)) {
      const place = { workspaceId: row.workspace_id, id: row.owner_id };
      const original = { ...this.columnOf(place, row.column_name), ...sealedOf(row) };
      const outcome = openWhole(original, await this.ring.find(row.key_id));
      instruments.secrets.inc({ operation: outcome.kind });
      if (outcome.kind !== 'opened' || typeof outcome.value !== 'string') continue;
      opened.push({ id: place.id, column: row.column_name, secret: outcome.value });
    }
    return opened;
  }

  /**
   * @throws DroverError `conflict_retry` if the key is gone; see `KeyRing.explain`
   */
  private async writeColumn(
    runner: SqlRunner,
    { column, ...place }: SignerPlace & { column: SigningColumn },
    secret: string,
    seconds: number | null,
  ): Promise<void> {
    const key = await this.ring.current();
    const sealed = JSON.stringify(sealWhole(key, secret, this.columnOf(place, column)));
    const params = [place.workspaceId, place.id, column, key.id, sealed, seconds];
    await runner.rows(this.statements.write, params).catch((error: unknown) => {
      throw this.ring.explain(error);
    });
    instruments.secrets.inc({ operation: 'sealed' });
  }
}

function sealedOf({ key_id, sealed }: { key_id: string; sealed: unknown }) {
  return { key_id, sealed };
}
