import { setTimeout as delay } from 'node:timers/promises';
import type { LimitFunction } from 'p-limit';
import { hasCode, isCurable, type Log, messageOf, retrying } from '#lib/agent-host';
import type { AgentKind } from '#lib/agent-kinds';
import { Doorbell } from '#lib/kernel';
import { type CallsUpTo, NO_FILES, packState, StateReader } from '#lib/agent-sessions';
import type { DroverApi } from '../api/drover-api.js';

/** The least time between two looks at the files. */
const LOOK_MS = 1_000;
/** The time for which it rests after it kept a state, in times of that work. */
const REST = 20;
/** A state that took no longer is small: it is kept after each tool call. */
const SMALL_MS = 250;
/** With so many tool calls without a kept state, a large one is kept too. A prompt can name more. */
const MAX_BEHIND = 25;
/** The time for the program to write its files after it has reported a result. */
const WRITE_MS = 100;
/** The time for the last state of a session. The end of the run is reported after it. */
const LAST_MS = 15_000;

/** The server will take no state of the run. */
const CLOSED = [
  'stale_run',
  'run_not_found',
  'agent_terminated',
  'route_not_found',
  'artifacts_disabled',
] as const;

export interface StateKeeperParts {
  api: Pick<DroverApi, 'saveAgentState'>;
  runId: string;
  taskId: string;
  kind: Pick<AgentKind, 'name' | 'stateFiles'>;
  /** The folder of the session on this machine. */
  folder: string;
  /** The path of its working folder, as the session sees it. */
  workDir: string;
  /** True: commits keep the files of the working folder. */
  isCode?: boolean;
  /** The tool calls whose results the program's files surely have. */
  upTo: () => CallsUpTo;
  /** Bounds the states that this worker holds in memory. */
  limit: LimitFunction;
  log: Log;
  /** Tells the author of the work. */
  warn: (message: string) => void;
}

/**
 * Keeps the state of an agent at the server while its session runs: each time the files of its
 * conversation have changed, and at the end. A later run begins with the last state.
 */
export class StateKeeper {
  private readonly reader: StateReader;
  private readonly closing = new AbortController();
  private conversation: string | undefined;
  private following: Promise<void> | undefined;
  /** The mark of the kept conversation. */
  private kept: string | undefined;
  private isOff = false;
  private withoutWork = false;
  private readonly warned = new Set<string>();
  /** The time of the last state. */
  private took = 0;
  /** The number of tool calls that have finished since then. */
  private behind = 0;
  /** Ends the rest early. */
  private readonly bell = new Doorbell();

  constructor(private readonly parts: StateKeeperParts) {
    this.reader = new StateReader(parts.folder, parts.kind);
  }

  /** The conversation exists, or another one has replaced it. */
  begin(conversation: string): void {
    if (conversation !== this.conversation) this.kept = undefined;
    this.conversation = conversation;
    this.following ??= this.follow();
  }

  /** A tool call has finished. */
  finished(): void {
    this.behind += 1;
    if (this.took <= SMALL_MS || this.behind >= MAX_BEHIND) this.bell.ring();
  }

  /** The program has refused the conversation. Its kept state stays as it is. */
  forget(): void {
    this.conversation = undefined;
  }

  /**
   * Keeps the last state. No process of the session is left.
   *
   * @param why the reason why nobody can resume the conversation
   */
  async close(why?: string): Promise<void> {
    this.closing.abort();
    this.bell.ring();
    await this.following;
    const signal = AbortSignal.timeout(LAST_MS);
    const { log } = this.parts;
    const last = async (): Promise<void> => {
      const before = this.withoutWork;
      await this.keep(signal, why);
      if (this.withoutWork !== before) await this.keep(signal, why);
    };
    await retrying('agent state', last, { log, signal }).catch((error: unknown) =>
      this.failed(error),
    );
  }

  private async follow(): Promise<void> {
    const { signal } = this.closing;
    while (!signal.aborted && !this.isOff) {
      const from = performance.now();
      const isKept = await this.keep(signal).catch((error: unknown) => {
        // The end breaks this one off, and keeps the last one.
        if (!signal.aborted) this.failed(error);
      });
      if (isKept !== false) this.took = performance.now() - from;
      const pause = isKept === false ? LOOK_MS : Math.max(LOOK_MS, this.took * REST);
      if (!(await this.bell.wait(pause))) continue;
      await delay(WRITE_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** @returns false if nothing has changed */
  private async keep(signal: AbortSignal, why?: string): Promise<boolean> {
    const { conversation } = this;
    if (this.isOff || conversation === undefined) return false;
    const mark = await this.reader.mark(conversation);
    if (why === undefined && mark === this.kept) return false;
    // The program has not begun it. A rest after this state would delay the first useful one.
    if (mark === NO_FILES && !this.closing.signal.aborted) return false;
    return this.parts.limit(async () => {
      if (signal.aborted) return false;
      this.behind = 0;
      // Before the conversation is read: it can only have more than that.
      const upTo = this.parts.upTo();
      const read = await this.reader.conversation(conversation);
      if (read === undefined) return false;
      // After the conversation: each change that it tells is in the folder.
      const { files, lost } = await this.work();
      const { taskId, kind, workDir, log } = this.parts;
      const packed = await packState({
        taskId,
        kind: kind.name,
        conversation: why === undefined ? conversation : null,
        ...(why !== undefined && { why }),
        workDir,
        upTo,
        files: [...(why === undefined ? read.files : []), ...files],
        lost,
      });
      if (!(await this.isTaken(packed, signal))) return true;
      this.kept = read.mark;
      if (lost.length > 0)
        this.warn('Not all files of the working folder are kept for a later run');
      log.debug('State of the agent kept', { conversation: read.size, bytes: packed.length });
      return true;
    });
  }

  /** @returns false if it is too large with the working folder, and comes again without it */
  private async isTaken(packed: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<boolean> {
    try {
      await this.parts.api.saveAgentState(this.parts.runId, packed, signal);
      return true;
    } catch (error) {
      if (!hasCode(error, 'artifact_too_large') || this.withoutWork) throw error;
      this.withoutWork = true;
      return false;
    }
  }

  private work(): ReturnType<StateReader['work']> {
    if (this.parts.isCode === true) return Promise.resolve({ files: [], lost: [] });
    return this.withoutWork
      ? Promise.resolve({ files: [], lost: ['all files'] })
      : this.reader.work();
  }

  private failed(error: unknown): void {
    if (hasCode(error, ...CLOSED)) this.isOff = true;
    else if (!isCurable(error))
      this.warn(`The state of the agent was not kept: ${messageOf(error)}`);
  }

  private warn(message: string): void {
    if (this.warned.has(message)) return;
    this.warned.add(message);
    this.parts.warn(message);
    this.parts.log.warn(message);
  }
}
