import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type HostLog, readJson, writeJson } from '#lib/agent-host';
import { hasEnded, type SessionRecord } from './domain/session.js';

/** Ended sessions that are remembered at most. */
const MAX_ENDED = 2_000;

/**
 * All sessions that the gateway knows of, in memory and each in a file of its own. The server learns of a
 * crash of the machine from the next heartbeat.
 */
export class SessionBook {
  private readonly byId = new Map<string, SessionRecord>();
  private readonly byRun = new Map<string, SessionRecord>();

  constructor(
    private readonly dir: string,
    private readonly logger: HostLog,
  ) {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(dir)) this.load(name);
  }

  /** In the order of their creation. */
  all(): SessionRecord[] {
    return [...this.byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  live(): SessionRecord[] {
    return this.all().filter((record) => !hasEnded(record));
  }

  /** @param id of the session or of its run */
  find(id: string): SessionRecord | undefined {
    return this.byId.get(id) ?? this.byRun.get(id);
  }

  /** The latest with a label that its client gave it; one that lives before those that have ended. */
  findByLabel(label: string): SessionRecord | undefined {
    const named = this.all().filter((record) => record.label === label);
    return named.findLast((record) => !hasEnded(record)) ?? named.at(-1);
  }

  /** The live session of a task that is nobody's run. */
  findByTask(taskId: string): SessionRecord | undefined {
    return this.live().find((record) => record.runId === null && record.taskId === taskId);
  }

  /** @throws Error when it cannot be written: the session must not start then */
  add(record: SessionRecord): void {
    this.write(record);
    this.index(record);
  }

  /** Writes a change down. One that cannot be written now is written with the next one. */
  save(record: SessionRecord): void {
    try {
      this.write(record);
    } catch (error) {
      this.logger.error('a session could not be written down', { sessionId: record.id, error });
    }
  }

  /** Forgets ended sessions that are old, or too many; never one that the server has not heard of. */
  prune(endedBefore: Date): void {
    const ended = this.all().filter((record) => hasEnded(record) && record.reports.length === 0);
    ended.forEach((record, index) => {
      const isSurplus = index < ended.length - MAX_ENDED;
      if (isSurplus || Date.parse(record.endedAt ?? '') < endedBefore.getTime()) this.drop(record);
    });
  }

  private drop(record: SessionRecord): void {
    this.byId.delete(record.id);
    if (record.runId !== null) this.byRun.delete(record.runId);
    rmSync(this.fileOf(record.id), { force: true });
  }

  private load(name: string): void {
    if (!name.endsWith('.json')) return rmSync(join(this.dir, name), { force: true });
    try {
      const path = join(this.dir, name);
      const record = readJson<SessionRecord>(path, ({ id }) => typeof id === 'string');
      if (record !== undefined) this.index(record);
    } catch (error) {
      // Its session has no record any more, and is ended as such.
      this.logger.error('the record of a session cannot be read', { name, error });
    }
  }

  private index(record: SessionRecord): void {
    this.byId.set(record.id, record);
    if (record.runId !== null) this.byRun.set(record.runId, record);
  }

  private write(record: SessionRecord): void {
    writeJson(this.fileOf(record.id), record);
  }

  private fileOf(id: string): string {
    return join(this.dir, `${id}.json`);
  }
}
