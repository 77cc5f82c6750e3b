import { execFile } from 'node:child_process';
import { chown, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Only root can mount a disk. */
export const mayMount = process.getuid?.() === 0;

/** A file system of limited size. */
export class SmallDisk {
  private constructor(readonly folder: string) {}

  static async mount(megabytes: number, owner = { uid: 0, gid: 0 }): Promise<SmallDisk> {
    const folder = await mkdtemp(join(tmpdir(), 'drover-disk-'));
    await execute('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder]);
    await chown(folder, owner.uid, owner.gid);
    return new SmallDisk(folder);
  }

  /** Fills the disk completely. */
  async fill(): Promise<void> {
    const file = await open(this.ballast, 'a');
    const chunk = Buffer.alloc(4_096);
    try {
      for (;;) await file.write(chunk);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    } finally {
      await file.close();
    }
  }

  /** Frees the space again. */
  empty(): Promise<void> {
    return rm(this.ballast, { force: true });
  }

  /** Unmounts it when nothing uses it any more. */
  async unmount(): Promise<void> {
    await execute('umount', ['-l', this.folder]);
    await rm(this.folder, { recursive: true, force: true });
  }

  private get ballast(): string {
    return join(this.folder, 'ballast');
  }
}
