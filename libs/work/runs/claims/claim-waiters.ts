/** One agent that waits for a task. */
interface Waiting {
  /** Something may be there for it. */
  wake: () => void;
  /** The wake-up that has asked it already. */
  askedBy: WakeUp | null;
}

/** Some tasks became ready at once: as many waiters as tasks are asked, and others in their place. */
interface WakeUp {
  left: number;
}

/**
 * The agents of this process whose claim found nothing and that wait for the next task, by
 * workspace, first come first served.
 *
 * As many are woken as tasks became ready, not all of them: a thousand idle agents must not query
 * the database for one task. One that was woken and could not use it (other capabilities, or
 * somebody was faster) passes the call on.
 */
export class ClaimWaiters {
  private readonly waiting = new Map<string, Set<Waiting>>();

  get size(): number {
    let total = 0;
    for (const waiters of this.waiting.values()) total += waiters.size;
    return total;
  }

  /** Wakes as many waiters of the workspace as tasks became ready. */
  wake(workspaceId: string, tasks: number): void {
    const wakeUp = { left: tasks };
    for (let i = 0; i < tasks && this.wakeNext(workspaceId, wakeUp); i++);
  }

  /** Wakes everybody: nobody knows what was missed. */
  wakeAll(): void {
    for (const waiters of this.waiting.values()) {
      for (const waiter of waiters) waiter.wake();
    }
  }

  join(workspaceId: string): ClaimWaiter {
    return new ClaimWaiter(workspaceId, this);
  }

  /** @internal */
  add(workspaceId: string, waiter: Waiting): void {
    const waiters = this.waiting.get(workspaceId) ?? new Set();
    this.waiting.set(workspaceId, waiters.add(waiter));
  }

  /** @internal */
  remove(workspaceId: string, waiter: Waiting): void {
    const waiters = this.waiting.get(workspaceId);
    if (waiters?.delete(waiter) && waiters.size === 0) this.waiting.delete(workspaceId);
  }

  /** @internal Whether somebody was left to wake. */
  wakeNext(workspaceId: string, wakeUp: WakeUp): boolean {
    for (const waiter of this.waiting.get(workspaceId) ?? []) {
      if (waiter.askedBy === wakeUp) continue;
      waiter.askedBy = wakeUp;
      waiter.wake();
      return true;
    }
    return false;
  }
}

/** A claim in the line; it must `leave` in the end. */
export class ClaimWaiter {
  private rung = false;
  private ring: (() => void) | null = null;
  private readonly waiting: Waiting = { wake: () => this.onWakeUp(), askedBy: null };

  constructor(
    private readonly workspaceId: string,
    private readonly line: ClaimWaiters,
  ) {
    line.add(workspaceId, this.waiting);
  }

  /**
   * Resolves at the next wake-up, at once if there was one since the last call, or after `ms`.
   *
   * @param signal ends the wait early: the client has gone, or the server shuts down
   */
  next(ms: number, signal: AbortSignal): Promise<void> {
    if (this.rung || signal.aborted) {
      this.rung = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        this.ring = null;
        this.rung = false;
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener('abort', done, { once: true });
      this.ring = done;
    });
  }

  /** It was woken and had no use for it: the next in the line is. */
  passOn(): void {
    if (this.waiting.askedBy) this.line.wakeNext(this.workspaceId, this.waiting.askedBy);
  }

  /** Ends a wait that is under way, too. */
  leave(): void {
    this.line.remove(this.workspaceId, this.waiting);
    this.ring?.();
  }

  private onWakeUp(): void {
    this.rung = true;
    this.ring?.();
  }
}
