import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const BRANCH = 'main';
const WHO = ['-c', 'user.name=Grace', '-c', 'user.email=grace@demo.local'];

/** A repository in a folder of this machine, with one commit. */
export class Poems {
  private constructor(readonly path: string) {}

  static make(folder: string): Poems {
    const poems = new Poems(join(folder, 'poems'));
    mkdirSync(poems.path);
    poems.git('init', '--quiet', '--initial-branch', BRANCH);
    writeFileSync(join(poems.path, 'README.md'), '# Poems\n');
    poems.git('add', '--all');
    poems.git(...WHO, 'commit', '--quiet', '--message', 'Begin');
    return poems;
  }

  /** True if Drover keeps files of a session that is not over. */
  hasWorkOf(taskId: string): boolean {
    return this.git('for-each-ref', `refs/drover/work/${taskId}`) !== '';
  }

  /** A file on the branch. Empty if there is none. */
  file(name: string): string {
    const isThere = this.git('ls-tree', '--name-only', BRANCH, name) !== '';
    return isThere ? this.git('show', `${BRANCH}:${name}`) : '';
  }

  /** The last commit of the branch in one line: its author and its subject. */
  lastCommit(): string {
    return this.git('log', '-1', '--format=%h %an: %s', BRANCH).trimEnd();
  }

  private git(...args: string[]): string {
    const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
    return execFileSync('git', args, { cwd: this.path, env, encoding: 'utf8' });
  }
}
