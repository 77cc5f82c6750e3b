import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FinalReport, JsonObject } from '../api/types.js';
import { parseObject } from '../executor/process/line-protocol.js';

/** Bytes of a result or checkpoint file; the server takes bodies of up to 1 MiB. */
export const MAX_FILE_BYTES = 768 * 1024;

/** The folder of one run. It is readable by the worker's user only: inputs hold secrets. */
export class RunFolder {
  readonly root: string;
  /** Where the command runs; its home too. */
  readonly work: string;
  readonly tmp: string;
  readonly inputFile: string;
  readonly outputFile: string;
  readonly checkpointFile: string;
  readonly signalsFile: string;
  private readonly reportFile: string;

  constructor(workDir: string, runId: string) {
    this.root = join(workDir, runId);
    this.work = join(this.root, 'work');
    this.tmp = join(this.root, 'tmp');
    this.inputFile = join(this.root, 'input.json');
    this.outputFile = join(this.root, 'output.json');
    this.checkpointFile = join(this.root, 'checkpoint.json');
    this.signalsFile = join(this.root, 'signals.jsonl');
    this.reportFile = join(this.root, 'final-report.json');
  }

  async create(input: JsonObject, checkpoint: JsonObject): Promise<void> {
    await mkdir(this.work, { recursive: true, mode: 0o700 });
    await mkdir(this.tmp, { recursive: true, mode: 0o700 });
    await writePrivate(this.inputFile, input);
    await writePrivate(this.checkpointFile, checkpoint);
    await writeFile(this.signalsFile, '', { mode: 0o600 });
  }

  /** @returns undefined when there is none, or it is not readable as a JSON object (yet) */
  async readCheckpoint(): Promise<JsonObject | undefined> {
    const file = await readJsonFile(this.checkpointFile);
    return file.kind === 'object' ? file.value : undefined;
  }

  /** Keeps what could not be delivered, for a next life of the worker. */
  async keepReport(report: FinalReport): Promise<void> {
    await mkdir(this.root, { recursive: true, mode: 0o700 });
    await writePrivate(this.reportFile, report);
  }

  async readReport(): Promise<FinalReport | undefined> {
    const file = await readJsonFile(this.reportFile, Infinity);
    return file.kind === 'object' ? (file.value as unknown as FinalReport) : undefined;
  }

  async remove(): Promise<void> {
    await rm(this.root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
}

export type JsonFile =
  { kind: 'absent' } | { kind: 'object'; value: JsonObject } | { kind: 'unusable'; why: string };

export async function readJsonFile(path: string, maxBytes = MAX_FILE_BYTES): Promise<JsonFile> {
  try {
    const { size } = await stat(path);
    if (size > maxBytes) return { kind: 'unusable', why: `has more than ${maxBytes} bytes` };
    const text = await readFile(path, 'utf8');
    if (text.trim() === '') return { kind: 'absent' };
    const value = parseObject(text);
    return value === null
      ? { kind: 'unusable', why: 'is no JSON object' }
      : { kind: 'object', value };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT'
      ? { kind: 'absent' }
      : { kind: 'unusable', why: code ?? 'is unreadable' };
  }
}

async function writePrivate(path: string, value: object): Promise<void> {
  await writeFile(path, JSON.stringify(value), { mode: 0o600 });
}
