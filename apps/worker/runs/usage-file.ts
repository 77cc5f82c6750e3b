import { appendFileSync, closeSync, ftruncateSync, openSync, rmSync } from 'node:fs';
import { type HostLog, messageOf } from '#lib/agent-host';
import { readRegularFile } from '#lib/session-runtime';
import type { UsageReport } from '../api/types.js';
import { readUsage } from '../execution/usage-line.js';

/** Several times what may wait. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * The reports of usage of a run that the server has perhaps not taken yet, a line each. Written before they are sent,
 * so that whatever ends this process, its next life can send them: with their ids, they count once.
 */
export class UsageFile {
  private descriptor: number | undefined;
  private failed = false;

  constructor(
    private readonly path: string,
    private readonly log: HostLog,
  ) {}

  add(reports: readonly UsageReport[]): void {
    this.attempt(() => {
      this.descriptor ??= this.create();
      appendFileSync(this.descriptor, reports.map((one) => `${JSON.stringify(one)}\n`).join(''));
    });
  }

  /** All are delivered. */
  clear(): void {
    const { descriptor } = this;
    if (descriptor !== undefined) this.attempt(() => ftruncateSync(descriptor, 0));
  }

  close(): void {
    const { descriptor } = this;
    this.descriptor = undefined;
    if (descriptor !== undefined) this.attempt(() => closeSync(descriptor));
  }

  /** What an earlier life has left; a line that it could not finish is passed over. */
  async read(): Promise<UsageReport[]> {
    const file = await readRegularFile(this.path, MAX_BYTES);
    if (file.kind === 'unusable') this.tell(`The file ${file.why}`);
    if (file.kind !== 'text') return [];
    const reports = file.text.split('\n').flatMap((line) => readLine(line) ?? []);
    return reports.filter((report): report is UsageReport => report.id !== undefined);
  }

  // Never what stands there: the run's processes may have put a pipe or a link in its place.
  private create(): number {
    rmSync(this.path, { force: true });
    return openSync(this.path, 'ax', 0o600);
  }

  /** Without the file they are still delivered, unless the worker ends before. */
  private attempt(write: () => void): void {
    try {
      write();
    } catch (error) {
      this.tell(messageOf(error));
    }
  }

  private tell(reason: string): void {
    if (!this.failed) this.log.warn('The usage of a run could not be kept', { reason });
    this.failed = true;
  }
}

function readLine(line: string) {
  try {
    return readUsage(JSON.parse(line));
  } catch {
    return null;
  }
}
