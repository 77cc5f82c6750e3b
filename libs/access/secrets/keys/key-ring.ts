import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database, type SqlRunner, unaccompanied, violatedConstraint } from '#lib/database';
import { DroverError, newId } from '#lib/kernel';
import type { DataKey } from '../domain/sealed-text.js';
import { makeDataKey, type MasterKey, unwrap } from '../domain/wrapping.js';
import {
  type DataKeyRow,
  insertDataKey,
  lockDataKeys,
  readDataKeys,
  removeUnusedDataKeys,
  retireDataKeys,
} from './data-keys.sql.js';
import { SEALED_TABLE_NAMES } from './sealed-tables.js';

/** Time for which a retired key can still be taken for the current one, in milliseconds. */
const FRESH_MS = 30_000;
/** Much longer, so that nobody seals with the key any more. */
const REMOVED_AFTER_SECONDS = 600;

const KEY_GONE = new Set(SEALED_TABLE_NAMES.map((table) => `${table}_key_fkey`));

interface Ring {
  /** All keys that open values, by id. */
  byId: ReadonlyMap<string, DataKey>;
  /** The newest key that is not retired. */
  current?: { key: DataKey; masterKeyId: string; aged: boolean };
  readAt: number;
}

/**
 * The data keys, unwrapped, in memory. They are read on first use and again every 30 s, so that all
 * servers learn of a rotation.
 */
@Injectable()
export class KeyRing {
  private readonly masters: readonly [MasterKey, ...MasterKey[]];
  private ring: Ring | undefined;
  private reading: Promise<Ring> | undefined;
  /** The current key at this process's first look. */
  private first: string | undefined;

  constructor(
    private readonly database: Database,
    @Inject(CONFIG) private readonly config: Config,
  ) {
    const [current, ...earlier] = config.encryption.masterKeys;
    if (!current) throw new Error('There is no master key');
    this.masters = [current, ...earlier];
  }

  /** The key that seals. Creates one if there is none. */
  async current(): Promise<DataKey> {
    const { current } = await this.fresh();
    return current?.key ?? this.replace(undefined);
  }

  /**
   * @returns undefined if no key has this id, or no master key opens it
   */
  async find(id: string): Promise<DataKey | undefined> {
    return this.ring?.byId.get(id) ?? (await this.read()).byId.get(id);
  }

  /**
   * Whether the current key should be replaced, because it is too old or another master key became
   * current. A key that was created while this process ran is left alone: a server with another
   * order of master keys created it, and the two would replace each other's keys for ever.
   */
  async isDue(): Promise<boolean> {
    const { current } = await this.read();
    if (!current) return false;
    const other = current.masterKeyId !== this.masters[0].id && current.key.id === this.first;
    return current.aged || other;
  }

  /** True if a new key would be the first under a master key that other servers may lack. */
  async isFirstUse(): Promise<boolean> {
    const { current } = await this.read();
    return current !== undefined && current.masterKeyId !== this.masters[0].id;
  }

  /** Creates a new key and retires the others, unless another process has just done so. */
  async rotate(): Promise<DataKey> {
    const { current } = await this.read();
    return this.replace(current?.key.id);
  }

  /**
   * @returns the number of removed keys, which were retired a while ago and are unused
   */
  async removeUnused(): Promise<number> {
    try {
      const removed = await this.database.service.rows(removeUnusedDataKeys, [
        REMOVED_AFTER_SECONDS,
      ]);
      return removed.length;
    } catch (error) {
      // Somebody has just sealed with it, so it is removed another time.
      if (violatedConstraint(error) === undefined) throw error;
      return 0;
    }
  }

  /** Ids of master keys that keys in use need and this process lacks. */
  async missingMasterKeys(): Promise<string[]> {
    const { lostMasterKeys } = this.config.encryption;
    const rows = await this.rows(this.database.service);
    const closed = rows.filter((row) => (row.used || !row.retired) && !this.open(row));
    const ids = new Set(closed.map((row) => row.master_key_id));
    return [...ids].filter((id) => !lostMasterKeys.includes(id));
  }

  /**
   * The error to report when a write with originals fails. If only its key is gone, because this
   * process slept through a rotation, the write can be retried.
   */
  explain(error: unknown): unknown {
    if (!KEY_GONE.has(violatedConstraint(error) ?? '')) return error;
    this.ring = undefined;
    return new DroverError('conflict_retry', { retryAfterSeconds: 1, cause: error });
  }

  private async fresh(): Promise<Ring> {
    const { ring } = this;
    return ring && performance.now() - ring.readAt < FRESH_MS ? ring : this.read();
  }

  /** One query for all concurrent callers. */
  private read(): Promise<Ring> {
    this.reading ??= this.readNow().finally(() => (this.reading = undefined));
    return this.reading;
  }

  private async readNow(): Promise<Ring> {
    const readAt = performance.now();
    const rows = await this.rows(this.database.service);
    const opened = rows.flatMap((row) => {
      const key = this.ring?.byId.get(row.id) ?? this.open(row);
      return key ? [{ row, key }] : [];
    });
    const newest = opened.find(({ row }) => !row.retired);
    const current = newest && {
      key: newest.key,
      masterKeyId: newest.row.master_key_id,
      aged: newest.row.aged,
    };
    this.first ??= current?.key.id;
    this.ring = { byId: new Map(opened.map(({ key }) => [key.id, key])), current, readAt };
    return this.ring;
  }

  /**
   * @param known the key to replace; if another key has come meanwhile, that key is returned
   */
  private async replace(known: string | undefined): Promise<DataKey> {
    await unaccompanied(() => this.insert(known));
    const { current } = await this.readNow();
    if (!current) throw new DroverError('conflict_retry', { retryAfterSeconds: 1 });
    return current.key;
  }

  private insert(known: string | undefined): Promise<void> {
    return this.database.service.transaction(async (tx) => {
      await tx.rows(lockDataKeys);
      const ours = (await this.rows(tx)).filter((row) => !row.retired && this.open(row));
      if (ours[0]?.id !== known) return;
      const { stored } = makeDataKey(newId(), this.masters[0]);
      await tx.rows(insertDataKey, [stored.id, stored.masterKeyId, stored.wrapped]);
      // Keys that this process cannot open belong to another installation or to a mistake, so it
      // does not retire them.
      await tx.rows(retireDataKeys, [ours.map((row) => row.id)]);
    });
  }

  private rows(runner: SqlRunner): Promise<DataKeyRow[]> {
    return runner.rows(readDataKeys, [this.config.encryption.dataKeyMaxAgeDays]);
  }

  private open(row: DataKeyRow): DataKey | undefined {
    const { id, master_key_id: masterKeyId, wrapped } = row;
    return unwrap({ id, masterKeyId, wrapped }, this.masters);
  }
}
