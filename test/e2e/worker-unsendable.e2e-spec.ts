import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TestFleet } from '../support/fleet.js';
import { waitFor } from '../support/wait-for.js';

/** Tests output of a process that no request can carry to the server. */

let fleet: TestFleet;

beforeAll(async () => {
  fleet = await TestFleet.atSharedServer();
  await fleet.startWorker('nested');
});

afterAll(() => fleet.stop());

/** Returns the source of an object with this number of levels, for the script of a task. */
const nested = (levels: number) => `'{"a":'.repeat(${levels}) + '1' + '}'.repeat(${levels})`;
const toFile = (file: string, levels: number) =>
  `require('fs').writeFileSync(process.env.${file}, ${nested(levels)});`;
const toLine = (member: string, levels: number) =>
  `console.log('::drover {"${member}":' + ${nested(levels)} + '}');`;

async function endOf(id: string): Promise<Record<string, unknown>> {
  return waitFor('the end of the task', async () => {
    const task = await fleet.task(id);
    return ['COMPLETED', 'FAILED', 'ABORTED'].includes(String(task['status'])) && task;
  });
}

async function logOf(id: string): Promise<string> {
  const { body } = await fleet.api.get(`/agent-tasks/${id}/logs?limit=100`);
  return JSON.stringify(body);
}

describe('a document of thousands of levels', () => {
  it.each([
    ['a result on a line', toLine('result', 5_000), /refused the result/],
    ['a result in its file', toFile('DROVER_OUTPUT_FILE', 5_000), /result file is nested/],
    ['a result on a line, of as many as JSON can write', toLine('result', 70), /refused the resul/],
  ])(
    'a document of thousands of levels as %s fails the run and frees the slot',
    async (_, script, message) => {
      const id = await fleet.submit(script, { maxRetries: 0 });
      expect(await endOf(id)).toMatchObject({
        status: 'FAILED',
        lastError: expect.stringMatching(message) as unknown,
      });
      expect(await endOf(await fleet.submit('0'))).toMatchObject({ status: 'COMPLETED' });
    },
  );

  it.each([
    ['a checkpoint on a line', toLine('checkpoint', 5_000), /refused a checkpoint/],
    ['a checkpoint in its file', toFile('DROVER_CHECKPOINT_FILE', 5_000), /checkpoint file is nes/],
  ])(
    'a document of thousands of levels as %s is reported in the log, and the run continues',
    async (_, script, message) => {
      const id = await fleet.submit(`${script} setInterval(() => 0, 1_000)`, { maxRetries: 0 });
      await waitFor('it to be told', async () => message.test(await logOf(id)));
      expect(await fleet.task(id)).toMatchObject({ status: 'RUNNING' });
      await fleet.api.post(`/agent-tasks/${id}/cancel`, {});
      expect(await endOf(id)).toMatchObject({ status: 'ABORTED' });
      expect(await endOf(await fleet.submit('0'))).toMatchObject({ status: 'COMPLETED' });
    },
  );
});
