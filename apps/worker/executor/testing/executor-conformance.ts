import { afterEach, describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../api/types.js';
import { makeJob, type TestJob } from '../../testing/job.js';
import { waitUntil } from '../../testing/wait-until.js';
import { type Executor, SetupError } from '../executor.js';

/** What a kind of executor needs of `inputContext` to play each part. */
export interface Scenarios {
  succeeds: (result: JsonObject) => JsonObject;
  fails: JsonObject;
  /** Not a task that could ever be executed. */
  malformed: JsonObject;
  /** Reports progress 40, step `half`, and this checkpoint, then waits to be stopped. */
  reports: (checkpoint: JsonObject) => JsonObject;
  /** Logs `ready`, does not react to being asked to stop, and never ends by itself. */
  ignoresStop: JsonObject;
  /** Logs this text, then succeeds. */
  logs: (text: string) => JsonObject;
}

/** What every executor must do, whatever it executes. */
export function describeExecutor(name: string, make: () => Executor, scenarios: Scenarios): void {
  describe(`${name} as an executor`, () => {
    const jobs: TestJob[] = [];
    afterEach(() => {
      for (const job of jobs.splice(0)) job.remove();
    });

    async function started(inputContext: JsonObject) {
      const made = await makeJob(inputContext);
      jobs.push(made);
      return { ...made, execution: await make().start(made.job) };
    }

    test('succeeds with the result that the work left', async () => {
      const { execution } = await started(scenarios.succeeds({ answer: 42, list: [1, 'two'] }));
      expect(await execution.outcome).toMatchObject({
        kind: 'succeeded',
        result: { answer: 42, list: [1, 'two'] },
      });
    });

    test('says how the work failed', async () => {
      const { execution } = await started(scenarios.fails);
      const outcome = await execution.outcome;
      expect(outcome).toMatchObject({ kind: 'failed', error: { message: expect.any(String) } });
    });

    test('refuses a malformed task as one that no attempt can cure', async () => {
      const { job } = await makeJob(scenarios.malformed).then((made) => (jobs.push(made), made));
      const refusal = await make()
        .start(job)
        .catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(SetupError);
      expect((refusal as SetupError).toFailure()).toMatchObject({
        class: 'setup',
        retryable: false,
      });
    });

    test('passes on progress and checkpoints while the work goes on, and stops when asked', async () => {
      const { execution, progress } = await started(scenarios.reports({ page: 7 }));
      await waitUntil(
        'the checkpoint was reported',
        () => merged(progress).checkpointData !== undefined,
      );
      expect(merged(progress)).toEqual({
        progressPercent: 40,
        currentStep: 'half',
        checkpointData: { page: 7 },
      });
      execution.stop(5_000);
      await execution.outcome;
    });

    test('ends by force what does not stop, and the earliest deadline counts', async () => {
      const { execution, entries } = await started(scenarios.ignoresStop);
      await waitUntil('it is ready', () => entries.some(({ message }) => message === 'ready'));
      execution.stop(600_000);
      execution.stop(100);
      expect(await execution.outcome).toMatchObject({ kind: 'failed' });
    });

    test('logs what the work says, without secrets', async () => {
      const { execution, entries, job } = await started(scenarios.logs('a line of the work'));
      await execution.outcome;
      const text = JSON.stringify(entries);
      expect(text).toContain('a line of the work');
      expect(text).not.toContain(job.runToken);
    });
  });
}

function merged(reports: readonly object[]): JsonObject {
  return Object.assign({}, ...reports) as JsonObject;
}
