// Checks and tests everything: types, lint, formatting, dependency rules, unit, integration and
// end-to-end tests. Arguments go to Jest and skip the checks before it: npm test --
// libs/platform/http `--changed` runs the specs that a change can reach: scripts/lib/changed.mjs.
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { check, JEST } from './check.mjs';
import { ensureReady } from './ensure.mjs';
import { changedSpecs } from './lib/changed.mjs';
import { makeMemoryFolder, removeFolder } from './lib/memory-folder.mjs';
import { failedFiles, judgeSecondRuns } from './lib/second-runs.mjs';
import { root } from './lib/sources.mjs';
import { runStep, stopSteps } from './lib/steps.mjs';

const args = process.argv.slice(2);
await ensureReady({ build: true });
if (args.length === 0) await check();
const folder = mkdtempSync(join(tmpdir(), 'drover-tests-'));
const memory = await makeMemoryFolder();
if (memory !== undefined) process.env.TMPDIR = memory;
// The folders are removed after Jest has ended. A terminal sends Ctrl-C to Jest, too.
let isStopped = false;
process.on('SIGINT', () => (isStopped = true));
for (const signal of ['SIGTERM', 'SIGHUP'])
  process.on(signal, () => {
    isStopped = true;
    stopSteps(signal);
  });
try {
  process.exitCode = await runTests(await selected());
} finally {
  await removeFolder(folder);
  if (memory !== undefined) await removeFolder(memory);
}

/** The arguments of Jest; undefined if nothing is to be tested. */
async function selected() {
  if (!args.includes('--changed')) return args;
  const others = args.filter((arg) => arg !== '--changed');
  const specs = await changedSpecs();
  process.stdout.write(`\n${specs.length} test files can be reached by the change\n`);
  return specs.length === 0 ? undefined : [...others, '--runTestsByPath', ...specs];
}

async function runTests(chosen) {
  if (chosen === undefined) return 0;
  const reports = process.env.DROVER_TEST_REPORT !== undefined || process.env.CI === 'true';
  if (!reports) return jest('tests', chosen);
  const file = join(folder, 'all.json');
  const code = await jest('tests', ['--json', '--outputFile', file, ...chosen]);
  const first = readReport(file);
  if (first === undefined) return code || 1;
  const verdict = judgeSecondRuns(first, process.env.CI === 'true' ? await runAgain(first) : {});
  const { DROVER_TEST_REPORT: report } = process.env;
  if (report) writeFileSync(report, JSON.stringify(verdict));
  for (const file of verdict.flaky)
    tell('FLAKY', file, 'It passed when it ran again alone. The totals count its second run.');
  for (const file of verdict.failed) tell('FAILED', file);
  return verdict.success ? 0 : code || 1;
}

/** Repeats the beginning of a message that the log has whole: the end of a log is read first. */
function tell(title, { name, message }, remark = '') {
  const lines = stripVTControlCharacters(message).trim().split('\n').slice(0, 15);
  process.stdout.write(`\n${title}: ${relative(root, name)}\n${lines.join('\n')}\n${remark}\n`);
}

/** Runs each failed file once more, alone. @returns the reports by path */
async function runAgain(first) {
  const reports = {};
  for (const [index, { name }] of failedFiles(first).entries()) {
    if (isStopped) break;
    const file = join(folder, `again-${index}.json`);
    const title = `once more: ${relative(root, name)}`;
    await jest(title, ['--json', '--outputFile', file, '--runTestsByPath', name]);
    reports[name] = readReport(file);
  }
  return reports;
}

/**
 * Three workers for two cores: files often wait, but their servers run on the same cores.
 *
 * @returns the exit code
 */
function jest(title, more) {
  return runStep([title, ...JEST, ['--maxWorkers', '3', ...more]]);
}

function readReport(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}
