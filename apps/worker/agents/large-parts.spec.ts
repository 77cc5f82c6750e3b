import { expect, test } from '@jest/globals';
import pLimit from 'p-limit';
import { Log } from '#lib/agent-host';
import { Redactor } from '#lib/session-runtime';
import { refusal } from '../../../libs/hosts/agent-host/testing/refusal.js';
import { waitFor } from '../../../test/support/wait-for.js';
import { LargeParts } from './large-parts.js';

const log = new Log(() => undefined);

/** Large parts of a server that refuses each of them, in the queue of all runs of a worker. */
function refusedParts(status: number, code: string) {
  const limit = pLimit(1);
  const asked: string[] = [];
  const saveArtifact = (runId: string) => {
    asked.push(runId);
    return Promise.reject(refusal(status, code));
  };
  const redactor = new Redactor([]);
  const parts = new LargeParts({ api: { saveArtifact }, runId: 'run', redactor, limit, log });
  return { parts, limit, asked };
}

test('a part that is sent again later does not hold up the files of other runs', async () => {
  const { parts, limit, asked } = refusedParts(503, 'service_unavailable');
  parts.keep('text');
  await waitFor('the first attempt', () => asked.length > 0);
  await limit(() => undefined);
  expect(limit.activeCount).toBe(0);
});

test('a part that the server fails to store is given up', async () => {
  const { parts } = refusedParts(500, 'internal_error');
  parts.keep('text');
  await parts.close();
});
