import { SessionMemory } from '#lib/agent-host';
import { hasEnded, type SessionRecord } from './domain/session.js';

/** The maximum of ended sessions that are remembered. */
const MAX_ENDED = 2_000;

/** All known sessions of the gateway, including ended ones. */
export class SessionBook extends SessionMemory<SessionRecord> {
  live(): SessionRecord[] {
    return this.all().filter((record) => !hasEnded(record));
  }

  /**
   * The latest session with a label of its client. A live session takes precedence over ended ones.
   */
  findByLabel(label: string): SessionRecord | undefined {
    const named = this.all().filter((record) => record.label === label);
    return named.findLast((record) => !hasEnded(record)) ?? named.at(-1);
  }

  /** The live session of a task without a run. */
  findByTask(taskId: string): SessionRecord | undefined {
    return this.live().find((record) => record.runId === null && record.taskId === taskId);
  }

  /** Forgets ended sessions that are old, or too many; never one with a report for the server. */
  prune(endedBefore: Date): void {
    const ended = this.all().filter((record) => hasEnded(record) && record.reports.length === 0);
    ended.forEach((record, index) => {
      const isSurplus = index < ended.length - MAX_ENDED;
      if (isSurplus || Date.parse(record.endedAt ?? '') < endedBefore.getTime()) {
        this.forget(record);
      }
    });
  }
}
