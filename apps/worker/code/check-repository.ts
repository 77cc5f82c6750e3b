import { access as mayAccess, constants } from 'node:fs/promises';
import { messageOf } from '#lib/agent-host';
import { type ForgeFinding, type ForgeLimits, openForge } from '#lib/forges';
import {
  CheckedOut,
  gitText,
  gitVersion,
  push,
  type ReachedRemote,
  readRefs,
  whyUnsupported,
} from '#lib/git';
import type { CodeHost, HostRepository } from './code-host.js';
import { LOCK_FILES } from './setup-cache.js';
import type { CheckWork, Finding, RepositoryAccess } from './types.js';

/** The time to reach a repository. Its first copy can take longer. */
const REACH_MS = 60_000;
const TRIED_BRANCH = 'refs/heads/drover/check';

const MEND_ACCESS =
  'Mend the address, or give credentials that can read and write: `drover repo set NAME --token-stdin`, ' +
  'or `--ssh-key FILE --known-hosts FILE`.';
const MEND_FOLDER = 'Name its parent in DROVER_REPOSITORY_PATHS of the server and the worker.';

/**
 * Looks for what would fail when agents work on a repository. Each finding that is not `ok` says how
 * to mend it.
 *
 * @throws the errors of the signal
 */
export async function checkRepository(
  host: CodeHost,
  access: RepositoryAccess,
  { limits, signal, publicUrl }: Asking,
): Promise<Finding[]> {
  const found = new Findings();
  found.ok('host', `${await gitVersion()}, and a sandbox for scripts`);
  checkScripts(access, found);
  const repository = await host.repository(access);
  await repository
    .reach((remote) => checkRemote(repository, remote, { found, signal }))
    .catch((error: unknown) => {
      signal.throwIfAborted();
      const isFolder = access.url.startsWith('/');
      const name = found.all.some((one) => one.name === 'reachable') ? 'fetch' : 'reachable';
      found.failed(name, messageOf(error), isFolder ? MEND_FOLDER : MEND_ACCESS);
    });
  await checkForge(access, { limits, publicUrl }, { found, signal });
  return found.all;
}

interface Asking extends Partial<Pick<CheckWork, 'publicUrl'>> {
  limits: ForgeLimits;
  signal: AbortSignal;
}

class Findings {
  readonly all: Finding[] = [];

  ok(name: string, message: string): void {
    this.all.push({ name, outcome: 'ok', message });
  }

  warn(name: string, message: string, advice?: string): void {
    const shown = message.slice(0, 4_000);
    this.all.push({ name, outcome: 'warning', message: shown, ...(advice && { advice }) });
  }

  failed(name: string, message: string, advice: string): void {
    this.all.push({ name, outcome: 'failed', message: message.slice(0, 4_000), advice });
  }
}

interface Checking {
  found: Findings;
  signal: AbortSignal;
}

function checkScripts({ acceptance }: RepositoryAccess, found: Findings): void {
  if (acceptance?.trim())
    return found.ok('acceptance', 'Its acceptance commands prove each change');
  const advice = "Set them: `drover repo set NAME --accept 'npm test'`.";
  found.warn('acceptance', 'It has no acceptance commands: nothing proves a change', advice);
}

/** @throws UnusableRepository, GitError if it cannot be reached */
async function checkRemote(
  repository: HostRepository,
  remote: ReachedRemote,
  { found, signal }: Checking,
): Promise<void> {
  const { defaultBranch } = repository.access;
  const ref = `refs/heads/${defaultBranch}`;
  const within = AbortSignal.any([signal, AbortSignal.timeout(REACH_MS)]);
  const refs = await readRefs(remote, [ref], within);
  found.ok('reachable', 'The repository can be read');
  if (!refs.has(ref)) {
    const advice =
      'Push a first commit, or name another branch: `drover repo set NAME --branch BRANCH`.';
    return found.failed('branch', `It has no branch ${defaultBranch}`, advice);
  }
  found.ok('branch', `Changes land on ${defaultBranch}`);
  await repository.mirror.fetch(remote, { signal });
  const tip = await repository.mirror.tip(defaultBranch);
  await checkPush(repository, remote, { found, signal, tip });
  await checkContent(repository, tip, found);
  const checkedOut = await CheckedOut.find(remote.local, ref, repository.mirror.call);
  const why = await checkedOut?.whyNot(tip);
  if (why === undefined) return;
  found.warn(
    'folder',
    `${why}. Changes wait until it is clean`,
    'Commit the changes, or stash them.',
  );
}

/** The rights of the token at the forge, the protection of the branch, and hooks. */
async function checkForge(
  access: RepositoryAccess,
  { limits, publicUrl }: Omit<Asking, 'signal'>,
  { found, signal }: Checking,
): Promise<void> {
  try {
    const { defaultBranch: target, requiredChecks, mergeMethod } = access;
    const wanted = { target, requiredChecks, mergeMethod, publicUrl };
    const findings = await openForge(access, limits, signal)?.check(wanted);
    for (const { about, isFine, message } of findings ?? []) {
      if (isFine) found.ok(nameOf(about), message);
      else found.warn(nameOf(about), message);
    }
  } catch (error) {
    signal.throwIfAborted();
    const advice =
      'Mend its address or token: `drover repo set NAME --forge-url URL --token-stdin`.';
    found.failed('forge', `The forge cannot be asked: ${messageOf(error)}`, advice);
  }
}

function nameOf(about: ForgeFinding['about']): string {
  return `forge-${about.replace(' ', '-')}`;
}

/** The push changes nothing: git ends before it sends anything. */
async function checkPush(
  { mirror }: HostRepository,
  remote: ReachedRemote,
  { found, signal, tip }: Checking & { tip: string },
): Promise<void> {
  try {
    if (remote.local !== undefined) {
      await mayAccess(`${remote.local.gitDir}/refs`, constants.W_OK);
    }
    const refs = [{ name: TRIED_BRANCH, from: undefined, to: tip }];
    const end = await push(mirror.gitDir, remote, refs, { signal, dryRun: true });
    if (end.kind === 'refused') throw new Error(end.why);
    found.ok('push', 'Branches can be pushed');
  } catch (error) {
    signal.throwIfAborted();
    const message = `Branches cannot be pushed: ${messageOf(error)}`;
    found.failed('push', message, MEND_ACCESS);
  }
}

async function checkContent(
  { mirror, access }: HostRepository,
  tip: string,
  found: Findings,
): Promise<void> {
  const unsupported = await whyUnsupported(tip, mirror.call);
  if (unsupported !== undefined) {
    found.failed('content', unsupported, 'Use a repository without them.');
  }
  const { path, setup } = access;
  if (path) {
    const listed = await gitText(['ls-tree', '-d', '--full-tree', tip, '--', path], mirror.call);
    if (listed === '') {
      const advice = 'Name another folder: `drover repo set NAME --path FOLDER`.';
      found.failed('path', `It has no folder ${path}`, advice);
    }
  }
  if (setup?.trim()) return found.ok('setup', 'Its setup prepares each checkout');
  const names = await gitText(['ls-tree', '--name-only', '--full-tree', tip], mirror.call);
  const lock = names.split('\n').find((name) => LOCK_FILES.has(name));
  if (lock === undefined) return;
  const advice = "Set one, such as `drover repo set NAME --setup 'npm ci'`.";
  found.warn(
    'setup',
    `It has ${lock}, and no setup: packages are missing in each checkout`,
    advice,
  );
}
