import { lstat } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '#lib/agent-host';
import { readJsonFile } from '../runs/run-folder.js';

const INTERVAL_MS = 1_000;

/**
 * Reads the checkpoint file of a run every second. It does not use fs.watch: a rename over the file
 * ends such a watch, and on network file systems no event arrives at all.
 */
export class CheckpointWatch {
  private seen = '';
  private complained = '';
  private readonly timer: NodeJS.Timeout;
  private checking: Promise<void> = Promise.resolve();

  /**
   * @param first the file's content before any other process could write it, so it is no news
   */
  constructor(
    private readonly file: string,
    private readonly first: object,
    private readonly on: {
      checkpoint: (checkpoint: JsonObject) => void;
      /** Called once for each content that is no checkpoint. */
      unusable: (why: string) => void;
    },
  ) {
    this.timer = setInterval(() => {
      this.checking = this.checking.then(() => this.check(false));
    }, INTERVAL_MS);
  }

  /** Reads the file a last time, after the last process that can write it. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.checking;
    await this.check(true);
  }

  private async check(last: boolean): Promise<void> {
    const now = await fingerprint(this.file);
    if (now === this.seen) return;
    const content = await readJsonFile(this.file);
    if (content.kind === 'object') {
      const isNews = this.seen !== '' || !isDeepStrictEqual(content.value, this.first);
      this.seen = now;
      if (isNews) this.on.checkpoint(content.value);
    } else if (content.kind === 'unusable' && (last || now === this.complained)) {
      // Waits for a second look at the same content: at the first one it can be half-written.
      this.seen = now;
      this.on.unusable(content.why);
    } else {
      this.complained = now;
    }
  }
}

async function fingerprint(file: string): Promise<string> {
  try {
    const { ino, size, mtimeNs } = await lstat(file, { bigint: true });
    return `${ino}-${size}-${mtimeNs}`;
  } catch {
    return '';
  }
}
