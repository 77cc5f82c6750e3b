import { execFile, execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { EmbeddedError, fetchPackage, findBubblewrap, Supervisor } from '#lib/local-servers';
import { Program } from '../e2e/program.js';
import { waitFor } from '../support/wait-for.js';

const execute = promisify(execFile);

/** The stage's name in the Dockerfile. */
const BASE = 'localhost/node:24-bookworm-slim';
const context = join(import.meta.dirname, '../..');
/** Programs that the last stage of the Dockerfile starts, and one that tests the engine. */
const PROGRAMS = ['/bin/sh', '/bin/mkdir', '/bin/chown', '/bin/rm', '/bin/true', '/usr/bin/perl'];
/** Containers end by themselves if these tests are killed. */
const LONGEST_SECONDS = 120;

interface Engine {
  file: string;
  libraries: string;
}

/** Runs Podman with images and containers below one folder. */
export class Podman {
  private readonly env: Record<string, string>;
  private readonly global: string[];

  private constructor(
    private readonly engine: Engine,
    private readonly folder: string,
  ) {
    const { file, libraries } = engine;
    const places = [dirname(file), join(dirname(file), '../sbin')];
    this.env = {
      PATH: [...places, process.env['PATH'] ?? ''].join(':'),
      LD_LIBRARY_PATH: libraries,
      CONTAINERS_CONF: join(folder, 'containers.conf'),
      CONTAINERS_STORAGE_CONF: join(folder, 'storage.conf'),
      CONTAINERS_REGISTRIES_CONF: join(folder, 'registries.conf'),
    };
    this.global = [`--tmpdir=${join(folder, 'tmpdir')}`];
  }

  /**
   * Unpacks Podman from Debian's packages, and builds the Dockerfile's base image from this
   * machine's Node.
   *
   * @returns a sentence if this machine runs no containers
   */
  static async start(folder: string): Promise<Podman | string> {
    if (process.getuid?.() !== 0) return 'Podman is tried as root only.';
    try {
      const podman = new Podman(await findEngine(), folder);
      podman.configure();
      await podman.makeBase();
      await podman.to(['run', '--rm', BASE, 'true']);
      return podman;
    } catch (error) {
      const [reason] = (error as Error).message.trim().split('\n').slice(-1);
      return `Podman does not run here: ${reason}`;
    }
  }

  private configure(): void {
    const bin = dirname(this.engine.file);
    const env = Object.entries(this.env).map(([name, value]) => `${name}=${value}`);
    mkdirSync(this.folder, { recursive: true });
    const lines = {
      'containers.conf': [
        '[containers]',
        // Some environments forbid an engine to raise the limits.
        'default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]',
        'netns = "host"',
        '[engine]',
        'cgroup_manager = "cgroupfs"',
        'events_logger = "none"',
        'runtime = "runc"',
        `conmon_path = [${JSON.stringify(join(bin, 'conmon'))}]`,
        // conmon starts Podman again at the end of a container.
        `conmon_env_vars = ${JSON.stringify(env)}`,
        '[engine.runtimes]',
        `runc = [${JSON.stringify(join(bin, '../sbin/runc'))}]`,
      ],
      'storage.conf': [
        '[storage]',
        'driver = "overlay"',
        `graphroot = ${JSON.stringify(join(this.folder, 'root'))}`,
        `runroot = ${JSON.stringify(join(this.folder, 'runroot'))}`,
      ],
      'registries.conf': ['unqualified-search-registries = []'],
      'policy.json': ['{"default":[{"type":"insecureAcceptAnything"}]}'],
    };
    for (const [name, text] of Object.entries(lines)) {
      writeFileSync(join(this.folder, name), `${text.join('\n')}\n`);
    }
  }

  /** The image has Node, a shell and bubblewrap. An empty program replaces apt-get. */
  private async makeBase(): Promise<void> {
    const root = join(this.folder, 'base');
    const bubblewrap = await findBubblewrap();
    for (const file of PROGRAMS) copyProgram(file, root, file);
    copyProgram(bubblewrap.file, root, '/usr/bin/bwrap', bubblewrap.env);
    const libraries = copyProgram(process.execPath, root, '/usr/local/bin/node');
    const c = libraries.find((path) => basename(path) === 'libc.so.6');
    // This file is part of the C library's package, and npm's native modules can need it.
    if (c)
      cpSync(realpathSync(join(dirname(c), 'librt.so.1')), join(root, dirname(c), 'librt.so.1'));
    const texts = {
      'etc/passwd': 'root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n',
      'etc/group': 'root:x:0:\nnode:x:1000:\n',
      'usr/bin/apt-get': '#!/bin/sh\nexit 0\n',
      Dockerfile: 'FROM scratch\nCOPY . /\nENV PATH=/usr/local/bin:/usr/bin:/bin\n',
    };
    for (const name of ['etc', 'tmp', 'var/lib/apt/lists']) {
      mkdirSync(join(root, name), { recursive: true });
    }
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(root, name), text);
    chmodSync(join(root, 'usr/bin/apt-get'), 0o755);
    chmodSync(join(root, 'tmp'), 0o1777);
    await this.build(root, ['--tag', BASE]);
    rmSync(root, { recursive: true });
  }

  /** Builds the Dockerfile's last stage from the existing results of its other stages. */
  async buildLast(stages: string): Promise<void> {
    const contexts = ['--build-context', `installed=${join(stages, 'installed')}`];
    const labels = ['--build-arg', 'VERSION=1.2.3', '--build-arg', 'REVISION=abc'];
    // The format of OCI has no health check.
    const image = ['--format', 'docker', '--target', 'drover', '--tag', 'drover'];
    await this.build(context, [...image, ...labels, ...contexts]);
  }

  private build(from: string, more: string[]): Promise<string> {
    const policy = ['--signature-policy', join(this.folder, 'policy.json')];
    return this.to(['build', '--pull=never', '--layers=false', ...policy, ...more, from]);
  }

  /** Returns the configuration of the image. */
  async config(): Promise<Record<string, unknown>> {
    type Inspected = { Config: object; HealthCheck?: object; Healthcheck?: object };
    const text = await this.to(['image', 'inspect', 'drover']);
    const [image] = JSON.parse(text) as [Inspected];
    return { ...image.Config, Healthcheck: image.HealthCheck ?? image.Healthcheck };
  }

  /** A container of the image, on this machine's network. */
  run(options: string[], env: Record<string, string>, command: readonly string[]): Program {
    const told = Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
    const bound = ['--rm', '--timeout', String(LONGEST_SECONDS)];
    const args = ['run', ...bound, ...options, ...told, 'drover', ...command];
    const [first = '', ...rest] = [...this.global, ...args];
    return new Program(first, rest, this.env, undefined, this.engine.file);
  }

  /**
   * @returns its standard output
   */
  private async to(args: string[]): Promise<string> {
    const { file } = this.engine;
    const env = { ...process.env, ...this.env };
    const { stdout } = await execute(file, [...this.global, ...args], { env, cwd: '/' });
    return stdout.trim();
  }

  async stop(): Promise<void> {
    await this.to(['rm', '--all', '--force', '--time', '0']);
    // Programs that Podman started at the end of a container can still write to its folder.
    await waitFor('the last of the engine to leave its folder', () => this.isRemoved());
  }

  private isRemoved(): boolean {
    try {
      // Podman may have mounted this folder on itself.
      const overlay = join(this.folder, 'root/overlay');
      if (readFileSync('/proc/mounts', 'utf8').includes(` ${overlay} `)) {
        execFileSync('umount', [overlay]);
      }
      rmSync(this.folder, { recursive: true, force: true });
      return true;
    } catch {
      return false;
    }
  }
}

async function findEngine(): Promise<Engine> {
  const supervisor = await Supervisor.start();
  try {
    return await fetchPackage<Engine>(
      {
        name: 'podman',
        title: 'Podman',
        packages: ['podman'],
        // crun refuses machines with both versions of control groups.
        rather: ['runc'],
        needs: (needed) => /^(lib|conmon$|runc$|golang-github-containers-)/.test(needed),
        probe: async (bin, { LD_LIBRARY_PATH: libraries = '' }) => {
          const file = join(bin, 'podman');
          const env = { ...process.env, LD_LIBRARY_PATH: libraries };
          const version = await execute(file, ['--version'], { env }).catch(() => undefined);
          return version && { file, libraries };
        },
        missing: (_, cause) => new EmbeddedError('binaries_missing', 'it cannot be had', { cause }),
      },
      { supervisor },
    );
  } finally {
    await supervisor.close();
  }
}

/** Copies the program with its libraries, and returns them with their paths. */
function copyProgram(
  file: string,
  root: string,
  target: string,
  env: Record<string, string> = {},
): string[] {
  const needs = execFileSync('ldd', [file], { encoding: 'utf8', env: { ...process.env, ...env } });
  const libraries = needs.split(/\s/).filter((word) => word.startsWith('/'));
  const places = libraries.map((path) => [path, placeOf(path)]);
  for (const [path = '', place = ''] of [[file, target], ...places]) {
    mkdirSync(dirname(join(root, place)), { recursive: true });
    cpSync(realpathSync(path), join(root, place));
  }
  return libraries;
}

/** Returns the path at which the loader looks for the library. */
function placeOf(library: string): string {
  return /^(\/usr)?\/lib/.test(library) ? library : join('/usr/lib', basename(library));
}
