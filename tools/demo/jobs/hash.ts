// The long job. It saves a checkpoint every 250 files, and resumes there after a restart: the
// digests so far are in the shared folder, and the checkpoint says how many of them count.
//
// A journal of the attempt also records every hashed file at once. The journals prove which work
// was done twice and which was not.
import { createHash } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type JobContext, listedFiles, number, progress, runJob, say, walk } from './support.js';

const FROM_PACKAGES = 12_000;
const CHECKPOINT_EVERY = 250;
/**
 * The maximum of files a second, so that the job leaves disk time to others and lasts long enough
 * to watch.
 */
const PACE = 1_600;

interface Digest {
  path: string;
  sha256: string;
  bytes: number;
}

class Digests {
  private readonly file: number;
  private readonly journal: number;
  private readonly lines: string[];

  constructor({ shared, attempt }: JobContext, keep: number) {
    const path = join(shared, 'hash.digests');
    this.file = openSync(path, 'a+');
    this.lines = readFileSync(path, 'utf8').split('\n').slice(0, keep);
    ftruncateSync(this.file, 0);
    if (keep > 0) writeSync(this.file, `${this.lines.join('\n')}\n`);
    this.journal = openSync(join(shared, `hash.journal.${attempt}`), 'a');
  }

  add(root: string, path: string): void {
    writeSync(this.journal, `${path}\n`);
    const content = readFileSync(join(root, path));
    const sha256 = createHash('sha256').update(content).digest('hex');
    const line = JSON.stringify({ path, sha256, bytes: content.length } satisfies Digest);
    this.lines.push(line);
    writeSync(this.file, `${line}\n`);
  }

  /**
   * Writes to the disk before the server gets the checkpoint, which must not promise missing
   * results.
   */
  save(total: number): void {
    fsyncSync(this.file);
    say({ checkpoint: { done: this.lines.length, total } });
  }

  close(): Digest[] {
    closeSync(this.file);
    closeSync(this.journal);
    return this.lines.map((line) => JSON.parse(line) as Digest);
  }
}

await runJob('hash', async (context) => {
  const tracked = listedFiles(context);
  const packages = walk(context.root, 'node_modules').slice(0, FROM_PACKAGES);
  const files = [...tracked, ...packages];
  const start = Number(context.checkpoint['done'] ?? 0);
  if (start > 0) process.stdout.write(`going on after ${start} files of an earlier attempt\n`);
  const digests = new Digests(context, start);
  const began = performance.now();
  for (const [offset, path] of files.slice(start).entries()) {
    digests.add(context.root, path);
    const done = start + offset + 1;
    if (done % CHECKPOINT_EVERY !== 0) continue;
    digests.save(files.length);
    progress(done, files.length, path);
    await setTimeout(Math.max(0, ((offset + 1) / PACE) * 1_000 - (performance.now() - began)));
  }
  const all = digests.close();
  writeFileSync(join(context.shared, 'hash.all.json'), JSON.stringify(all));
  const bytes = all.reduce((sum, digest) => sum + digest.bytes, 0);
  const together = createHash('sha256')
    .update(all.map((digest) => digest.sha256).join(''))
    .digest('hex');
  return {
    summary: `${number(tracked.length)} files and ${number(packages.length)} of the packages, ${number(Math.round(bytes / 1e6))} MB, sha256 of all ${together.slice(0, 16)}`,
    files: all.length,
    tracked: tracked.length,
    bytes,
    sha256: together,
    resumedAfter: start,
  };
});
