// Type-checks one library with the compiler of the project, under the project's own settings.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { runJob, say } from './support.js';

const library = process.argv[2] ?? '';

await runJob(`types-${basename(library)}`, ({ root }) => {
  const settings = resolve('tsconfig.json');
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      rootDir: root,
      typeRoots: [join(root, 'node_modules', '@types')],
      noEmit: true,
      diagnostics: true,
    },
    include: [join(root, 'libs', library)],
  };
  writeFileSync(settings, JSON.stringify(config));
  say({ progress: 10, step: `tsc -p libs/${library}` });
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const result = spawnSync(process.execPath, [compiler, '-p', settings], { encoding: 'utf8' });
  const facts = Object.fromEntries(
    [...result.stdout.matchAll(/^(Files|Lines|Types|Symbols)[^:]*:\s+(\d+)/gm)].map((match) => [
      match[1]?.toLowerCase() ?? '',
      Number(match[2]),
    ]),
  );
  const errors = result.stdout.match(/error TS\d+/g)?.length ?? 0;
  if (result.status !== 0) {
    process.stderr.write(result.stdout + result.stderr);
    const message = `libs/${library} has ${errors} type errors`;
    say({ error: { message, retryable: false } });
    process.exit(1);
  }
  return { summary: `libs/${library} has no type error`, errors, ...facts };
});
