import { randomBytes } from 'node:crypto';
import { mkdir, realpath, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Account } from '../machine/accounts.js';
import { canReach } from '../machine/accounts.js';
import { EmbeddedError, explainFileError } from '../machine/errors.js';
import { freePort } from '../machine/free-port.js';
import type { RunningServer } from '../processes/supervisor.js';
import { Supervisor } from '../processes/supervisor.js';
import type { ValkeyProgram } from './valkey-program.js';
import { findValkey } from './valkey-find.js';
import { explainValkey } from './valkey-errors.js';

export interface ValkeyOptions {
  /** Default: a free port. */
  port?: number | undefined;
  /** Default: a temporary folder that is removed with the server. */
  dataDir?: string | undefined;
  /** Default: a random password for each start. */
  password?: string | undefined;
  /** Writes an append-only file to `dataDir`. Default: false, which saves nothing. */
  appendOnly?: boolean | undefined;
  log?: ((line: string) => void) | undefined;
  /** Reports slow steps, such as a download. */
  progress?: ((message: string) => void) | undefined;
  supervisor?: Supervisor | undefined;
  onLost?: ((message: string) => void) | undefined;
}

export interface EmbeddedValkey {
  url: string;
  port: number;
  pid: number;
  /** For example `Valkey 9.0.1` or `Redis 7.0.15`. */
  product: string;
  stop(): Promise<void>;
}

export interface ExternalValkey {
  url: string;
  stop(): Promise<void>;
}

const PORT_TRIES = 10;
const START_WITHIN_MS = 60_000;

/**
 * The server at `url` (default: VALKEY_URL), if one answers, unchanged. Otherwise a new one.
 *
 * @throws EmbeddedError
 */
export async function resolveValkey(
  options: ValkeyOptions & { url?: string | undefined } = {},
): Promise<EmbeddedValkey | ExternalValkey> {
  const url = options.url ?? process.env['VALKEY_URL'];
  if (url) return { url, stop: () => Promise.resolve() };
  return startEmbeddedValkey(options);
}

/** Starts a Valkey (or Redis) on 127.0.0.1 with a random password. @throws EmbeddedError */
export async function startEmbeddedValkey(options: ValkeyOptions = {}): Promise<EmbeddedValkey> {
  if (options.supervisor) return start(options, options.supervisor);
  const supervisor = await Supervisor.start();
  try {
    const server = await start(options, supervisor);
    supervisor.unref();
    const stop = async (): Promise<void> => {
      await server.stop();
      await supervisor.close();
    };
    return { ...server, stop };
  } catch (error) {
    await supervisor.close();
    throw error;
  }
}

async function start(options: ValkeyOptions, supervisor: Supervisor): Promise<EmbeddedValkey> {
  const program = await findValkey({ supervisor, progress: options.progress });
  const folder = await prepareFolder(options.dataDir, supervisor);
  for (let attempt = 1; ; attempt += 1) {
    const port = options.port ?? (await freePort());
    try {
      return await listenOn({ options, supervisor, program, folder, port });
    } catch (error) {
      const taken = error instanceof EmbeddedError && error.code === 'port_taken';
      if (!taken || options.port !== undefined || attempt >= PORT_TRIES) throw error;
    }
  }
}

async function prepareFolder(
  requested: string | undefined,
  supervisor: Supervisor,
): Promise<string> {
  const path = requested === undefined ? undefined : resolve(requested);
  try {
    if (path !== undefined) {
      await mkdir(path, { recursive: true, mode: 0o700 });
      return await realpath(path);
    }
    const temporary = join(tmpdir(), `drover-valkey-${randomBytes(6).toString('hex')}`);
    await supervisor.own(temporary);
    await mkdir(temporary, { mode: 0o700 });
    return temporary;
  } catch (error) {
    throw explainFileError(error, path ?? tmpdir());
  }
}

interface Context {
  options: ValkeyOptions;
  supervisor: Supervisor;
  program: ValkeyProgram;
  folder: string;
  port: number;
}

async function listenOn(context: Context): Promise<EmbeddedValkey> {
  const { options, program, folder, port } = context;
  const password = options.password ?? randomBytes(24).toString('base64url');
  const lines: string[] = [];
  let ready = (): void => undefined;
  const isReady = new Promise<'ready'>(
    (done) =>
      (ready = () => {
        done('ready');
      }),
  );
  const server = await context.supervisor.run({
    ...(await folderOwner(folder, program.file)),
    file: program.file,
    args: ['-'],
    cwd: folder,
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC', ...program.env },
    input: configuration(context, password),
    stopSignal: 'SIGTERM',
    stopWithinMs: 10_000,
    onLine: (line) => {
      if (lines.length < 200) lines.push(line);
      options.log?.(line);
      if (line.includes('Ready to accept connections')) ready();
    },
  });
  const exited = server.exited.then(() => 'exited' as const);
  const timer = setTimeout(() => void server.stop(), START_WITHIN_MS);
  const outcome = await Promise.race([isReady, exited]);
  clearTimeout(timer);
  if (outcome === 'exited') throw explainValkey(lines, { folder, port });
  return describe(context, server, password);
}

// Root works on an ordinary user's data as that user, so that the files stay theirs.
async function folderOwner(folder: string, program: string): Promise<Account | undefined> {
  const { uid, gid } = await stat(folder);
  if (process.getuid?.() !== 0 || uid === 0) return undefined;
  const owner = { uid, gid };
  return (await canReach(dirname(program), owner)) ? owner : undefined;
}

// The configuration goes over standard input, so that the password is not in the process list.
function configuration({ options, folder, port }: Context, password: string): string {
  return [
    'bind 127.0.0.1',
    `port ${String(port)}`,
    'protected-mode yes',
    `requirepass ${password}`,
    `dir ${JSON.stringify(folder)}`,
    'save ""',
    `appendonly ${options.appendOnly ? 'yes' : 'no'}`,
    'appendfsync everysec',
    'maxmemory-policy noeviction',
    'daemonize no',
    '',
  ].join('\n');
}

function describe(context: Context, server: RunningServer, password: string): EmbeddedValkey {
  const { options, port, program } = context;
  let asked = false;
  void server.exited.then(() => {
    if (!asked) options.onLost?.(`${program.product} (process ${String(server.pid)}) ended.`);
  });
  const stop = async (): Promise<void> => {
    asked = true;
    await server.stop();
  };
  const url = `redis://:${password}@127.0.0.1:${String(port)}`;
  return { url, port, pid: server.pid, product: program.product, stop };
}
