import type { Writable } from 'node:stream';
import type { AddedFile, RuntimeSession, SessionExit } from '../drivers/driver.js';
import { addFileBelow } from '../files/add-file-below.js';
import { appendSignal, type SessionSignal } from '../files/signals-file.js';
import { killTree, type ProcessTree, signalTree } from './process-tree.js';
import type { SessionFolder } from './session-folder.js';

export interface SessionParts {
  tree: ProcessTree;
  folder: SessionFolder;
  startedAt: string;
  /** Resolves when no process of the session is left. */
  exit: Promise<SessionExit>;
  /** Its open input. */
  input?: Writable;
}

/** A session of this machine. This process or a shim follows it. */
export class ProcessSession implements RuntimeSession {
  readonly id: string;
  readonly pid: number | null;
  readonly startedAt: string;
  readonly exit: Promise<SessionExit>;
  private forceAt = Infinity;
  private forceTimer: NodeJS.Timeout | undefined;
  /**
   * Every process of the session has ended. Another process can have the number of its group now.
   */
  private isOver = false;

  constructor(private readonly parts: SessionParts) {
    const { tree, startedAt, exit } = parts;
    this.id = tree.id;
    this.pid = tree.leader?.pid ?? null;
    this.startedAt = startedAt;
    this.exit = exit.finally(() => {
      this.isOver = true;
      clearTimeout(this.forceTimer);
    });
  }

  stop(graceMs: number): void {
    const { tree } = this.parts;
    const forceAt = performance.now() + graceMs;
    if (this.isOver || forceAt >= this.forceAt) return;
    if (this.forceAt === Infinity) signalTree(tree, 'SIGTERM');
    this.forceAt = forceAt;
    clearTimeout(this.forceTimer);
    this.forceTimer = setTimeout(() => void killTree(tree), graceMs);
  }

  notify(signal: SessionSignal): void {
    if (!this.isOver) appendSignal(this.parts.folder.signalsFile, signal);
  }

  write(text: string): void {
    const { input } = this.parts;
    if (input?.writable === true) input.write(text);
  }

  endInput(): void {
    this.parts.input?.end();
  }

  async addFiles(files: readonly AddedFile[]): Promise<void> {
    const { root } = this.parts.folder;
    for (const { name, content } of files) await addFileBelow(root, name, content);
  }

  lastActivityAt(): string {
    return this.parts.folder.activityAt()?.toISOString() ?? this.startedAt;
  }
}
