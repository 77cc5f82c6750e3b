import { withCleanup } from '#lib/local-servers';
import { explain } from '../shared/sentence.js';
import { TASKS } from './job.js';
import { type Options, readOptions, USAGE } from './options.js';
import { complaintsOf, writeJson } from './outcome.js';
import { runDemo } from './run.js';
import { Screen } from './view/screen.js';
import { painter } from './view/text.js';

async function main({ jsonFile, open, withAgent }: Options): Promise<number> {
  const began = performance.now();
  const paint = painter(process.stdout);
  const screen = new Screen(process.stdout, TASKS.length + 4);
  const findings = await withCleanup((scope) => runDemo(scope, { screen, paint, open, withAgent }));
  const complaints = complaintsOf(findings);
  if (jsonFile !== undefined) writeJson(jsonFile, findings);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  screen.say('');
  if (complaints.length === 0) {
    const { tasks, invariants } = findings;
    const text = `All ${tasks.total} tasks completed, all ${invariants.length} invariants hold; ${seconds} s in all.`;
    screen.say(paint('green', text));
    return 0;
  }
  for (const complaint of complaints) screen.say(paint('red', complaint));
  return 1;
}

try {
  const options = readOptions(process.argv.slice(2));
  if (options === undefined) process.stdout.write(USAGE);
  process.exitCode = options === undefined ? 0 : await main(options);
} catch (error) {
  process.stderr.write(`\n${explain(error)}\n`);
  process.exitCode = 1;
}
// An open connection after a failure must not keep the process alive. All necessary clean-up is
// done.
process.exit();
