import { type Load, postsPerSecond } from './http-load.js';

export const TASK = {
  title: 'A task',
  taskType: 'test',
  priority: 5,
  inputContext: { command: ['true'] },
};

const PER_BATCH = 1_000;
export const BATCH = { tasks: Array.from({ length: PER_BATCH }, () => TASK) };

interface Target {
  url: string;
  token: string;
  /** Default: the server's route for tasks. */
  path?: string;
  seconds: number;
}

/** Sends one task per request, 16 at a time. @returns tasks per second */
export function createdPerSecond(target: Target): Promise<number> {
  return postsPerSecond({ ...loadOn(target, '/api/v1/agent-tasks'), connections: 16, body: TASK });
}

/** `minimal`: the ids alone. */
export type Answer = 'minimal' | 'representation';

/**
 * Sends a thousand tasks per request, two at a time.
 *
 * @returns tasks per second
 */
export async function createdInBatchesPerSecond(target: Target, prefer: Answer): Promise<number> {
  const load = loadOn(target, '/api/v1/agent-tasks/batch');
  const headers = () => ({ ...load.headers(), prefer: `return=${prefer}` });
  return (await postsPerSecond({ ...load, headers, connections: 2, body: BATCH })) * PER_BATCH;
}

function loadOn({ url, token, path, seconds }: Target, api: string) {
  const headers = () => ({ authorization: `Bearer ${token}` });
  return { url, seconds, path: path ?? api, headers } satisfies Partial<Load>;
}
