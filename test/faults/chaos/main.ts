import { writeFileSync } from 'node:fs';
import { withCleanup } from '#lib/local-servers';
import { explain } from '../../../tools/shared/sentence.js';
import { type Options, readOptions, USAGE } from './options.js';
import { describe } from './report.js';
import { runChaos } from './run.js';
import { planFaults } from './schedule.js';

const began = performance.now();
const say = (text: string): void => {
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  process.stderr.write(`[${seconds}] ${text}\n`);
};

async function main(options: Options): Promise<number> {
  const { seed, durationMs, jsonFile, planOnly } = options;
  if (planOnly) {
    process.stdout.write(`${JSON.stringify(planFaults(seed, durationMs), null, 2)}\n`);
    return 0;
  }
  say(`chaos for ${durationMs / 60_000} minutes, seed ${seed}`);
  const report = await withCleanup((scope) => runChaos(scope, options, say));
  process.stdout.write(describe(report));
  if (jsonFile !== undefined) writeFileSync(jsonFile, `${JSON.stringify(report, null, 2)}\n`);
  return report.ok ? 0 : 1;
}

try {
  const options = readOptions(process.argv.slice(2));
  if (options === undefined) process.stdout.write(USAGE);
  process.exitCode = options === undefined ? 0 : await main(options);
} catch (error) {
  say(explain(error));
  process.exitCode = 1;
}
// An open connection after a failure must not keep the process alive. All necessary clean-up is
// done.
process.exit();
