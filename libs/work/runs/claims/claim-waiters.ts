/** An agent that waits for a task. */
interface Waiting {
  /** Tells the agent that a task may be ready. */
  wake: () => void;
  /** The wake-up that this agent was asked by and has not answered. */
  askedBy: WakeUp | null;
}

/**
 * Some tasks became ready at once: the agents that were asked. There are as many as tasks, and an
 * agent that takes none is replaced by the next.
 */
type WakeUp = Set<Waiting>;

/**
 * The agents of this process whose claim found nothing and that wait for the next task, by
 * workspace, first come first served.
 *
 * As many are woken as tasks became ready: a thousand idle agents must not query the database for
 * one task. A woken agent without use for the task (other capabilities, or another agent was
 * faster) wakes the next.
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
    const wakeUp: WakeUp = new Set();
    for (let i = 0; i < tasks && this.wakeNext(workspaceId, wakeUp); i++);
  }

  /** Wakes every waiting agent, since nobody knows which wake-ups were missed. */
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

  /**
   * @internal Asks the first agent that has no other question to answer. If there is none, one of
   *   the others looks again: it may have looked before this task was ready.
   * @returns whether a waiting agent was woken
   */
  wakeNext(workspaceId: string, wakeUp: WakeUp): boolean {
    let next: Waiting | undefined;
    for (const waiter of this.waiting.get(workspaceId) ?? []) {
      if (wakeUp.has(waiter)) continue;
      next ??= waiter;
      if (waiter.askedBy !== null) continue;
      next = waiter;
      break;
    }
    if (!next) return false;
    wakeUp.add(next);
    next.askedBy = wakeUp;
    next.wake();
    return true;
  }
}

/** A claim in the line. It must `leave` in the end. */
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

  /** The agent was woken and took nothing: wakes the next in the line. */
  passOn(): void {
    const { askedBy } = this.waiting;
    this.waiting.askedBy = null;
    if (askedBy) this.line.wakeNext(this.workspaceId, askedBy);
  }

  /** Also ends a wait in progress, and passes on a wake-up that came during the last claim. */
  leave(): void {
    this.line.remove(this.workspaceId, this.waiting);
    if (this.rung) this.passOn();
    this.ring?.();
  }

  private onWakeUp(): void {
    this.rung = true;
    this.ring?.();
  }
}
