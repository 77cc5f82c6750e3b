import { createHash } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { listedFiles, number, progress, runJob } from './support.js';
import { END_OF_ARCHIVE, tarEntry } from './tar.js';

await runJob('archive', (context) => {
  const files = listedFiles(context);
  const parts = files.map((path, index) => {
    if (index % 50 === 0) progress(index, files.length, path);
    const full = join(context.root, path);
    return tarEntry(path, readFileSync(full), statSync(full).mode & 0o777);
  });
  const tar = Buffer.concat([...parts, END_OF_ARCHIVE]);
  const archive = gzipSync(tar, { level: 9 });
  writeFileSync(join(context.shared, 'project.tar.gz'), archive);
  const sha256 = createHash('sha256').update(archive).digest('hex');
  return {
    summary: `${files.length} files, ${number(Math.round(tar.length / 1e3))} kB, packed ${number(Math.round(archive.length / 1e3))} kB`,
    entries: files.length,
    bytes: archive.length,
    sha256,
  };
});
