// Everything: types, lint, formatting, dependency rules, unit, integration and end-to-end tests.
// Arguments go to Jest, and then the checks before it are left out: npm test -- libs/platform/http
import { check, JEST } from './check.mjs';
import { ensureReady } from './ensure.mjs';
import { runStep } from './lib/steps.mjs';

const args = process.argv.slice(2);
await ensureReady({ build: true });
const report = process.env.DROVER_TEST_REPORT;
const toReport = report ? ['--json', '--outputFile', report] : [];
if (args.length === 0) await check();
// Two workers: the servers under test run on the same cores.
await runStep(['tests', ...JEST, ['--maxWorkers', '2', ...toReport, ...args]]);
