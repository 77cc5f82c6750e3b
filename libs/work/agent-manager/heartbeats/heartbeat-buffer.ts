import { agentKey, type AgentPlace } from '#lib/kernel';
import type { HeartbeatStatus } from '../domain/health.js';

/** The content of a heartbeat. */
export interface HeartbeatBody {
  status: HeartbeatStatus;
  currentTaskId?: string | null;
  progressPercent?: number | null;
  currentStep?: string | null;
  memoryMb?: number | null;
  cpuPercent?: number | null;
  metadata?: Record<string, unknown>;
}

/** A heartbeat that waits to be written. */
export interface PendingHeartbeat extends AgentPlace {
  body: HeartbeatBody;
  /** On the clock of performance.now(). */
  receivedAt: number;
}

/** The latest heartbeat of each agent since the last flush: at most one entry for each agent. */
export class HeartbeatBuffer {
  private heartbeats = new Map<string, PendingHeartbeat>();

  get size(): number {
    return this.heartbeats.size;
  }

  put(heartbeat: PendingHeartbeat): void {
    this.heartbeats.set(agentKey(heartbeat), heartbeat);
  }

  /** Removes and returns up to `limit` heartbeats, those that waited longest first. */
  take(limit: number): PendingHeartbeat[] {
    if (this.heartbeats.size <= limit) {
      const all = [...this.heartbeats.values()];
      this.heartbeats = new Map();
      return all;
    }
    const taken: PendingHeartbeat[] = [];
    for (const heartbeat of this.heartbeats.values()) {
      if (taken.length === limit) break;
      taken.push(heartbeat);
    }
    for (const heartbeat of taken) this.heartbeats.delete(agentKey(heartbeat));
    return taken;
  }

  /** Puts unwritten heartbeats back. Newer heartbeats stay. */
  restore(heartbeats: readonly PendingHeartbeat[]): void {
    for (const heartbeat of heartbeats)
      if (!this.heartbeats.has(agentKey(heartbeat))) this.put(heartbeat);
  }
}
