import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type HostLog, messageOf, readJson, writeJson } from '#lib/agent-host';
import { BackgroundLoop, projectVersion } from '#lib/kernel';

const IDLE_MS = 30_000;
const WORKING_MS = 15_000;
/** The least time between two writes of a worker with many short runs. */
const COOLDOWN_MS = 1_000;
/** A slot without an update for this time is offline. */
const STALE_MS = 90_000;
/** A slot that has been offline for this time is removed. */
const GONE_MS = 86_400_000;

/** The work of a worker: its oldest run. Times are milliseconds since 1970. */
export interface SlotWork {
  taskId: string;
  taskTitle: string;
  runId: string;
  startedAt: number;
}

interface Slot {
  slot: string;
  status: 'idle' | 'working' | 'offline';
  task: string | null;
  taskTitle: string | null;
  sessionId: string | null;
  lastUpdate: number;
  startedAt: number;
  metadata: {
    workerPid: number | null;
    workerVersion: string;
    restartCount: number;
    taskStartedAt?: number;
    offlineReason?: string;
    detectedAt?: number;
  };
}

export interface HeartbeatsFileOptions {
  /** The folder of the file. All workers of a machine can share it under different names. */
  home: string;
  name: string;
  /** The number of earlier starts of this worker. */
  restartCount: number;
  log: HostLog;
  /** Undefined if the worker is idle. */
  work: () => SlotWork | undefined;
}

/**
 * Writes `worker-heartbeats.json`, the workers of a machine for its other programs. The server
 * never reads it.
 *
 * Each worker writes its slot into a file of its own, then joins all slots. No lock is needed: a
 * worker that finds other slots after its rename joins them again, so the last rename has them all.
 */
export class HeartbeatsFile {
  private readonly file: string;
  private readonly slots: string;
  private readonly own: string;
  private startedAt = Date.now();
  private isBroken = false;
  private readonly loop = new BackgroundLoop(
    () => Promise.resolve().then(() => this.beat()),
    (error) => this.afterFailure(error),
    { unref: true },
  );

  constructor(private readonly options: HeartbeatsFileOptions) {
    this.file = join(options.home, 'worker-heartbeats.json');
    this.slots = join(options.home, 'worker-heartbeats');
    this.own = join(this.slots, `${options.name}.json`);
  }

  start(): void {
    try {
      mkdirSync(this.slots, { recursive: true, mode: 0o700 });
      this.startedAt = readSlot(this.own)?.startedAt ?? this.startedAt;
    } catch (error) {
      this.afterFailure(error);
    }
    this.loop.start();
  }

  /** The worker got a run, or has ended one. */
  update(): void {
    this.loop.nudge();
  }

  /** Marks the slot as offline. Never rejects. */
  async stop(offlineReason: string): Promise<void> {
    await this.loop.stop();
    try {
      this.write('offline', undefined, { workerPid: null, offlineReason });
    } catch (error) {
      this.afterFailure(error);
    }
  }

  private beat() {
    const work = this.options.work();
    const status = work === undefined ? 'idle' : 'working';
    const taskStartedAt = work && { taskStartedAt: work.startedAt };
    this.write(status, work, { workerPid: process.pid, ...taskStartedAt });
    this.isBroken = false;
    return pauseOf(status);
  }

  private write(
    status: Slot['status'],
    work: SlotWork | undefined,
    facts: Pick<Slot['metadata'], 'workerPid' | 'taskStartedAt' | 'offlineReason'>,
  ): void {
    const { name, restartCount } = this.options;
    const slot: Slot = {
      slot: name,
      status,
      task: work?.taskId ?? null,
      taskTitle: work?.taskTitle ?? null,
      sessionId: work?.runId ?? null,
      lastUpdate: Date.now(),
      startedAt: this.startedAt,
      metadata: { workerVersion: projectVersion(), restartCount, ...facts },
    };
    writeJson(this.own, slot);
    this.join();
  }

  private join(): void {
    const temporary = `${this.file}.${this.options.name}.new`;
    for (let written: string | undefined; ;) {
      const workers = this.readAll();
      const text = JSON.stringify(workers);
      if (text === written) return;
      writeJson(this.file, { workers }, temporary);
      written = text;
    }
  }

  private readAll(): Record<string, Slot> {
    const now = Date.now();
    const files = readdirSync(this.slots).filter((name) => name.endsWith('.json'));
    const slots = files.sort().flatMap((name): [string, Slot][] => {
      const path = join(this.slots, name);
      const slot = readSlot(path);
      if (slot === undefined) return [];
      if (now - slot.lastUpdate <= GONE_MS) return [[slot.slot, seenAt(now, slot)]];
      rmSync(path, { force: true });
      return [];
    });
    return Object.fromEntries(slots);
  }

  private afterFailure(error: unknown) {
    if (!this.isBroken) {
      const { home, log } = this.options;
      log.warn('The file of heartbeats cannot be written', { home, error: messageOf(error) });
    }
    this.isBroken = true;
    return pauseOf('idle');
  }
}

function pauseOf(status: Slot['status']) {
  return { waitMs: status === 'working' ? WORKING_MS : IDLE_MS, cooldownMs: COOLDOWN_MS };
}

/** A damaged file is no slot: its worker writes it again. */
function readSlot(path: string): Slot | undefined {
  try {
    return readJson<Slot>(path, ({ slot, metadata }) => Boolean(slot && metadata));
  } catch {
    return undefined;
  }
}

/** A worker that was killed cannot say that it is offline. */
function seenAt(now: number, slot: Slot): Slot {
  const detectedAt = slot.lastUpdate + STALE_MS;
  if (slot.status === 'offline' || now <= detectedAt) return slot;
  const offlineReason = 'stale-heartbeat';
  const metadata = { ...slot.metadata, workerPid: null, offlineReason, detectedAt };
  delete metadata.taskStartedAt;
  return { ...slot, status: 'offline', task: null, taskTitle: null, sessionId: null, metadata };
}
