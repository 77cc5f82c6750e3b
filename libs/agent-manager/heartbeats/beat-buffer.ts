import type { BeatStatus } from '../domain/health.js';

/** What an agent says with a beat. */
export interface BeatBody {
  status: BeatStatus;
  currentTaskId?: string | null;
  progressPercent?: number | null;
  currentStep?: string | null;
  memoryMb?: number | null;
  cpuPercent?: number | null;
  metadata?: Record<string, unknown>;
}

/** A beat that waits to be written. */
export interface PendingBeat {
  workspaceId: string;
  agentId: string;
  body: BeatBody;
  /** On the clock of performance.now(). */
  receivedAt: number;
}

/** The latest beat of each agent since the last flush: as many entries as agents, never more. */
export class BeatBuffer {
  private beats = new Map<string, PendingBeat>();

  get size(): number {
    return this.beats.size;
  }

  put(beat: PendingBeat): void {
    this.beats.set(beat.agentId, beat);
  }

  /** Takes up to `limit` beats out, those that have waited longest first. */
  take(limit: number): PendingBeat[] {
    if (this.beats.size <= limit) {
      const all = [...this.beats.values()];
      this.beats = new Map();
      return all;
    }
    const taken: PendingBeat[] = [];
    for (const beat of this.beats.values()) {
      if (taken.length === limit) break;
      taken.push(beat);
    }
    for (const { agentId } of taken) this.beats.delete(agentId);
    return taken;
  }

  /** Puts back what could not be written; an agent that has beaten since keeps its newer beat. */
  restore(beats: readonly PendingBeat[]): void {
    for (const beat of beats) if (!this.beats.has(beat.agentId)) this.put(beat);
  }
}
