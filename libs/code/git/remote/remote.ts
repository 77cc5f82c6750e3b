import { rm, writeFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { makeOwnedTemporary } from '#lib/session-runtime';
import { git, type GitCall, GitError, gitText } from '../process/git.js';
import { hardenedServer, type Setting } from '../process/hardened.js';
import { findLocal, type LocalRepository } from './local-repository.js';
import { RemoteUnavailable, UnusableRepository } from './unusable.js';

/** The proof to a server that its caller can read and write. */
export type RemoteCredentials =
  | { kind: 'token'; username?: string; token: string }
  | { kind: 'ssh'; privateKey: string; knownHosts: string };

/** A repository where people keep it. */
export interface Remote {
  /** An address with https, http or ssh, or a path of this machine. */
  url: string;
  credentials: RemoteCredentials | null;
}

/** A remote that this host can reach: the part of each call that depends on it. */
export interface ReachedRemote {
  url: string;
  call: Pick<GitCall, 'env' | 'config' | 'protocols'>;
  /** Options of `fetch`, `ls-remote` and `push` for a repository of this machine. */
  reading: readonly string[];
  writing: readonly string[];
  local?: LocalRepository;
}

const SSH = /^(?:ssh:\/\/|[\w.-]+@[\w.-]+:)/;

/**
 * Reaches a remote for the time of `work`. Its key is a file of this user for no longer, and its
 * token is in the environment of git alone.
 *
 * @param roots the folders whose repositories can be remotes
 * @throws UnusableRepository, and RemoteUnavailable in place of an error of git that says so
 */
export async function withRemote<T>(
  { url, credentials }: Remote,
  roots: readonly string[],
  work: (remote: ReachedRemote) => Promise<T>,
): Promise<T> {
  if (isAbsolute(url)) {
    const local = await findLocal(url, roots);
    const reading = [`--upload-pack=${hardenedServer('upload-pack')}`];
    const writing = [`--receive-pack=${hardenedServer('receive-pack')}`];
    return work({ url: local.gitDir, call: { protocols: ['file'] }, reading, writing, local });
  }
  if (/^https?:\/\//.test(url)) {
    const config = credentials?.kind === 'token' ? [headerOf(url, credentials)] : [];
    const protocols = [url.startsWith('https:') ? 'https' : 'http'];
    const remote = { url, call: { protocols, config }, reading: [], writing: [] };
    return work(remote).catch((error: unknown) => {
      if (error instanceof GitError && NO_TOKEN.test(error.stderr)) {
        throw new UnusableRepository(whyNoToken(credentials), { cause: error });
      }
      throw outageOf(error) ?? error;
    });
  }
  if (!SSH.test(url)) throw new UnusableRepository('The address needs https, ssh or a path');
  if (credentials?.kind !== 'ssh') {
    throw new UnusableRepository('A repository with an ssh address needs an SSH key');
  }
  const folder = await makeOwnedTemporary('key');
  try {
    const env = await sshVariables(folder, credentials);
    return await work({ url, call: { protocols: ['ssh'], env }, reading: [], writing: [] });
  } catch (error) {
    const why = error instanceof GitError ? whyNoSsh(error.stderr) : undefined;
    if (why !== undefined) throw new UnusableRepository(why, { cause: error });
    throw outageOf(error) ?? error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Git's words for an answer of 401. */
const NO_TOKEN = /could not read (Username|Password)|Authentication failed/;

function whyNoToken(credentials: RemoteCredentials | null): string {
  return credentials === null
    ? 'The server asks for credentials, and the repository has none'
    : 'The server does not accept the token of the repository';
}

/** The reason why ssh gave up, in a sentence. Git itself says only that it could not read. */
function whyNoSsh(said: string): string | undefined {
  if (said.includes('REMOTE HOST IDENTIFICATION HAS CHANGED')) {
    return 'The server has another key than the known one: if it is right, store the new one as known';
  }
  if (said.includes('Host key verification failed')) {
    return 'The key of the server is not among the known ones: store those that `ssh-keyscan` prints';
  }
  if (/^.*: Permission denied \(/m.test(said)) {
    return 'The server does not accept the SSH key of the repository';
  }
  return undefined;
}

/** Words of git, curl and ssh when a connection cannot be made, or breaks. */
const OUTAGES = [
  /^ssh: .+/m,
  /^fatal: unable to access .+/m,
  /^error: RPC failed; .+/m,
  /^(kex_exchange_identification|Connection (closed|reset|timed out)).*/m,
  /^fatal: the remote end hung up unexpectedly/m,
];
/** The server has answered, and says the same the next time. 408 and 429 pass. */
const REFUSAL = /returned error: 4(?!08|29)\d\d/;

/** @returns undefined if the error is none of a server that is away or fails */
function outageOf(error: unknown): RemoteUnavailable | undefined {
  if (!(error instanceof GitError) || REFUSAL.test(error.stderr)) return undefined;
  const [words] = OUTAGES.flatMap((pattern) => pattern.exec(error.stderr)?.[0] ?? []);
  if (words === undefined) return undefined;
  return new RemoteUnavailable(`The server cannot be reached: ${words.trim()}`, { cause: error });
}

/** A header for this server only: git forgets it when the server leads elsewhere. */
function headerOf(
  url: string,
  { username = 'x-access-token', token }: RemoteCredentials & { kind: 'token' },
): Setting {
  const basic = Buffer.from(`${username}:${token}`).toString('base64');
  return [`http.${new URL(url).origin}/.extraHeader`, `Authorization: Basic ${basic}`];
}

async function sshVariables(
  folder: string,
  { privateKey, knownHosts }: RemoteCredentials & { kind: 'ssh' },
): Promise<Record<string, string>> {
  const [key, hosts] = [join(folder, 'key'), join(folder, 'known_hosts')];
  await writeFile(key, privateKey.endsWith('\n') ? privateKey : `${privateKey}\n`, { mode: 0o600 });
  await writeFile(hosts, knownHosts, { mode: 0o600 });
  const options = [
    'IdentitiesOnly=yes',
    'IdentityAgent=none',
    'BatchMode=yes',
    'StrictHostKeyChecking=yes',
    `UserKnownHostsFile=${hosts}`,
    'GlobalKnownHostsFile=/dev/null',
    'ConnectTimeout=20',
    'ServerAliveInterval=20',
  ];
  const command = ['ssh', '-F', '/dev/null', '-i', key, ...options.flatMap((each) => ['-o', each])];
  return { GIT_SSH_COMMAND: command.join(' '), GIT_SSH_VARIANT: 'ssh' };
}

/**
 * The commits of refs at the remote, by their full names. A ref that is not there is absent.
 *
 * @throws GitError
 */
export async function readRefs(
  { url, call, reading }: ReachedRemote,
  refs: readonly string[],
  signal?: AbortSignal,
): Promise<Map<string, string>> {
  const said = await gitText(['ls-remote', ...reading, '--', url, ...refs], { ...call, signal });
  const lines = said.split('\n').map((line) => line.split('\t'));
  return new Map(
    lines.flatMap(([commit, name]) => {
      return commit !== undefined && name !== undefined && refs.includes(name)
        ? [[name, commit] as const]
        : [];
    }),
  );
}

/** One ref that a push changes. */
export interface PushedRef {
  name: string;
  /** The commit that it must have at the remote. Undefined: it must not exist. */
  from: string | undefined;
  /** The commit that it gets. Undefined: it is removed. */
  to: string | undefined;
}

/** A ref that moves while the push is under way is named in the words of the remote alone. */
const MOVED =
  /stale info|fetch first|failed to lock|cannot lock ref|reference already exists|incorrect old value/;

/** The names of two branches, or the server's own files, are in the way. The next push ends so, too. */
const IN_THE_WAY =
  /exists; cannot create|refname conflict|: (Permission denied|Read-only file system)/;

/** `moved`: another push came first. `refused`: the remote did not take it, for this reason. */
export type PushEnd = { kind: 'done' } | { kind: 'moved' } | { kind: 'refused'; why: string };

/**
 * Pushes refs, all or none. Each changes only from its expected commit.
 *
 * @param options `dryRun`: the remote is asked, and nothing is sent
 * @throws GitError if the remote cannot be reached
 */
export async function push(
  gitDir: string,
  { url, call, writing }: ReachedRemote,
  refs: readonly PushedRef[],
  { dryRun = false, ...options }: Pick<GitCall, 'signal' | 'objects'> & { dryRun?: boolean } = {},
): Promise<PushEnd> {
  const leases = refs.map(({ name, from }) => `--force-with-lease=${name}:${from ?? ''}`);
  const specs = refs.map(({ name, to }) => `${to ?? ''}:${name}`);
  const args = ['push', '--porcelain', '--no-verify', '--no-follow-tags', ...leases, ...writing];
  const atomic = [...(refs.length > 1 ? ['--atomic'] : []), ...(dryRun ? ['--dry-run'] : [])];
  const { exitCode, stdout, stderr } = await git([...args, ...atomic, '--', url, ...specs], {
    ...call,
    ...options,
    gitDir,
    codes: [1],
  });
  if (exitCode === 0) return { kind: 'done' };
  const lines = stdout.toString().split('\n');
  const refusals = lines.filter((line) => line.startsWith('!'));
  const why = refusals.map((line) => line.split('\t')[2] ?? line).join('; ');
  const said = stderr.split('\n').filter((line) => line.startsWith('remote:'));
  const words = [why, ...said].join(' ').trim();
  if (MOVED.test(words) && !IN_THE_WAY.test(words)) return { kind: 'moved' };
  return { kind: 'refused', why: words.slice(0, 1_000) || stderr };
}
