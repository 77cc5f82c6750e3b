import { join } from 'node:path';
import { readRegularFile } from '#lib/session-runtime';
import type { JsonObject } from '#lib/agent-host';
import { parseObject } from '../execution/line-protocol.js';

/**
 * The maximum of a result or checkpoint file, in bytes. The server accepts bodies of up to 1 MiB.
 */
export const MAX_FILE_BYTES = 768 * 1024;
/**
 * Levels of arrays and objects in such a file. The server accepts 64 levels in a body, and the
 * file's content is a member of the body.
 */
const MAX_LEVELS = 63;
/**
 * The maximum of a file that the worker wrote, in bytes: it can contain several of the files above.
 */
export const MAX_OWN_FILE_BYTES = 16 * 1024 * 1024;

/** The files of a run. */
export const FILES = {
  input: 'input.json',
  output: 'output.json',
  checkpoint: 'checkpoint.json',
  artifacts: 'artifacts',
} as const;

/** The folder of one run. Only the worker's user can read it: inputs contain secrets. */
export class RunFolder {
  readonly root: string;
  readonly inputFile: string;
  readonly outputFile: string;
  readonly checkpointFile: string;
  /** The folder whose files are kept. */
  readonly artifacts: string;
  /** The folder in which a session starts that chooses none. */
  readonly work: string;

  constructor(workDir: string, runId: string) {
    this.root = join(workDir, runId);
    this.inputFile = join(this.root, FILES.input);
    this.outputFile = join(this.root, FILES.output);
    this.checkpointFile = join(this.root, FILES.checkpoint);
    this.artifacts = join(this.root, FILES.artifacts);
    this.work = join(this.root, 'work');
  }

  /**
   * @returns undefined if there is none, or if it is not yet a readable JSON object
   */
  async readCheckpoint(): Promise<JsonObject | undefined> {
    const file = await readJsonFile(this.checkpointFile);
    return file.kind === 'object' ? file.value : undefined;
  }
}

export type JsonFile =
  | { kind: 'absent' }
  | { kind: 'object'; value: JsonObject }
  | { kind: 'unusable'; why: string };

/** Reads a file that the run's processes can write, or replace by anything. */
export async function readJsonFile(path: string, maxBytes = MAX_FILE_BYTES): Promise<JsonFile> {
  const file = await readRegularFile(path, maxBytes);
  if (file.kind !== 'text') return file;
  if (file.text.trim() === '') return { kind: 'absent' };
  const value = parseObject(file.text);
  if (value === null) return { kind: 'unusable', why: 'is no JSON object' };
  if (nestsDeeperThan(MAX_LEVELS, value)) {
    return { kind: 'unusable', why: `is nested more than ${MAX_LEVELS} levels deep` };
  }
  return { kind: 'object', value };
}

function nestsDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((inner) => nestsDeeperThan(levels - 1, inner));
}
