import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canReach, makePassableFolder, serviceAccount } from '../machine/accounts.js';
import { explainFileError, stoppedWhileStarting } from '../machine/errors.js';
import type { EmbeddedPostgres, PostgresOptions } from '../postgres/postgres.js';
import { startEmbeddedPostgres } from '../postgres/postgres.js';
import { Supervisor } from './supervisor.js';
import type { EmbeddedValkey, ExternalValkey, ValkeyOptions } from '../valkey/valkey.js';
import { resolveValkey } from '../valkey/valkey.js';

export interface StackOptions {
  /** Contains `postgres` and `valkey`. Without it the data is temporary. */
  dataDir?: string | undefined;
  /**
   * Removes the data at the end and does not wait for the disk. Default: true without `dataDir`.
   */
  ephemeral?: boolean | undefined;
  postgres?: Pick<PostgresOptions, 'port' | 'fsync' | 'settings'> | undefined;
  valkey?: (Pick<ValkeyOptions, 'port' | 'appendOnly'> & { url?: string | undefined }) | undefined;
  log?: ((line: string) => void) | undefined;
  progress?: ((message: string) => void) | undefined;
  /** Called when a server ends unasked. */
  onLost?: ((message: string) => void) | undefined;
  /** Runs the servers instead of the stack's own. Closed with the stack. */
  supervisor?: Supervisor | undefined;
  /** Abort it to cancel the start. Finished steps are undone. */
  signal?: AbortSignal | undefined;
}

export interface Stack {
  postgres: EmbeddedPostgres;
  valkey: EmbeddedValkey | ExternalValkey;
  dataDir: string;
  /** Stops both servers and removes ephemeral data. Can be called more than once. */
  stop(): Promise<void>;
}

export interface StackStart {
  ready: Promise<Stack>;
  /**
   * Can be called at any moment, also during the start: `ready` then rejects with the code
   * `stopped`.
   */
  stop(): Promise<void>;
}

/** PostgreSQL and Valkey, started in parallel. @throws EmbeddedError */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  return beginStack(options).ready;
}

/** Like startStack, with a handle to stop it during the start. */
export function beginStack(options: StackOptions = {}): StackStart {
  const supervisor = Promise.resolve(options.supervisor ?? Supervisor.start());
  const abort = new AbortController();
  const plan: Plan = {
    options,
    ephemeral: options.ephemeral ?? options.dataDir === undefined,
    stopped: abort.signal,
  };
  let stopping: Promise<void> | undefined;
  let settled: Promise<unknown> = Promise.resolve();
  const stopOnce = async (): Promise<void> => {
    abort.abort();
    await (await supervisor).close();
    await settled;
    if (plan.ephemeral && plan.folder) await rm(plan.folder, { recursive: true, force: true });
  };
  const stop = (): Promise<void> => (stopping ??= stopOnce());
  const starting = supervisor.then((running) => startBoth(plan, running));
  settled = starting.catch(() => undefined);
  const ready = starting.then(
    (servers) => ({ ...servers, stop }),
    async (error: unknown) => {
      const wasStopped = abort.signal.aborted;
      await stop();
      throw wasStopped ? stoppedWhileStarting() : error;
    },
  );
  ready.catch(() => undefined);
  if (options.signal?.aborted) void stop();
  options.signal?.addEventListener('abort', () => void stop(), { once: true });
  return { ready, stop };
}

interface Plan {
  options: StackOptions;
  ephemeral: boolean;
  stopped: AbortSignal;
  folder?: string;
}

async function startBoth(plan: Plan, supervisor: Supervisor): Promise<Omit<Stack, 'stop'>> {
  const { options } = plan;
  const dataDir = await makeFolder(plan, supervisor);
  const onLost = (message: string): void => {
    if (!plan.stopped.aborted) options.onLost?.(message);
  };
  const shared = { supervisor, log: options.log, onLost };
  const [postgres, valkey] = await allOrFirstError([
    startEmbeddedPostgres({
      fsync: !plan.ephemeral,
      ephemeral: plan.ephemeral,
      ...options.postgres,
      ...shared,
      dataDir: join(dataDir, 'postgres'),
    }),
    resolveValkey({
      ...options.valkey,
      ...shared,
      progress: options.progress,
      dataDir: join(dataDir, 'valkey'),
    }),
  ]);
  refuseIfStopped(plan);
  // A given supervisor has more to do.
  if (options.supervisor === undefined) supervisor.unref();
  return { postgres, valkey, dataDir };
}

// Both must settle before the folder can be removed.
async function allOrFirstError<A, B>([a, b]: [Promise<A>, Promise<B>]): Promise<[A, B]> {
  await Promise.allSettled([a, b]);
  return Promise.all([a, b]);
}

function refuseIfStopped({ stopped }: Plan): void {
  if (stopped.aborted) throw stoppedWhileStarting();
}

async function makeFolder(plan: Plan, supervisor: Supervisor): Promise<string> {
  const folder = plan.options.dataDir ?? (await temporaryFolder());
  refuseIfStopped(plan);
  if (plan.ephemeral) await supervisor.own(folder);
  plan.folder = folder;
  try {
    await makePassableFolder(folder);
  } catch (error) {
    throw explainFileError(error, folder);
  }
  return folder;
}

/** In the first temporary folder that PostgreSQL's account can enter. */
async function temporaryFolder(): Promise<string> {
  const name = `drover-${randomBytes(6).toString('hex')}`;
  const account = await serviceAccount();
  for (const place of [tmpdir(), '/tmp', '/var/tmp']) {
    const reachable = await (account ? canReach(place, account) : true);
    if (reachable) return join(place, name);
  }
  return join(tmpdir(), name);
}
