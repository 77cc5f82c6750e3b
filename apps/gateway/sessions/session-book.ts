import { SessionMemory } from '#lib/agent-host';
import { hasEnded, type SessionRecord } from './domain/session.js';

/** Ended sessions that are remembered at most. */
const MAX_ENDED = 2_000;

/** All sessions that the gateway knows of, those that have ended too. */
export class SessionBook extends SessionMemory<SessionRecord> {
  live(): SessionRecord[] {
    return this.all().filter((record) => !hasEnded(record));
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

  /** Forgets ended sessions that are old, or too many; never one that the server has not heard of. */
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
