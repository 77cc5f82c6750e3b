import { withCleanup } from '#lib/embedded';
import { explain } from '../shared/sentence.js';
import { run } from './run.js';

try {
  await withCleanup((scope) => run(scope, (line) => process.stdout.write(`${line}\n`)));
} catch (error) {
  process.stderr.write(`${explain(error)}\n`);
  process.exit(1);
}
