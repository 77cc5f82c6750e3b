import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../client/errors.js';
import type { HostLog } from '../machine/log.js';
import { readJson, writeJson } from '../machine/state-file.js';

/** The facts of a session that every host stores. */
export interface Remembered {
  id: string;
  /** The run that it works on; null for a session without a run. */
  runId: string | null;
  /** The kind of the driver that started it; absent before. */
  driver?: string;
}

/**
 * The known sessions of a host, in memory and each in a file of its own, so that a restarted host
 * knows them. The files do not survive a crash of the machine, and neither do sessions.
 */
export class SessionMemory<T extends Remembered> {
  private readonly byId = new Map<string, T>();
  private readonly byRun = new Map<string, T>();

  /**
   * @throws Error if the folder cannot be read
   */
  constructor(
    private readonly dir: string,
    private readonly log: HostLog,
  ) {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(dir)) this.load(name);
  }

  /** All sessions in the order of their creation. */
  all(): T[] {
    return [...this.byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /**
   * @param id the id of the session or of its run
   */
  find(id: string): T | undefined {
    return this.byId.get(id) ?? this.byRun.get(id);
  }

  /**
   * @throws Error if it cannot be written; the session must not start then
   */
  add(record: T): void {
    this.write(record);
    this.index(record);
  }

  /** Writes a change to disk. If this fails, the next change of the record writes it too. */
  save(record: T): void {
    if (!this.byId.has(record.id)) return;
    this.attempt(record.id, () => this.write(record));
  }

  forget({ id, runId }: T): void {
    if (!this.byId.delete(id)) return;
    if (runId !== null) this.byRun.delete(runId);
    this.attempt(id, () => rmSync(this.fileOf(id), { force: true }));
  }

  private load(name: string): void {
    if (!name.endsWith('.json')) return rmSync(join(this.dir, name), { force: true });
    try {
      const record = readJson<T>(join(this.dir, name), ({ id }) => typeof id === 'string');
      if (record !== undefined) this.index(record);
    } catch (error) {
      this.log.error('Session record unreadable', { name, error: messageOf(error) });
    }
  }

  private index(record: T): void {
    this.byId.set(record.id, record);
    if (record.runId !== null) this.byRun.set(record.runId, record);
  }

  private write(record: T): void {
    writeJson(this.fileOf(record.id), record);
  }

  private attempt(sessionId: string, change: () => void): void {
    try {
      change();
    } catch (error) {
      this.log.error('Session record not written', { sessionId, error: messageOf(error) });
    }
  }

  private fileOf(id: string): string {
    return join(this.dir, `${id}.json`);
  }
}
