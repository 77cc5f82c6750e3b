import { isUtf8 } from 'node:buffer';
import type { LimitFunction } from 'p-limit';
import { hasCode, type HostLog, messageOf, retrying } from '#lib/agent-host';
import { mediaTypeOf, withAnySignal } from '#lib/kernel';
import { listFilesBelow, readFileBelow, type Redactor } from '#lib/session-runtime';
import type { DroverApi } from '../api/drover-api.js';
import { DIFF } from '../code/code-host.js';
import type { Patience } from './patience.js';
import type { RunFolder } from './run-folder.js';

const MIB = 1_048_576;
/** The maximum of one file, and of the files of the working folder together. */
export const MAX_BYTES = 50 * MIB;
/** The server keeps at most this many files of a run. */
export const MAX_FILES = 1_000;
/** Secrets are hidden in texts up to this size. The server refuses larger ones with secrets. */
const MAX_TEXT = 4 * MIB;
/** Folders of the working folder that programs fill and can fill again. */
const MADE_AGAIN = new Set(['.git', 'node_modules', '__pycache__']);
const SHOWN_PROBLEMS = 10;

export interface KeptFilesParts {
  api: Pick<DroverApi, 'saveArtifact'>;
  runId: string;
  folder: RunFolder;
  /** Hides the secrets of the run. It is made for the first file. */
  redactor: () => Redactor;
  /** Bounds the files that this worker holds in memory. */
  limit: LimitFunction;
  /** True: the working folder is one of a repository, whose files are in its commits. */
  isCode?: boolean;
  log: HostLog;
  /** Tells the author of the work. */
  warn: (message: string) => void;
}

/** The time for the files of a run. */
type FilesTime = Pick<Patience, 'signal' | 'wait' | 'begin' | 'stop'>;

/** The run has no files for this server. */
const LOST = ['stale_run', 'run_not_found', 'agent_terminated', 'route_not_found'] as const;
/** The server has no room for further files. */
const FULL = ['artifacts_disabled', 'artifact_quota', 'artifact_limit'] as const;

/** The server keeps no further file of the run. */
class KeepsNothing extends Error {}

/** The server failed with this file, and will fail again. */
class Broken extends Error {}

/**
 * Sends the files of a run to the server after its session has ended: those in its folder of
 * artifacts, then those of its working folder. A file that cannot be kept is named in the log of
 * the run.
 */
export class KeptFiles {
  private readonly problems: string[] = [];
  /** The names of files in which secrets were hidden. */
  private readonly changed: string[] = [];
  private readonly sent = new Set<string>();
  private madeRedactor: Redactor | undefined;
  private time: FilesTime | undefined;
  /** The session put files into `$DROVER_ARTIFACTS`. */
  private isExpected = false;

  constructor(private readonly parts: KeptFilesParts) {}

  /**
   * Never rejects. The signal ends it early. Files for which there is no time are only named.
   */
  async send(signal: AbortSignal, time: FilesTime): Promise<void> {
    const { folder, log } = this.parts;
    this.time = time;
    try {
      await withAnySignal([signal, time.signal], async (until) => {
        await this.sendArtifacts(folder.artifacts, until);
        if (this.parts.isCode !== true) await this.sendWork(folder.work, until);
      });
    } catch (error) {
      if (!(error instanceof KeepsNothing)) log.warn('Files not kept', { error: messageOf(error) });
    } finally {
      time.stop();
    }
    this.report();
  }

  private async sendArtifacts(folder: string, signal: AbortSignal): Promise<void> {
    const { names, isCut } = await listFilesBelow(folder, { most: MAX_FILES });
    if (isCut) this.problems.push(`only ${MAX_FILES} files of a run are kept`);
    this.isExpected = names.length > 0;
    for (const name of names) {
      if (this.parts.isCode === true && name === DIFF) {
        this.problems.push(`${name} has the name of the diff that Drover makes`);
        continue;
      }
      await this.sendFile(folder, name, { most: MAX_BYTES, signal });
    }
  }

  private async sendWork(folder: string, signal: AbortSignal): Promise<void> {
    const most = MAX_FILES - this.sent.size;
    const { names, isCut } = await listFilesBelow(folder, { most, leaveOut: isOfPrograms });
    if (isCut) this.problems.push(`only ${MAX_FILES} files of a run are kept`);
    let left = MAX_BYTES;
    for (const name of names) {
      if (!this.sent.has(name)) left -= await this.sendFile(folder, name, { most: left, signal });
    }
  }

  /** @returns the size of the file, 0 if it was not sent */
  private async sendFile(
    folder: string,
    name: string,
    { most, signal }: { most: number; signal: AbortSignal },
  ): Promise<number> {
    const { limit } = this.parts;
    this.time?.wait();
    return limit(async () => {
      if (signal.aborted) return this.leaveOut(name);
      const file = await readFileBelow(folder, name, most);
      if (file.kind === 'unusable') {
        this.problems.push(`${name} ${file.why}`);
        return 0;
      }
      const { content, isText, isChanged } = this.clean(file.bytes);
      this.time?.begin(content.length);
      await this.deliver({ name, content, type: mediaTypeOf(name, isText) }, signal);
      if (isChanged && this.sent.has(name)) this.changed.push(name);
      return file.bytes.length;
    });
  }

  private async deliver(
    file: Parameters<DroverApi['saveArtifact']>[1],
    signal: AbortSignal,
  ): Promise<void> {
    const { api, runId, log } = this.parts;
    try {
      await retrying('artifact', () => api.saveArtifact(runId, file, signal).catch(unlessBroken), {
        log,
        signal,
      });
      this.sent.add(file.name);
    } catch (error) {
      if (hasCode(error, ...LOST)) throw new KeepsNothing(messageOf(error));
      if (signal.aborted) return void this.leaveOut(file.name);
      // Nobody misses files of a working folder in an installation without artifacts.
      const isMissed = this.isExpected || !hasCode(error, 'artifacts_disabled');
      if (isMissed) this.problems.push(`${file.name}: ${messageOf(error)}`);
      if (hasCode(error, ...FULL)) throw new KeepsNothing(messageOf(error));
    }
  }

  private leaveOut(name: string): 0 {
    this.problems.push(`${name}: the files took too long`);
    return 0;
  }

  private clean(bytes: Buffer): {
    content: Uint8Array<ArrayBuffer>;
    isText: boolean;
    isChanged?: boolean;
  } {
    const isText = isUtf8(bytes) && !bytes.includes(0);
    if (!isText || bytes.length > MAX_TEXT) return { content: new Uint8Array(bytes), isText };
    const text = bytes.toString();
    const shown = this.redactor().redactFile(text);
    return { content: Buffer.from(shown), isText, isChanged: shown !== text };
  }

  private redactor(): Redactor {
    this.madeRedactor ??= this.parts.redactor();
    return this.madeRedactor;
  }

  private report(): void {
    this.warnOf('A file was not kept', this.problems);
    this.warnOf('Secrets were hidden in a kept file', this.changed);
  }

  private warnOf(what: string, files: string[]): void {
    const { warn } = this.parts;
    for (const file of files.slice(0, SHOWN_PROBLEMS)) warn(`${what}: ${file}`);
    const more = files.length - SHOWN_PROBLEMS;
    if (more > 0) warn(`${what}: ${more} more`);
  }
}

/** @throws Broken instead of an error of the server that would be retried */
export function unlessBroken(error: unknown): never {
  throw hasCode(error, 'internal_error', 'request_timeout') ? new Broken(messageOf(error)) : error;
}

/**
 * Hidden files at the top of the working folder are those of programs, since it is also their home
 * (HOME).
 */
export function isOfPrograms(name: string): boolean {
  const last = name.split('/').at(-1) ?? '';
  return MADE_AGAIN.has(last) || (name === last && name.startsWith('.'));
}
