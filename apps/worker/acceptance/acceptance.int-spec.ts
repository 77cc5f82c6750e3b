import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Drivers, Redactor } from '#lib/session-runtime';
import { testSandbox } from '../../../libs/hosts/session-runtime/testing/sandboxes.js';
import { driverOf, startExecution } from '../execution/execution.js';
import { makeJob, RUN_TOKEN, type TestJob } from '../testing/job.js';
import { withAcceptance } from './acceptance.js';

const sandbox = await testSandbox({ network: 'none' });
const SECRET = 'secret-of-the-task';

const jobs: TestJob[] = [];

afterEach(() => {
  for (const job of jobs.splice(0)) job.remove();
});

async function run(script: string, acceptanceScript: string, stopsAfter?: RegExp) {
  const made = makeJob({ command: ['bash', '-c', script] });
  jobs.push(made);
  made.job.task.acceptanceScript = acceptanceScript;
  const drivers = new Drivers(
    { dir: made.workDir },
    {
      process: {
        searchPath: process.env['PATH'] ?? '',
        sandbox: sandbox!,
      },
    },
  );
  try {
    const running = withAcceptance(
      made.job,
      await startExecution(made.job, {
        drivers,
        allowedDirs: [],
        passedEnv: {},
        learn: () => undefined,
      }),
      {
        driver: driverOf(made.job, drivers),
        scripts: join(made.workDir, 'scripts'),
        redactor: () => new Redactor([SECRET]),
      },
    );
    const log = made.job.report.log;
    made.job.report.log = (...entry) => {
      log(...entry);
      if (stopsAfter?.test(String(entry[1]))) running.stop(0);
    };
    const outcome = await running.exit;
    return { outcome, lines: made.entries.map(({ message }) => message) };
  } finally {
    for (const driver of drivers.all) driver.close();
  }
}

(sandbox === undefined ? describe.skip : describe)('the acceptance of a task', () => {
  it('sees the files that the run left, and nothing else of it', async () => {
    const script = `echo kept > report.md; echo one > $DROVER_ARTIFACTS/plan.md; mkdir -p bin
      printf '#!/bin/sh\\necho ran' > bin/tool; chmod +x bin/tool; echo x > .hidden
      ln -s /etc/passwd link; sleep 600 & echo $! > pid`;
    const accept = `cat report.md plan.md; bin/tool; test ! -e .hidden; test ! -e link
      env | grep -c DROVER_RUN_TOKEN && exit 9; echo "$TASK_SECRET"; echo made > report.md`;
    const { outcome, lines } = await run(script, accept);
    expect(lines).toContain('Its acceptance succeeded');
    expect(lines).toEqual(expect.arrayContaining(['kept', 'one', 'ran', '[redacted]']));
    expect(lines.join()).not.toContain(RUN_TOKEN);
    expect(outcome).toMatchObject({ kind: 'succeeded' });
  });

  it('that fails fails the run with its output, and does not follow a failed run', async () => {
    const { outcome } = await run(
      'echo draft > report.md',
      'cat report.md; echo $TASK_SECRET; exit 3',
    );
    expect(outcome).toMatchObject({
      kind: 'failed',
      error: {
        class: 'acceptance_failed',
        exitCode: 3,
        stackTrace: 'draft\n[redacted]\n',
        retryable: true,
      },
    });
    const failed = await run('exit 7', 'echo never');
    expect(failed.outcome).toMatchObject({ kind: 'failed', error: { exitCode: 7 } });
    expect(failed.lines).not.toContain('never');
  });

  it('ends when the run is stopped', async () => {
    const stopped = run('ln a b 2> /dev/null; touch a; ln a b', 'sleep 600', /does not see/);
    await expect(stopped).rejects.toThrow('stopped during its acceptance');
  });
});
