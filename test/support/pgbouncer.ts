import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '#lib/local-servers';
import { waitFor } from './wait-for.js';

const execute = promisify(execFile);

/**
 * The first release of Debian whose PgBouncer keeps prepared statements. Its C library is included.
 */
const RELEASE = 'trixie';
const PACKAGES = [
  'pgbouncer',
  'libc6',
  'libcares2',
  'libevent-2.1-7t64',
  'libpam0g',
  'libssl3t64',
  'libsystemd0',
  'libaudit1',
  'libcap-ng0',
  'libcap2',
  'libzstd1',
  'zlib1g',
];
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const CACHE = join(import.meta.dirname, '../../.cache/pgbouncer', `${RELEASE}-${process.arch}`);
/** PgBouncer refuses to run as root. */
const NOBODY = 65_534;

type Program = [file: string, ...args: string[]];

/** Unpacks Debian's PgBouncer into the cache folder; undefined if it cannot be downloaded. */
export async function findPgBouncer(): Promise<Program | undefined> {
  return (await unpacked(CACHE)) ?? (await fetchInto(CACHE).catch(() => undefined));
}

async function unpacked(root: string): Promise<Program | undefined> {
  const libraries = join(root, 'usr/lib', `${ARCHITECTURES[process.arch]}-linux-gnu`);
  const names = await readdir(libraries).catch(() => [] as string[]);
  const loader = names.find((name) => name.startsWith('ld-linux'));
  if (loader === undefined) return undefined;
  const program = join(root, 'usr/sbin/pgbouncer');
  const command: Program = [join(libraries, loader), '--library-path', libraries, program];
  const [file, ...args] = command;
  return execute(file, [...args, '--version']).then(
    () => command,
    () => undefined,
  );
}

const ARCHITECTURES: Record<string, string> = { x64: 'x86_64', arm64: 'aarch64' };

async function fetchInto(target: string): Promise<Program | undefined> {
  const work = `${target}.tmp-${process.pid}`;
  try {
    for (const folder of ['state/lists/partial', 'cache/archives/partial', 'packages', 'root']) {
      await mkdir(join(work, folder), { recursive: true });
    }
    const source = `deb [signed-by=${KEYRING}] ${await findMirror()} ${RELEASE} main\n`;
    await writeFile(join(work, 'sources.list'), source);
    const apt = (args: string[], cwd = work) =>
      execute('apt-get', [...optionsOf(work), ...args], { cwd, timeout: 180_000 });
    await apt(['update']);
    await apt(['download', ...PACKAGES], join(work, 'packages'));
    for (const name of await readdir(join(work, 'packages'))) {
      await execute('dpkg-deb', ['-x', join(work, 'packages', name), join(work, 'root')]);
    }
    await rename(join(work, 'root'), target);
    return await unpacked(target);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** The address from which this machine installs its own packages. */
async function findMirror(): Promise<string> {
  const args = ['indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages'];
  const { stdout } = await execute('apt-get', args);
  const found = stdout.split('\n').find((address) => /\/debian\/?$/.test(address));
  if (found === undefined) throw new Error('No source of this machine has the packages of Debian');
  return found;
}

function optionsOf(work: string): string[] {
  const settings = {
    'Dir::State': join(work, 'state'),
    'Dir::State::Lists': join(work, 'state/lists'),
    'Dir::State::status': '/var/lib/dpkg/status',
    'Dir::Cache': join(work, 'cache'),
    'Dir::Etc::sourcelist': join(work, 'sources.list'),
    'Dir::Etc::sourceparts': '-',
    'Debug::NoLocking': 'true',
    'APT::Sandbox::User': process.getuid?.() === 0 ? 'root' : '',
    'Acquire::Languages': 'none',
  };
  return Object.entries(settings).flatMap(([key, value]) => ['-o', `${key}=${value}`]);
}

/** Runs a PgBouncer in transaction mode before the server of these URLs. */
export class TestPgBouncer {
  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    private readonly port: number,
  ) {}

  static async start(
    [file, ...args]: Program,
    urls: string[],
    settings: Record<string, string> = {},
  ): Promise<TestPgBouncer> {
    const folder = await mkdtemp(join(tmpdir(), 'drover-pgbouncer-'));
    const port = await freePort();
    const users = urls.map((url) => new URL(url));
    const names = users.map(
      ({ username, password }) => `"${username}" "${decodeURIComponent(password)}"\n`,
    );
    await writeFile(join(folder, 'users.txt'), names.join(''));
    const all = {
      listen_addr: '127.0.0.1',
      listen_port: String(port),
      unix_socket_dir: '',
      auth_type: 'scram-sha-256',
      auth_file: join(folder, 'users.txt'),
      pool_mode: 'transaction',
      max_prepared_statements: '500',
      default_pool_size: '4',
      max_client_conn: '200',
      ...settings,
    };
    const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
    const server = `* = host=${users[0]?.hostname} port=${users[0]?.port}`;
    const config = ['[databases]', server, '[pgbouncer]', ...lines, ''].join('\n');
    await writeFile(join(folder, 'pgbouncer.ini'), config);
    await chmod(folder, 0o755);
    const asNobody = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
    const child = spawn(file, [...args, '-q', join(folder, 'pgbouncer.ini')], {
      ...asNobody,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const bouncer = new TestPgBouncer(child, folder, port);
    await waitFor('PgBouncer to listen', () => accepts(port));
    return bouncer;
  }

  /** Returns the URL of the same database and user through the pooler. */
  before(url: string): string {
    const through = new URL(url);
    through.host = `127.0.0.1:${this.port}`;
    return through.href;
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    if (this.child.kill('SIGKILL')) await ended;
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  }).then((accepted) => {
    socket.destroy();
    return accepted as boolean;
  });
}
