import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A folder of one test, with repositories that plain git made. */
export class TestPlace {
  readonly root = mkdtempSync(join(tmpdir(), 'drover-git-'));
  /** Whatever a repository runs by itself creates this file. */
  readonly trapped = join(this.root, 'trapped');

  path(name: string): string {
    return join(this.root, name);
  }

  read(name: string): string {
    return readFileSync(this.path(name), 'utf8');
  }

  /** A repository with one commit on `main`. */
  repository(name: string, files: Record<string, string> = { 'a.txt': 'one\n' }): TestRepository {
    const repository = new TestRepository(this.path(name));
    mkdirSync(repository.path, { recursive: true });
    repository.git('init', '-q', '-b', 'main');
    repository.commit(files);
    return repository;
  }

  /** A script that springs the trap, and passes its input on. */
  trap(name = 'trap.sh'): string {
    const file = this.path(name);
    writeFileSync(file, `#!/bin/sh\ntouch ${this.trapped}\nexec timeout 1 cat\n`);
    chmodSync(file, 0o755);
    return file;
  }

  get isTrapped(): boolean {
    return existsSync(this.trapped);
  }

  disarm(): void {
    rmSync(this.trapped, { force: true });
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

export class TestRepository {
  constructor(readonly path: string) {}

  get gitDir(): string {
    return existsSync(join(this.path, '.git')) ? join(this.path, '.git') : this.path;
  }

  /** Plain git, as a person has it. */
  git(...args: string[]): string {
    return plainGit(this.path, ...args);
  }

  write(files: Record<string, string>): void {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(this.path, name)), { recursive: true });
      writeFileSync(join(this.path, name), content);
    }
  }

  commit(files: Record<string, string>, message = 'A commit'): string {
    this.write(files);
    this.git('add', '-A', '-f');
    this.git('commit', '-q', '--no-verify', '-m', message);
    return this.head();
  }

  head(ref = 'HEAD'): string {
    return this.git('rev-parse', ref);
  }

  show(ref: string, file: string): string {
    return this.git('show', `${ref}:${file}`);
  }
}

export function plainGit(cwd: string, ...args: string[]): string {
  const who = ['-c', 'user.name=Pat', '-c', 'user.email=pat@example.com'];
  return execFileSync('git', [...who, ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 20_000,
    env: { PATH: process.env['PATH'], HOME: cwd, GIT_CONFIG_NOSYSTEM: '1' },
  }).replace(/\n$/, '');
}
