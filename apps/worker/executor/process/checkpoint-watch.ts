import { lstat } from 'node:fs/promises';
import type { JsonObject } from '../../api/types.js';
import { readJsonFile } from '../../runs/run-folder.js';

const LOOK_EVERY_MS = 1_000;

/**
 * Looks at the checkpoint file of a run every second. Not with fs.watch: a rename over the file ends
 * such a watch, and on network file systems nothing arrives at all.
 */
export class CheckpointWatch {
  private seen = '';
  private complained = '';
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> = Promise.resolve();

  constructor(
    private readonly file: string,
    private readonly on: {
      checkpoint: (checkpoint: JsonObject) => void;
      /** The file is no checkpoint; told once for each content. */
      unusable: (why: string) => void;
    },
  ) {}

  /** What the file holds now is not news. Call it before anybody may write. */
  async prepare(): Promise<void> {
    this.seen = await fingerprint(this.file);
  }

  start(): void {
    this.timer = setInterval(() => {
      this.looking = this.looking.then(() => this.look(false));
    }, LOOK_EVERY_MS);
  }

  /** Looks a last time, when nothing can write any more. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.looking;
    await this.look(true);
  }

  private async look(last: boolean): Promise<void> {
    const now = await fingerprint(this.file);
    if (now === this.seen) return;
    const content = await readJsonFile(this.file);
    if (content.kind === 'object') {
      this.seen = now;
      this.on.checkpoint(content.value);
    } else if (content.kind === 'unusable' && (last || now === this.complained)) {
      // On the second look at the same content: at the first one it may be half-written.
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
