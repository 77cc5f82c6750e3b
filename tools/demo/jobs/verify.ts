import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { progress, resultOf, runJob } from './support.js';
import { readTar } from './tar.js';

function requireThat(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

await runJob('verify', (context) => {
  const promised = resultOf<{ sha256: string; entries: number }>(context, 'archive');
  const archive = readFileSync(join(context.shared, 'project.tar.gz'));
  const sha256 = createHash('sha256').update(archive).digest('hex');
  requireThat(sha256 === promised.sha256, 'the archive has another hash than it was given');
  let entries = 0;
  for (const { path, content } of readTar(gunzipSync(archive))) {
    const same = content.equals(readFileSync(join(context.root, path)));
    requireThat(same, `${path} differs from what was packed`);
    entries += 1;
    if (entries % 50 === 0) progress(entries, promised.entries, path);
  }
  requireThat(entries === promised.entries, `${entries} files instead of ${promised.entries}`);
  return { summary: `hash right, all ${entries} files equal to the originals`, entries, sha256 };
});
