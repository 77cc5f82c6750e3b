import { transformFile } from '@swc/core';
import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, watch } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { projectRoot } from '#lib/kernel';

/** The library compiled for separate processes, which tests can kill. */
export class CompiledLibrary {
  private constructor(private readonly folder: string) {}

  static async make(): Promise<CompiledLibrary> {
    const source = join(projectRoot, 'libs', 'dev', 'local-servers');
    const cache = join(projectRoot, '.cache');
    await mkdir(cache, { recursive: true });
    const folder = await mkdtemp(join(cache, 'embedded-spec-'));
    const names = (await readdir(source, { recursive: true })).filter(isCompiled);
    await Promise.all(
      names.map(async (name) => {
        const { code } = await transformFile(join(source, name));
        await mkdir(dirname(join(folder, name)), { recursive: true });
        await writeFile(join(folder, name.replace(/ts$/, 'js')), code);
      }),
    );
    return new CompiledLibrary(folder);
  }

  /** Runs a module's text with `lib` (the library) and `tell`, which prints a line of JSON. */
  async run(body: string): Promise<Child> {
    const file = join(this.folder, `child-${String(Math.random()).slice(2)}.mjs`);
    const tell = 'const tell = (value) => console.log(JSON.stringify(value));';
    await writeFile(file, `import * as lib from './index.js';\n${tell}\n${body}`);
    const stdio: ['ignore', 'pipe', 'inherit'] = ['ignore', 'pipe', 'inherit'];
    return new Child(spawn(process.execPath, [file], { stdio, detached: true }));
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

export class Child {
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  private readonly lines: AsyncIterator<string>;

  constructor(private readonly child: ChildProcessByStdio<null, Readable, null>) {
    this.lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    this.exited = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  async told<T>(): Promise<T> {
    const { value, done } = await this.lines.next();
    if (done) throw new Error('the child ended without a word');
    return JSON.parse(value) as T;
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** As a terminal does: to everyone in the foreground group. */
  signalGroup(signal: NodeJS.Signals): void {
    process.kill(-this.pid, signal);
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Resolves when the path no longer exists. */
export async function gone(path: string): Promise<void> {
  await new Promise<void>((resolve) => {
    const watcher = watch(dirname(path), (_event, name) => {
      if (name === basename(path)) look();
    });
    const look = (): void => {
      if (existsSync(path)) return;
      watcher.close();
      resolve();
    };
    look();
  });
}

/** Sends commands to a Valkey and returns its first answer. */
export async function askValkey(url: string, ...commands: string[]): Promise<string> {
  const { hostname, port, password } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.setEncoding('utf8');
  const wanted = commands.length + 1;
  let answer = '';
  socket.write(['AUTH ' + password, ...commands].map((command) => `${command}\r\n`).join(''));
  for await (const chunk of socket) {
    answer += String(chunk);
    if (answer.split('\r\n').length > wanted) break;
  }
  socket.destroy();
  return answer;
}

function isCompiled(name: string): boolean {
  return name.endsWith('.ts') && !/spec\.ts$|^testing/.test(name);
}
