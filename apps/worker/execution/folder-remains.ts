import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import pLimit from 'p-limit';
import type { HostLog, JsonObject } from '#lib/agent-host';
import { type Drivers, Redactor } from '#lib/session-runtime';
import type { DroverApi } from '../api/drover-api.js';
import type { Remains } from '../runs/executor.js';
import { KeptFiles } from '../runs/kept-files.js';
import { Patience } from '../runs/patience.js';
import { MAX_OWN_FILE_BYTES, readJsonFile, RunFolder } from '../runs/run-folder.js';
import { removeRun } from '../state/leftovers.js';
import type { RunRecord } from '../state/state-file.js';

export interface FolderRemainsOptions {
  api: DroverApi;
  drivers: Drivers;
  workDir: string;
  keepFolders: boolean;
  log: HostLog;
  signal: AbortSignal;
}

/** The folders of runs whose sessions were killed. A session can write any file of its folder. */
export class FolderRemains implements Remains {
  constructor(private readonly options: FolderRemainsOptions) {}

  /** The secrets of the run are gone. The server refuses a file that contains one. */
  keepFiles(runId: string, record: RunRecord | undefined): Promise<void> {
    const { api, log, signal } = this.options;
    const files = new KeptFiles({
      api,
      runId,
      folder: this.folder(runId),
      redactor: () => new Redactor([]),
      limit: pLimit(1),
      // The files of a repository are in its commits. An earlier version did not record the kind.
      isCode: record?.isCode ?? true,
      log,
      warn: (problem) => log.warn(problem, { runId }),
    });
    return files.send(signal, new Patience());
  }

  /** The checkpoint file, if the process changed it. Its first content is no news. */
  async checkpoint(runId: string): Promise<JsonObject | undefined> {
    const folder = this.folder(runId);
    const input = await readJsonFile(folder.inputFile, MAX_OWN_FILE_BYTES);
    if (input.kind !== 'object') return undefined;
    const task = input.value['task'] as { checkpointData?: JsonObject } | undefined;
    const checkpoint = await folder.readCheckpoint();
    return isDeepStrictEqual(checkpoint, task?.checkpointData ?? {}) ? undefined : checkpoint;
  }

  async remove(runId: string): Promise<void> {
    const { drivers, log, keepFolders } = this.options;
    // A session can write that file too, so nobody reads it.
    if (existsSync(join(this.folder(runId).root, 'usage.jsonl'))) {
      const why = 'a worker of an earlier version did not report it';
      log.warn(`Usage of a run is possibly lost: ${why}`, { runId });
    }
    if (!keepFolders) await removeRun(runId, drivers, log);
  }

  private folder(runId: string): RunFolder {
    return new RunFolder(this.options.workDir, runId);
  }
}
