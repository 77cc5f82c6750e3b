import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { chownSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { git, type GitCall, GitError, gitText } from '../process/git.js';
import type { Setting } from '../process/hardened.js';
import { type Jail, JAIL_FOLDERS, type JailProgram, type JailUser } from '../process/jail.js';
import { makeBare } from '../repository/folders.js';
import type { RunRepository } from '../repository/run-repository.js';
import { type CommitWords, createCommit } from './create-commit.js';

export interface SnapshotsOptions {
  run: RunRepository;
  /** The objects of the mirror on this host. */
  mirrorObjects: string;
  /** The working folder of the session. */
  work: string;
  program: JailProgram;
  user?: JailUser;
  path?: string;
  /** Paths of the working folder that are ignored, unless a `.gitignore` says otherwise. */
  ignored?: readonly string[];
  /** A folder of the working folder that no snapshot has, whatever the repository ignores. */
  excluded?: string;
  /** A merge commit of this host on which the session begins. The first snapshot takes its place. */
  draft?: string;
}

/** The new objects of one snapshot. */
const MAX_PACK_BYTES = 1024 ** 3;

/**
 * Snapshots of a working folder as commits. The git that reads the folder runs in a jail with a git
 * folder of this host, so neither the session's git folder nor a link of it leads anywhere. Nested
 * repositories are left out.
 */
export class Snapshots {
  private readonly gitDir: string;
  private readonly indexFile: string;
  /** The commit whose files the index had before the folder. */
  private begun: string | undefined;

  constructor(private readonly options: SnapshotsOptions) {
    this.gitDir = join(options.run.folder, 'snapshot.git');
    this.indexFile = join(this.gitDir, 'index');
  }

  /** The path for the index of the checkout, with which the first snapshot is fast. */
  get seed(): string {
    return join(this.options.run.folder, 'seed.index');
  }

  /** @param commit the commit of the seed */
  async make(commit: string): Promise<void> {
    const { user } = this.options;
    await rm(this.gitDir, { recursive: true, force: true });
    await makeBare(this.gitDir);
    await mkdir(join(this.gitDir, 'info'), { recursive: true });
    const ignored = (this.options.ignored ?? []).map((path) => `/${path}\n`).join('');
    await writeFile(join(this.gitDir, 'info/exclude'), ignored);
    await copyFile(this.seed, this.indexFile);
    this.begun = commit;
    if (user !== undefined) {
      for (const path of ['', 'objects', 'objects/info', 'objects/pack', 'index', 'info']) {
        chownSync(join(this.gitDir, path), user.uid, user.gid);
      }
    }
  }

  /**
   * Commits the files of the folder on top of the run's branch, in the run's repository. No ref
   * moves.
   *
   * @returns `commit`: the tip of the branch itself if the folder has its files; `notes`: sentences
   *   about files that are left out
   * @throws GitError
   */
  async take(words: CommitWords): Promise<{ commit: string; isNew: boolean; notes: string[] }> {
    const { run } = this.options;
    const tip = await run.tip();
    if (tip === undefined) throw new Error('The branch of the run has no commit');
    await this.bringIndexTo(tip);
    await this.dropExcluded();
    const notes = await this.addAll();
    const tree = await gitText(['write-tree'], this.jailed());
    const isSame = tree === (await gitText(['rev-parse', `${tip}^{tree}`], run.call));
    if (isSame) return { commit: tip, isNew: false, notes };
    await this.import(tree, tip);
    const parents = await this.parentsOn(tip);
    const commit = await createCommit({ tree, parents, ...words }, run.call);
    return { commit, isNew: true, notes };
  }

  private async parentsOn(tip: string): Promise<string[]> {
    const { draft, run } = this.options;
    if (tip !== draft) return [tip];
    return (await gitText(['rev-parse', `${draft}^@`], run.call)).split('\n');
  }

  private async bringIndexTo(tip: string): Promise<void> {
    if (this.begun === tip) return;
    const { begun = tip } = this;
    const isMerged = await git(['read-tree', '-m', '--', begun, tip], this.jailed()).then(
      () => true,
      () => false,
    );
    if (!isMerged) await git(['read-tree', '--', tip], this.jailed());
    this.begun = tip;
  }

  /** The session can have committed it. */
  private async dropExcluded(): Promise<void> {
    const { excluded } = this.options;
    if (excluded === undefined) return;
    const drop = ['rm', '-r', '-f', '-q', '--cached', '--sparse', '--ignore-unmatch', '--'];
    await git([...drop, `:(literal)${excluded}`], this.jailed());
  }

  private async addAll(): Promise<string[]> {
    const stderr = await this.add(this.pathspecs());
    const notes = stderr
      .split('\n')
      .filter((line) => line.startsWith('error:'))
      .slice(0, 5)
      .map((line) => `A file is not in the commit: ${line.slice(7)}`);
    const { stdout } = await git(['ls-files', '-s', '-z'], this.jailed());
    const nested = stdout
      .toString()
      .split('\0')
      .filter((line) => line.startsWith('160000 '))
      .map((line) => line.slice(line.indexOf('\t') + 1));
    if (nested.length === 0) return notes;
    const input = nested.map((name) => `${name}\0`).join('');
    await git(['update-index', '-z', '--force-remove', '--stdin'], this.jailed({ input }));
    const named = nested.map((name) => `The repository within ${name} is not in the commit`);
    return [...notes, ...named.slice(0, 5)];
  }

  /** A folder above can have no files, and git refuses a pattern of nothing. @returns its words */
  private async add(specs: string[]): Promise<string> {
    try {
      const args = ['add', '--all', '--ignore-errors', '--', ...specs];
      return (await git(args, this.jailed({ codes: [1] }))).stderr;
    } catch (error) {
      const words = error instanceof GitError ? error.stderr : '';
      const left = specs.filter((spec) => !words.includes(`pathspec '${spec}' did not match any`));
      if (left.length === specs.length) throw error;
      // Exclusions alone would mean everything else.
      return left.every((spec) => spec.startsWith(':(exclude')) ? '' : this.add(left);
    }
  }

  /** Only the part that is checked out is compared: its folder, and the files above. */
  private pathspecs(): string[] {
    const { path, excluded } = this.options;
    const without = excluded === undefined ? [] : [`:(exclude,literal)${excluded}`];
    if (path === undefined) return ['.', ...without];
    const parts = path.split('/');
    const above = parts.map((_, depth) =>
      parts
        .slice(0, depth)
        .map((part) => `${part}/`)
        .join(''),
    );
    return [`:(literal)${path}`, ...above.map((folder) => `:(glob)${folder}*`), ...without];
  }

  /** Takes the new objects through a check of each of them. */
  private async import(tree: string, tip: string): Promise<void> {
    const { run } = this.options;
    const pack = new PassThrough();
    await Promise.all([
      git(
        ['pack-objects', '--revs', '--stdout', '--thin', '-q', '--delta-base-offset'],
        this.jailed({ input: `${tree}\n^${tip}\n`, output: pack }),
      ),
      git(
        ['index-pack', '--stdin', '--fix-thin', '--strict', `--max-input-size=${MAX_PACK_BYTES}`],
        {
          ...run.call,
          input: pack,
        },
      ),
    ]);
  }

  /** The place in which git reads the folder. */
  jail(): Jail {
    const { run, mirrorObjects, work, program, user } = this.options;
    return {
      program,
      user,
      chdir: JAIL_FOLDERS.work,
      readable: [
        [work, JAIL_FOLDERS.work],
        [run.objects, JAIL_FOLDERS.objects],
        // The run's repository borrows from it by this path.
        [mirrorObjects, mirrorObjects],
      ],
      writable: [[this.gitDir, JAIL_FOLDERS.git]],
    };
  }

  private jailed(more: Partial<GitCall> = {}): GitCall {
    const config: Setting[] = [
      ['core.bare', 'false'],
      ['core.trustctime', 'false'],
      ['core.checkStat', 'minimal'],
      ['core.sparseCheckout', 'false'],
      ['sparse.expectFilesOutsideOfPatterns', 'true'],
    ];
    return {
      ...more,
      config,
      gitDir: JAIL_FOLDERS.git,
      workTree: JAIL_FOLDERS.work,
      objects: [JAIL_FOLDERS.objects],
      cwd: '/',
      jail: this.jail(),
    };
  }
}
