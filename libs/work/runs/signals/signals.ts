import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnModuleDestroy,
} from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { CONFIG, type Config } from '#lib/config';
import { Database } from '#lib/database';
import { Revocations } from '#lib/identity';
import { type AgentCaller, agentKey, DroverError, growingTo, withAnySignal } from '#lib/kernel';
import { WakeUps } from '#lib/valkey';
import { noteConflicts } from '../store/conflicts.sql.js';
import type { RunMessageView } from '../domain/run-message.js';
import { type Heard, RunMessages } from '../messages/run-messages.js';
import { runSignals, type SignalRow } from './run-signals.sql.js';
import { hasNewSignals, hasUnsent, warnedIn, signalKey } from './new-signals.js';

export interface RunSignal {
  runId: string;
  /** `warn`: the run goes on. The reason `hung` aborts it unless its agent reports progress soon. */
  action: 'stop' | 'pause' | 'warn';
  reason: string;
  /** A pause that waits for the current turn of a coding agent. */
  afterTurn: boolean;
  /** Seconds between the polite and the final signal to the process. */
  graceSeconds: number;
}

export interface SignalsAnswer {
  /** True if the agent must take no new work, and leave when it has finished. */
  drain: boolean;
  runs: RunSignal[];
  /** Messages that the agent does not have yet, in their order. */
  messages: RunMessageView[];
}

export interface SignalsRequest {
  agent: AgentCaller;
  /** Absent: all runs that it holds, including runs that it claims during the wait. */
  runIds?: readonly string[];
  /** Absent: the agent passes no messages on. */
  heard?: readonly Heard[];
  waitMs: number;
}

interface Look extends SignalsAnswer {
  /** Milliseconds until the next deadline of a run. */
  nextDeadlineMs: number;
}

// A wake-up can get lost. An agent still learns of a cancellation within this time.
const LOOK_AGAIN_MS = 5_000;
const REMEMBERED_AGENTS = 100_000;
const NOTHING: ReadonlySet<string> = new Set();

/** Tells agents at once which runs to stop and which to pause. */
@Injectable()
export class Signals implements OnModuleDestroy, BeforeApplicationShutdown {
  private readonly listeners = new Map<string, Set<() => void>>();
  private readonly closing = new AbortController();
  /** The latest answers to agents that do not name their runs, by `agentKey`. */
  private readonly sent = new LRUCache<string, ReadonlySet<string>>(growingTo(REMEMBERED_AGENTS));
  private readonly unsubscribe: (() => void)[];

  constructor(
    private readonly database: Database,
    private readonly revocations: Revocations,
    private readonly wakeUps: WakeUps,
    private readonly messages: RunMessages,
    @Inject(CONFIG) private readonly config: Config,
  ) {
    this.unsubscribe = [
      wakeUps.onSignals((agentId) => this.ring(agentId)),
      wakeUps.onResync(() => [...this.listeners.keys()].forEach((agentId) => this.ring(agentId))),
    ];
  }

  /**
   * Answers at once if there are signals, otherwise when there are, or empty after `waitMs`. A
   * warning ends the wait in which it comes, and is repeated in later answers.
   *
   * @throws DroverError `agent_not_found`, `token_revoked` as soon as the agent's is
   */
  wait(request: SignalsRequest, gone: AbortSignal): Promise<SignalsAnswer> {
    return this.revocations.heeding(request.agent, (revoked) =>
      withAnySignal([gone, this.closing.signal, revoked], (stop) => this.waitUntil(request, stop)),
    );
  }

  beforeApplicationShutdown(): void {
    this.closing.abort();
  }

  onModuleDestroy(): void {
    for (const stop of this.unsubscribe) stop();
  }

  private async waitUntil(request: SignalsRequest, stop: AbortSignal): Promise<SignalsAnswer> {
    const deadline = performance.now() + request.waitMs;
    let warnedBefore: ReadonlySet<string> | undefined;
    for (;;) {
      // Listening starts before the look, so no signal is missed in between.
      const bell = this.listen(request.agent.agentId, stop);
      try {
        this.revocations.refuse(request.agent);
        const { drain, runs, messages, nextDeadlineMs } = await this.look(request);
        warnedBefore ??= warnedIn(runs);
        const isNew =
          request.runIds === undefined
            ? hasUnsent(runs, this.sent.get(agentKey(request.agent)) ?? NOTHING)
            : hasNewSignals(runs, warnedBefore, request.heard);
        const left = deadline - performance.now();
        if (drain || isNew || messages.length > 0 || left <= 0 || stop.aborted) {
          if (request.runIds === undefined) this.noteTold(agentKey(request.agent), runs);
          return { drain, runs, messages };
        }
        await bell.rung(Math.min(left, nextDeadlineMs, LOOK_AGAIN_MS));
      } finally {
        bell.leave();
      }
    }
  }

  private async look({ agent, runIds, heard = [] }: SignalsRequest): Promise<Look> {
    const { workspaceId, agentId } = agent;
    const params = [workspaceId, agentId, runIds ?? [], runIds === undefined];
    const [rows, messages] = await Promise.all([
      this.database.tenant(workspaceId).rows(runSignals, params),
      this.messages.waiting(agent, heard),
    ]);
    const lifecycle = rows[0]?.lifecycle;
    if (lifecycle === undefined) throw new DroverError('agent_not_found');
    await this.noteConflicts(workspaceId, agentId, rows);
    const runs = rows.flatMap(({ run_id: runId, action, reason, after_turn: afterTurn }) =>
      runId && action
        ? [
            {
              runId,
              action,
              reason: reason ?? action,
              afterTurn: action === 'pause' && afterTurn,
              graceSeconds: this.config.tasks.cancelGraceSeconds,
            },
          ]
        : [],
    );
    const timeLeft = rows.flatMap(({ time_left_ms: ms }) => (ms !== null && ms > 0 ? [ms] : []));
    return {
      drain: lifecycle === 'DRAINING' || lifecycle === 'TERMINATED',
      runs,
      messages,
      nextDeadlineMs: Math.min(...timeLeft.map((ms) => ms + 1)),
    };
  }

  private async noteConflicts(
    workspaceId: string,
    agentId: string,
    rows: readonly SignalRow[],
  ): Promise<void> {
    const runs = rows.flatMap((row) => (row.in_conflict && row.run_id ? [row.run_id] : []));
    if (runs.length === 0) return;
    await this.database.tenant(workspaceId).rows(noteConflicts, [workspaceId, runs, agentId]);
    this.wakeUps.coordinator();
  }

  private noteTold(key: string, runs: readonly RunSignal[]): void {
    if (runs.length === 0) this.sent.delete(key);
    else this.sent.set(key, new Set(runs.map(signalKey)));
  }

  private ring(agentId: string): void {
    for (const listener of this.listeners.get(agentId) ?? []) listener();
  }

  private listen(agentId: string, stop: AbortSignal) {
    let resolve: () => void = () => undefined;
    const ringing = new Promise<void>((done) => (resolve = done));
    const listener = () => resolve();
    const listeners = this.listeners.get(agentId) ?? new Set();
    this.listeners.set(agentId, listeners.add(listener));
    stop.addEventListener('abort', listener, { once: true });
    let timer: NodeJS.Timeout | undefined;
    return {
      rung: (ms: number) => {
        timer = setTimeout(listener, ms);
        return ringing;
      },
      leave: () => {
        clearTimeout(timer);
        stop.removeEventListener('abort', listener);
        listeners.delete(listener);
        if (listeners.size === 0) this.listeners.delete(agentId);
      },
    };
  }
}
