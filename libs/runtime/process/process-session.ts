import { setTimeout as delay } from 'node:timers/promises';
import type { RuntimeSession, SessionExit } from '../runtime.js';
import { appendSignal, type SessionSignal } from '../signals-file.js';
import { killTree, type ProcessRef, type ProcessTree, signalTree } from './process-tree.js';
import type { Ended, SessionFolder } from './session-folder.js';

/** Several empty looks: a process may be forked just now and not carry its mark yet. */
const EMPTY_LOOKS = 4;
const POLL_MS = 100;

export interface SessionParts {
  id: string;
  folder: SessionFolder;
  leader: ProcessRef | undefined;
  startedAt: string;
  /** Resolves when the keeper has ended, or has written down how the session did. */
  over: Promise<unknown>;
}

/** A session that a keeper follows. */
export class ProcessSession implements RuntimeSession {
  readonly id: string;
  readonly pid: number | null;
  readonly startedAt: string;
  readonly exit: Promise<SessionExit>;
  private readonly tree: ProcessTree;
  private forceAt = Infinity;
  private forceTimer: NodeJS.Timeout | undefined;
  private isOver = false;

  constructor(private readonly parts: SessionParts) {
    this.id = parts.id;
    this.pid = parts.leader?.pid ?? null;
    this.startedAt = parts.startedAt;
    this.tree = { id: parts.id, leader: parts.leader };
    this.exit = this.follow();
  }

  stop(graceMs: number): void {
    const forceAt = performance.now() + graceMs;
    if (this.isOver || forceAt >= this.forceAt) return;
    if (this.forceAt === Infinity) signalTree(this.tree, 'SIGTERM');
    this.forceAt = forceAt;
    clearTimeout(this.forceTimer);
    this.forceTimer = setTimeout(() => void killTree(this.tree), graceMs);
  }

  tell(signal: SessionSignal): void {
    if (!this.isOver) appendSignal(this.parts.folder.signalsFile, signal);
  }

  lastActivityAt(): Promise<string> {
    const at = this.parts.folder.activityAt();
    return Promise.resolve(at?.toISOString() ?? this.startedAt);
  }

  private async follow(): Promise<SessionExit> {
    await this.parts.over;
    const exit = await concludeSession(this.parts.folder, this.tree);
    this.isOver = true;
    clearTimeout(this.forceTimer);
    return exit;
  }
}

/** How a session ended whose keeper is gone. What lives of it without a keeper is killed. */
export async function concludeSession(
  folder: SessionFolder,
  tree: ProcessTree,
): Promise<SessionExit> {
  const ended = folder.readEnded();
  if (ended?.kind === 'exited') return toExit(ended);
  await killTree(tree, EMPTY_LOOKS);
  const endedAt = new Date().toISOString();
  return { exitCode: null, signal: null, oomKilled: null, lost: true, output: '', endedAt };
}

/** Looks until a keeper that is nobody's child here has ended or has written down the end. */
export async function untilOver(folder: SessionFolder): Promise<void> {
  const claim = folder.readClaim();
  while (!folder.hasEnded() && claim !== undefined && folder.keeperLives(claim)) {
    await delay(POLL_MS);
  }
}

export function toExit(ended: Extract<Ended, { kind: 'exited' }>): SessionExit {
  const { exitCode, signal, oomKilled, output, endedAt } = ended;
  return { exitCode, signal, oomKilled, lost: false, output, endedAt };
}
