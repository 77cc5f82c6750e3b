import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  EmbeddedError,
  fetchPackage,
  findBubblewrap,
  freePort,
  Supervisor,
} from '#lib/local-servers';
import type { TestPlace } from './repositories.js';

interface Sshd {
  file: string;
  env: Record<string, string>;
}

/** The sshd of the distribution, unpacked into the cache folder; undefined if it cannot be had. */
export async function findSshd(): Promise<Sshd | undefined> {
  const supervisor = await Supervisor.start();
  const wanted = {
    name: 'sshd',
    title: 'an SSH server',
    packages: ['openssh-server'],
    needs: (needed: string) => needed.startsWith('lib'),
    probe: (bin: string, env: Record<string, string>) => probe(join(bin, '../sbin/sshd'), env),
    missing: () => new EmbeddedError('binaries_missing', 'no package has an SSH server'),
  };
  try {
    return await fetchPackage(wanted, { supervisor });
  } catch (error) {
    process.stderr.write(`No sshd: ${String(error)}\n`);
    return undefined;
  } finally {
    await supervisor.close();
  }
}

async function probe(file: string, env: Record<string, string>): Promise<Sshd | undefined> {
  // It has no option for its version, and names it when it refuses one.
  const said = await promisify(execFile)(file, ['-V'], { env }).catch(
    (error: { stderr?: string }) => ({ stderr: error.stderr }),
  );
  return said.stderr?.includes('OpenSSH') === true ? { file, env } : undefined;
}

/** A new pair of keys. @returns the private one */
export function makeKey(place: TestPlace, name: string): string {
  const args = ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', place.path(name)];
  execFileSync('ssh-keygen', args);
  return readFileSync(place.path(name), 'utf8');
}

export function publicKey(place: TestPlace, name: string): string {
  return readFileSync(place.path(`${name}.pub`), 'utf8').trim();
}

/** An SSH server on this machine for the keys of a place: `host` is its own, `user` can enter. */
export class TestSshd {
  private child: ChildProcess | undefined;

  private constructor(
    private readonly sshd: Sshd,
    private readonly place: TestPlace,
    private readonly port: number,
  ) {}

  static async start(sshd: Sshd, place: TestPlace): Promise<TestSshd> {
    for (const name of ['host', 'user']) makeKey(place, name);
    const server = new TestSshd(sshd, place, await freePort());
    const settings = {
      Port: server.port,
      ListenAddress: '127.0.0.1',
      HostKey: place.path('host'),
      AuthorizedKeysFile: place.path('user.pub'),
      PidFile: 'none',
      UsePAM: 'no',
      StrictModes: 'no',
      PasswordAuthentication: 'no',
      KbdInteractiveAuthentication: 'no',
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name} ${value}\n`);
    writeFileSync(place.path('sshd_config'), lines.join(''));
    await server.run();
    return server;
  }

  /** The address of a repository of this machine. */
  url(path: string): string {
    return `ssh://${userInfo().username}@127.0.0.1:${this.port}${path}`;
  }

  /** As `ssh-keyscan` prints them. */
  get knownHosts(): string {
    return `[127.0.0.1]:${this.port} ${publicKey(this.place, 'host')}\n`;
  }

  /** The server has another key from now on. */
  async changeHostKey(): Promise<void> {
    await this.stop();
    for (const name of ['host', 'host.pub']) rmSync(this.place.path(name));
    makeKey(this.place, 'host');
    await this.run();
  }

  async stop(): Promise<void> {
    const { child } = this;
    if (child === undefined) return;
    this.child = undefined;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }

  private async run(): Promise<void> {
    const { file, env } = this.sshd;
    const command = [file, '-D', '-e', '-f', this.place.path('sshd_config')];
    const [first = '', ...args] = [...(await this.around()), ...command];
    const child = spawn(first, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
    this.child = child;
    let said = '';
    const ended = once(child, 'exit').then(() => {
      throw new Error(`sshd has ended:\n${said}`);
    });
    const listens = new Promise<void>((resolve) => {
      child.stderr.on('data', (chunk: Buffer) => {
        said += chunk.toString();
        if (said.includes('Server listening')) resolve();
      });
    });
    await Promise.race([listens, ended]);
    ended.catch(() => undefined);
  }

  /** As root it wants an account and a folder, which a machine without it does not have. */
  private async around(): Promise<string[]> {
    if (process.getuid?.() !== 0) return [];
    const accounts = ['root:x:0:0::/:/bin/sh', 'sshd:x:65533:65534::/run/sshd:/bin/false', ''];
    writeFileSync(this.place.path('passwd'), accounts.join('\n'));
    const { file } = await findBubblewrap();
    const access = ['--dev-bind', '/', '/', '--die-with-parent', '--cap-add', 'ALL'];
    const own = ['--ro-bind', this.place.path('passwd'), '/etc/passwd', '--tmpfs', '/run'];
    return [file, ...access, ...own, '--dir', '/run/sshd', '--'];
  }
}
