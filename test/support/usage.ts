import { expect } from '@jest/globals';
import type { TestFleet } from './fleet.js';
import type { ServedUsage } from './model-server/index.js';

/**
 * Compares the ledger of a task with the tokens that a stand-in for its models has served.
 *
 * @param served.requests the number of its answers
 */
export async function expectUsage(
  fleet: TestFleet,
  taskId: string,
  { requests, ...served }: ServedUsage & { requests: number },
): Promise<void> {
  const { rows } = await fleet.db.owner.query<Record<string, string>>(
    `SELECT sum(input_tokens) AS input, sum(output_tokens) AS output,
       sum(cache_read_tokens) AS "cacheRead", sum(cache_write_tokens) AS "cacheWrite",
       sum(reasoning_tokens) AS reasoning, sum(total_tokens) AS total, count(*) AS requests,
       count(time_to_first_token_ms) AS timed, count(*) FILTER (WHERE estimated) AS estimated
     FROM agent_usage_logs WHERE task_id = $1`,
    [taskId],
  );
  expect(rows).toEqual([
    {
      input: String(served.input),
      output: String(served.output),
      cacheRead: String(served.cacheRead),
      cacheWrite: '0',
      reasoning: String(served.reasoning),
      total: String(served.input + served.output + served.cacheRead),
      requests: String(requests),
      timed: String(requests),
      estimated: '0',
    },
  ]);
}
