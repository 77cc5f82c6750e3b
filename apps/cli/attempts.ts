import { setTimeout as delay } from 'node:timers/promises';
import type { components } from '#lib/api-client';
import type { Cli } from './cli.js';
import { EXIT } from './exit-codes.js';
import { formatDuration } from './output/output.js';

export type Attempt = components['schemas']['Attempt'];
export type NewAttempts = components['schemas']['CreateAttempts'];

const POLL_MS = 1_000;
const ENDED: readonly Attempt['state'][] = ['MERGED', 'FAILED', 'CLOSED'];

export async function readAttempts(cli: Cli, id: string, signal?: AbortSignal): Promise<Attempt[]> {
  const params = { path: { id } };
  return (await cli.patient.get('/api/v1/changes/{id}/attempts', { params, signal })).items;
}

/** Prints attempts side by side. */
export function printAttempts(cli: Cli, attempts: readonly Attempt[]): void {
  cli.out.rows(
    attempts,
    [
      { title: 'id', isId: true, of: ({ id }) => id },
      { title: 'state', of: ({ state }) => state },
      { title: 'kind', of: ({ agentKind }) => agentKind },
      { title: 'model', of: ({ model }) => model },
      { title: 'proof', of: describeProof },
      { title: 'files', of: ({ filesChanged }) => filesChanged },
      { title: 'lines', of: sizeOf },
      { title: 'tokens', of: ({ cost }) => cost.tokens },
      { title: 'usd', of: ({ cost }) => cost.costUsd },
      { title: 'work', of: ({ cost }) => formatDuration(cost.workSeconds) },
      { title: 'revision', of: ({ revision }) => revision },
    ],
    'No attempts found.',
  );
}

export function sizeOf({
  insertions,
  deletions,
}: Pick<Attempt, 'insertions' | 'deletions'>): string {
  return insertions === null ? '' : `+${insertions} -${deletions ?? 0}`;
}

function describeProof({ proof }: Attempt): string {
  if (proof === null) return '';
  const { verdict, durationMs } = proof;
  return durationMs === null ? verdict : `${verdict}, ${formatDuration(durationMs / 1_000)}`;
}

/**
 * Creates attempts at one change, and waits until each of them waits for its review or has ended.
 * Ctrl-C closes those that have not ended. A second Ctrl-C stops waiting.
 *
 * @returns the exit code: 0 if an attempt waits for review or is merged
 */
export async function runAttempts(
  cli: Cli,
  body: NewAttempts,
  { isDetached, isUntilMerged }: { isDetached: boolean; isUntilMerged: boolean },
): Promise<number> {
  const leaving = new AbortController();
  const { signal } = leaving;
  let items: Attempt[] | undefined;
  let interrupts = 0;
  const interrupt = (): void => {
    interrupts += 1;
    if (items === undefined || interrupts > 1) return leaving.abort();
    cli.out.note('drover: closing the attempts. Press Ctrl-C again to stop waiting.');
    for (const { id } of items) void close(cli, id);
  };
  process.on('SIGINT', interrupt);
  try {
    items = (await cli.drover.post('/api/v1/task-attempts', { body, signal })).items;
    if (isDetached) return printIds(cli, items);
    for (const { id, agentKind } of items) cli.out.note(`drover: attempt ${id} ${agentKind ?? ''}`);
    const settled = await waitForAll(cli, items, { isUntilMerged, signal });
    printAttempts(cli, settled);
    const [one] = settled.filter(({ state }) => state === 'IN_REVIEW');
    if (one) cli.out.note(`drover: compare them: drover review compare ${one.id}`);
    if (interrupts > 0) return EXIT.interrupted;
    const isGood = settled.some(({ state }) => state === 'IN_REVIEW' || state === 'MERGED');
    return isGood ? EXIT.ok : EXIT.failed;
  } catch (error) {
    if (!signal.aborted) throw error;
    const words = items === undefined ? 'may exist. Check with `drover task list`' : 'continue';
    cli.out.note(`drover: the attempts ${words}.`);
    return EXIT.interrupted;
  } finally {
    process.off('SIGINT', interrupt);
  }
}

function printIds(cli: Cli, items: readonly Attempt[]): number {
  if (cli.out.json) cli.out.value(items);
  else for (const { id } of items) cli.out.line(id);
  return EXIT.ok;
}

async function waitForAll(
  cli: Cli,
  created: readonly Attempt[],
  { isUntilMerged, signal }: { isUntilMerged: boolean; signal: AbortSignal },
): Promise<Attempt[]> {
  const states = new Map(created.map(({ id, state }) => [id, state]));
  const isSettled = ({ state }: Attempt) =>
    ENDED.includes(state) || (state === 'IN_REVIEW' && !isUntilMerged);
  for (;;) {
    const attempts = await readAttempts(cli, created[0]?.id ?? '', signal);
    for (const { id, state } of attempts.filter((one) => states.get(one.id) !== one.state)) {
      states.set(id, state);
      cli.out.note(`drover: attempt ${id} ${state}`);
    }
    if (attempts.every(isSettled)) return attempts;
    await delay(POLL_MS, undefined, { signal });
  }
}

/** An attempt that has ended, or that a host merges, stays as it is. */
async function close(cli: Cli, id: string): Promise<void> {
  const params = { path: { id } };
  const body = { reason: 'Ctrl-C in drover run' };
  await cli.drover
    .post('/api/v1/changes/{id}/close', { params, body })
    .catch((error: Error) => cli.out.note(`drover: ${error.message}`));
}
