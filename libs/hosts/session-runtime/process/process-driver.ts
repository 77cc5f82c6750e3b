import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Reach, reachOf } from '#lib/kernel';
import {
  type Command,
  type DriverHost,
  type LateParts,
  OPEN_INPUT,
  type OutputSink,
  type Recovered,
  type RuntimeDriver,
  type RuntimeSession,
  type SessionExit,
  type SessionSpec,
  SpawnError,
  type Surroundings,
} from '../drivers/driver.js';
import { MAX_BYTES_PER_SECOND, Throttle } from '../output/throttle.js';
import { findExecutable } from './find-executable.js';
import { addressInside } from '../sandbox/api-forwarder.js';
import { groupsOf, removeGroups } from '../sandbox/control-group.js';
import { proxyVariables } from '../sandbox/egress.js';
import {
  type FolderQuota,
  limitFolder,
  makeLimitable,
  removeLimitable,
} from '../sandbox/folder-quota.js';
import { limitsOf, type SessionLimits } from '../sandbox/limits.js';
import {
  networkVariables,
  type Sandbox,
  reachWithin,
  sandboxLaunch,
  type SandboxLaunch,
} from '../sandbox/sandbox.js';
import type { Accounts } from './accounts.js';
import { FirstProcess, type Launch, type SessionProgram } from './first-process.js';
import { isLate, partsOf } from './late-parts.js';
import { ProcessSession } from './process-session.js';
import { isMarked, killTree, membersOf, ownRef, type ProcessTree } from './process-tree.js';
import {
  type Claim,
  type Ended,
  listFolders,
  type NotStarted,
  removeFolder,
  SessionFolder,
  type SessionUser,
} from './session-folder.js';
import { SHIM, startShim } from './start-shim.js';
import { explainSpawnFailure } from './spawn-failure.js';
import { Supervisor } from './supervisor.js';

/** Sandboxes hide `/run`, so nothing is in the way. */
const SAME_PATH = '/run/agent';
const POLL_MS = 20;
const FOLLOW_EVERY_MS = 100;
/** The time of a living shim from its claim to the start of the session. */
const START_WITHIN_MS = 10_000;
/** Several empty looks in a row, because a process that was just forked has no mark yet. */
const EMPTY_LOOKS = 4;

/** The settings that only processes of this machine have. */
export interface ProcessSettings {
  /** The folders in which programs are looked up. It is the PATH of the sessions too. */
  searchPath: string;
  /**
   * The users that run the sessions, if they differ from the user of this process. Sessions cannot
   * read its files then. Only root can do that. Without a sandbox the folders above `dir` must let
   * those users through.
   */
  accounts?: Accounts;
  /**
   * The sandbox around each session. Without it, a session sees everything that its user can see.
   */
  sandbox?: Sandbox;
  /** The Unix socket of the server on this machine. Sessions without a network reach the server by it. */
  serverSocket?: string;
  /** Variables that name the certificate authorities of the server, for the shims. */
  trust?: Record<string, string>;
  /** Another script in place of the shim. */
  shim?: string;
}

export type ProcessDriverOptions = DriverHost & ProcessSettings;

/** Sessions as processes of this machine. */
export class ProcessDriver implements RuntimeDriver {
  readonly kind = 'process';
  private readonly supervisor: Supervisor;
  /** The limit of all sessions that this process reads together. */
  private readonly throttle = new Throttle(MAX_BYTES_PER_SECOND);

  constructor(private readonly options: ProcessDriverOptions) {
    this.supervisor = new Supervisor(options.warn);
  }

  get healthy(): boolean {
    return this.supervisor.healthy;
  }

  surroundings(id: string, asked?: Partial<Reach>, apiUrl?: string): Surroundings {
    const { dir, sandbox, accounts } = this.options;
    const isRoot = accounts === undefined && process.getuid?.() === 0;
    if (sandbox === undefined) {
      const reach = reachOf('host', []);
      return { reach, proxy: {}, apiUrl, folder: join(dir, id), isRoot, memoryMb: 0 };
    }
    const reach = reachWithin(sandbox, asked);
    return {
      reach,
      proxy: reach.network === 'allow' ? proxyVariables() : {},
      apiUrl: apiUrl && reach.network !== 'host' ? addressInside({ target: apiUrl }) : apiUrl,
      folder: SAME_PATH,
      isRoot,
      memoryMb: sandbox.limits.memoryMb,
    };
  }

  async spawn(spec: SessionSpec): Promise<RuntimeSession> {
    const parts = partsOf(spec);
    let refusal: { error: unknown } | undefined;
    if (isLate(parts)) parts.catch((error: unknown) => (refusal = { error }));
    else this.find(spec, parts.command);
    const user = this.options.accounts?.(spec.workspaceId);
    const { sandbox } = this.options;
    const limits = sandbox && limitsOf(spec.limits, sandbox.limits, sandbox.maxLimits);
    const { folder, quota } = await this.makeFolder(spec, user, limits);
    try {
      if (spec.prepare !== undefined) {
        await spec.prepare(folder.work);
        await folder.handOverWork(user);
      }
      const launch = this.launchOf(spec, folder, user, limits);
      const found = (all: LateParts) => this.programOf(spec, all, { folder, launch, quota });
      const coming = isLate(parts) ? parts.then(found) : found(parts);
      // A sandbox that fails earlier does not wait for it.
      coming.catch(() => undefined);
      if (spec.output === undefined) {
        return await this.detach({ ...launch, ...(await coming) }, folder, spec.secrets);
      }
      return await this.attach(launch, coming, folder, spec.output);
    } catch (error) {
      await this.remove(spec.id);
      if (refusal !== undefined) throw refusal.error;
      if (error instanceof SpawnError) throw error;
      throw new SpawnError('infrastructure', 'The session could not be started', {
        cause: error,
      });
    }
  }

  async recover(id: string): Promise<Recovered> {
    const folder = SessionFolder.open(this.options.dir, id);
    const claim = folder?.claim() === false ? folder.readClaim() : undefined;
    if (folder === undefined || claim?.keeper === undefined) {
      // A session can remove its folder and continue.
      if (folder === undefined) await this.end(id);
      await this.remove(id);
      return { kind: 'absent' };
    }
    await untilStarted(folder, claim);
    const started = folder.readStarted();
    const ended = folder.readEnded();
    const { startedAt = null, leader } = started ?? {};
    if (ended?.kind === 'failed') return { kind: 'failed', error: toSpawnError(ended) };
    if (ended === undefined && folder.shimLives(claim)) {
      return { kind: 'running', session: follow(folder, { id, leader }, startedAt) };
    }
    const exit = await concludeSession(folder, { id, leader });
    return { kind: 'ended', exit, pid: leader?.pid ?? null, startedAt };
  }

  list(): Promise<string[]> {
    return Promise.resolve(listFolders(this.options.dir));
  }

  end(id: string): Promise<boolean> {
    const folder = SessionFolder.open(this.options.dir, id);
    return killTree({ id, leader: folder?.readStarted()?.leader }, 2);
  }

  async remove(id: string): Promise<void> {
    const folder = SessionFolder.open(this.options.dir, id);
    // A session without a folder was never started.
    if (folder?.hasEnded() === false && !isVoided(folder)) await this.end(id);
    const { dir, sandbox } = this.options;
    if (sandbox?.groups !== undefined) await removeGroups(groupsOf(sandbox.groups, id));
    if (sandbox?.quotas !== undefined) await removeLimitable(sandbox.quotas, join(dir, id));
    await removeFolder(dir, id);
  }

  close(): void {
    this.supervisor.close();
  }

  private find({ searchPath }: SessionSpec, [name]: Command): string {
    const program = findExecutable(name, searchPath ?? this.options.searchPath);
    if (program !== undefined) return program;
    throw explainSpawnFailure(name, { code: 'ENOENT' });
  }

  private async makeFolder(
    spec: SessionSpec,
    user: SessionUser | undefined,
    limits: SessionLimits | undefined,
  ): Promise<{ folder: SessionFolder; quota?: FolderQuota }> {
    try {
      const { dir, sandbox } = this.options;
      const files = [...Object.values(spec.files), ...(spec.otherFiles ?? [])];
      const path = join(dir, spec.id);
      const quotas = limits && limits.diskMb > 0 ? sandbox?.quotas : undefined;
      const quota = quotas && { ...quotas, mb: limits?.diskMb ?? 0 };
      const isMade = await this.tryQuota(quota, (wanted) => makeLimitable(wanted, path));
      const folder = SessionFolder.create(dir, spec.id, files, isMade);
      if (user !== undefined) SessionFolder.letThrough(dir);
      return { folder, quota: isMade ? quota : undefined };
    } catch (error) {
      throw notMade(error);
    }
  }

  /**
   * Completes the folder with the parts of a session, and gives it to the user of the session. Nothing
   * of the session runs yet.
   */
  private async programOf(
    spec: SessionSpec,
    parts: LateParts,
    { folder, launch, quota }: { folder: SessionFolder; launch: Launch; quota?: FolderQuota },
  ): Promise<SessionProgram> {
    const { command } = parts;
    const program = this.find(spec, command);
    const { sandbox, user } = launch;
    try {
      folder.add(parts.otherFiles);
      // The files of the host come first. If they exceed the limit, the session fails, not the host.
      const isLimited = await this.tryQuota(quota, (one) => limitFolder(one, folder.root));
      if (sandbox !== undefined && isLimited) sandbox.quota = quota;
      if (user !== undefined) folder.handOver(user);
    } catch (error) {
      throw notMade(error);
    }
    return { program, command, env: this.environmentOf(spec, parts, { folder, sandbox }) };
  }

  /** @returns false if the folder is to be watched instead */
  private async tryQuota(
    quota: FolderQuota | undefined,
    work: (quota: FolderQuota) => Promise<void>,
  ): Promise<boolean> {
    if (quota === undefined) return false;
    try {
      await work(quota);
      return true;
    } catch (error) {
      const { message } = error as Error;
      this.options.warn?.(`The folder of a session has no quota and is measured: ${message}`);
      return false;
    }
  }

  /** This process follows the session. If this process ends, the supervisor ends the session. */
  private async attach(
    launch: Launch,
    coming: Promise<SessionProgram>,
    folder: SessionFolder,
    output: OutputSink,
  ): Promise<RuntimeSession> {
    const id = launch.sessionId;
    folder.claim(ownRef());
    this.supervisor.watch(id);
    try {
      const first = await FirstProcess.start(launch, coming);
      const { leader, startedAt } = first;
      this.supervisor.watch(id, leader);
      folder.writeStarted({ leader, startedAt });
      const exit = this.followHere(first, folder, output);
      void exit.then(() => this.supervisor.forget(id));
      return new ProcessSession({
        tree: { id, leader, groupIsOurs: true },
        folder,
        startedAt,
        exit,
        input: first.input,
      });
    } catch (error) {
      this.supervisor.forget(id);
      throw error;
    }
  }

  private async followHere(
    first: FirstProcess,
    folder: SessionFolder,
    output: OutputSink,
  ): Promise<SessionExit> {
    const exit = await first.follow(folder, output, this.throttle);
    const ended = { ...exit, output: '', endedAt: new Date().toISOString() };
    folder.noteEnded({ kind: 'exited', ...ended });
    return { ...ended, lost: false };
  }

  /** A shim follows the session, even after the end of this process. */
  private async detach(
    launch: Launch & SessionProgram,
    folder: SessionFolder,
    secrets: string[],
  ): Promise<RuntimeSession> {
    const order = { ...launch, root: folder.root, launch: folder.launch, secrets };
    const { answer, over } = await startShim(order, this.options.shim ?? SHIM, this.options.trust);
    if (answer?.kind === 'failed') throw toSpawnError(answer);
    if (answer?.kind !== 'started') throw new Error('The shim ended without starting anything');
    const { leader, startedAt } = answer;
    const tree = { id: launch.sessionId, leader };
    const exit = over.then(() => concludeSession(folder, tree));
    return new ProcessSession({ tree, folder, startedAt, exit });
  }

  private launchOf(
    spec: SessionSpec,
    folder: SessionFolder,
    user: SessionUser | undefined,
    limits: SessionLimits | undefined,
  ): Launch {
    const sandbox = this.sandboxOf(spec, folder, user, limits);
    const { work } = seenBy(spec, folder, sandbox);
    const { id: sessionId, startsIn = '', cwd = join(work, startsIn), stdin } = spec;
    const input = stdin === OPEN_INPUT ? { openInput: true } : { stdin };
    return { sessionId, cwd, ...input, user, sandbox };
  }

  private environmentOf(
    spec: SessionSpec,
    parts: LateParts,
    { folder, sandbox }: { folder: SessionFolder; sandbox: SandboxLaunch | undefined },
  ): Record<string, string> {
    const { searchPath, passedEnv = {} } = this.options;
    const seen = seenBy(spec, folder, sandbox);
    const paths = Object.entries(spec.files).map(
      ([variable, { name }]) => [variable, seen.pathOf(name)] as const,
    );
    const env: Record<string, string> = {
      LANG: 'C.UTF-8',
      ...passedEnv,
      PATH: searchPath,
      HOME: seen.work,
      TMPDIR: seen.tmp,
      ...spec.env,
      ...parts.env,
      ...Object.fromEntries(paths),
      DROVER_SIGNALS_FILE: seen.signalsFile,
    };
    if (!isMarked(env, spec.id)) env['DROVER_SESSION_ID'] = spec.id;
    return { ...env, ...(sandbox && networkVariables(sandbox)) };
  }

  private sandboxOf(
    {
      network,
      allowedHosts,
      credentials,
      services,
      cwd,
      within: shared = cwd,
      env,
      samePath,
      borrowed,
      shown = [],
    }: SessionSpec,
    { root, launch, tmp }: SessionFolder,
    user: SessionUser | undefined,
    limits: SessionLimits | undefined,
  ): SandboxLaunch | undefined {
    const { dir, sandbox, searchPath, serverSocket } = this.options;
    if (sandbox !== undefined && limits !== undefined) {
      const seenAt = samePath ? SAME_PATH : undefined;
      const places = { dir, root, launch, tmp, shared, borrowed, searchPath, user, seenAt };
      const target = env['DROVER_API_URL'];
      const server = target === undefined ? undefined : { target, serverSocket };
      const seen = [...sandbox.shown, ...shown];
      const reach = { network, allowedHosts, credentials, server, services };
      return sandboxLaunch({ ...sandbox, limits, shown: seen }, places, reach);
    }
    if (network === undefined || network === 'host') return undefined;
    throw new SpawnError(
      'setup',
      'Only a sandbox can keep a session from the network, and there is none here',
    );
  }
}

/** The folder as the session sees it. */
function seenBy({ samePath }: SessionSpec, folder: SessionFolder, sandbox?: SandboxLaunch) {
  return sandbox === undefined ? folder : folder.seenAt(samePath ? SAME_PATH : undefined);
}

function notMade(error: unknown): SpawnError {
  const { code = 'unknown error' } = error as NodeJS.ErrnoException;
  const message = `The folder of the session could not be made (${code})`;
  return new SpawnError('infrastructure', message, { cause: error });
}

/**
 * True if no process can start the session any more. On a full disk this is unknown, so the session
 * is ended.
 */
function isVoided(folder: SessionFolder): boolean {
  try {
    return folder.claim();
  } catch {
    return false;
  }
}

function follow(
  folder: SessionFolder,
  tree: ProcessTree,
  startedAt: string | null,
): RuntimeSession {
  const exit = untilOver(folder).then(() => concludeSession(folder, tree));
  return new ProcessSession({
    tree,
    folder,
    exit,
    startedAt: startedAt ?? new Date().toISOString(),
  });
}

/** The end of a session whose shim is gone. Kills the processes that live without a shim. */
async function concludeSession(folder: SessionFolder, tree: ProcessTree): Promise<SessionExit> {
  const ended = folder.readEnded();
  if (ended?.kind === 'exited') return toExit(ended);
  const found = membersOf(tree).length;
  const gone = await killTree(tree, EMPTY_LOOKS);
  const endedAt = new Date().toISOString();
  const strays = { found, gone };
  return { exitCode: null, signal: null, oomKilled: null, lost: true, output: '', endedAt, strays };
}

/** Waits until a shim that has claimed its session starts it. */
async function untilStarted(folder: SessionFolder, claim: Claim): Promise<void> {
  const giveUpAt = performance.now() + START_WITHIN_MS;
  while (performance.now() < giveUpAt && folder.shimLives(claim)) {
    if (folder.readStarted() !== undefined || folder.hasEnded()) return;
    await delay(POLL_MS);
  }
}

/** Looks until the shim has ended or has written the end. It is no child of this process. */
async function untilOver(folder: SessionFolder): Promise<void> {
  const claim = folder.readClaim();
  while (!folder.hasEnded() && claim !== undefined && folder.shimLives(claim)) {
    await delay(FOLLOW_EVERY_MS);
  }
}

function toExit({ kind: _, ...exit }: Extract<Ended, { kind: 'exited' }>): SessionExit {
  return { ...exit, lost: false };
}

function toSpawnError({ message, passing }: NotStarted): SpawnError {
  return new SpawnError(passing ? 'infrastructure' : 'setup', message);
}
