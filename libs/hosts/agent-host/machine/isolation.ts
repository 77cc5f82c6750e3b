import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { z } from 'zod';
import { list, oneOf } from '#lib/env';
import { HOST_AND_PORT, HOST_LIST_RULE, isHostList, NETWORKS } from '#lib/kernel';
import { findMeans, LIMIT_VARIABLES, limitSettings } from './limit-settings.js';
import { searchPathOf } from './settings.js';
import {
  type AccountRange,
  type Accounts,
  accountsIn,
  accountWithin,
  type Sandbox,
  type SandboxProgram,
  type SessionUser,
  whyNoAccounts,
  whyNoSession,
} from '#lib/session-runtime';

/**
 * No account of a system and no container of systemd, podman or docker has a number in this range.
 */
const ACCOUNTS: AccountRange = { first: 1_900_000_000, last: 1_900_065_535 };

/** The last two numbers mean "nobody" and "no change" to the system. */
const MAX_ID = 4_294_967_293;

const accountRange = z
  .string()
  .regex(/^(auto|off|\d{4,10}-\d{4,10})$/, 'must be auto, off or a range, as in 200000-265535')
  .transform((text) => (text === 'auto' || text === 'off' ? text : toRange(text)))
  .refine(isRange, 'must go from a number to a greater one of at most 4294967293');

const hosts = list.refine(isHostList, `must be ${HOST_LIST_RULE}`);
const hostsWithPorts = list.refine(
  (all) => all.every((host) => HOST_AND_PORT.test(host)),
  'must be hosts in lower case with their ports and without *, as in registry.corp:443',
);

const paths = list.refine((all) => all.every(isAbsolute), 'must hold absolute paths only');

/** The sandbox variables that worker and gateway share. */
export const SANDBOX_VARIABLES = {
  /** Sandboxes: `auto` uses them if possible, `required` refuses to start without them. */
  DROVER_SANDBOX: oneOf(['auto', 'required', 'off']).default('auto'),
  /** The file of bubblewrap. Default: bwrap on the PATH. */
  DROVER_SANDBOX_PROGRAM: z.string().optional(),
  /** Folders with the libraries of DROVER_SANDBOX_PROGRAM, separated by colons. */
  DROVER_SANDBOX_LIBRARIES: z.string().optional(),
  /**
   * As root: the user numbers for sessions, one for each workspace, such as 200000-265535; `off`
   * runs them as root. `auto`: 1900000000-1900065535, or root if sessions cannot have those.
   */
  DROVER_ACCOUNTS: accountRange.default('auto'),
  /**
   * The folder that holds each workspace's number. Hosts of one machine share it or use ranges of
   * their own. Default: `accounts` in the data folder.
   */
  DROVER_ACCOUNTS_DIR: z.string().optional(),
  /** Hidden paths that sessions can read nevertheless, such as homes; separated by commas. */
  DROVER_SANDBOX_SHOW: paths.default([]),
  /** Visible paths that are hidden from sessions; separated by commas. */
  DROVER_SANDBOX_HIDE: paths.default([]),
  /**
   * The most that a session can get: `none` reaches only the server, `allow` also allowed hosts,
   * `host` shares the machine's network if workspace, project and task have `host`, too.
   */
  DROVER_SANDBOX_NETWORK: oneOf(NETWORKS).default('none'),
  /**
   * With `allow`: the hosts that sessions can reach, such as api.example.com,*.example.com:8443;
   * `*:*` leaves the choice to workspaces, projects and tasks. Default: none.
   */
  DROVER_SANDBOX_ALLOWED_HOSTS: hosts.default([]),
  /**
   * Hosts with their ports that sessions can reach at internal addresses, such as registry.corp:443,
   * if the lists of allowed hosts name them too; separated by commas.
   */
  DROVER_SANDBOX_PRIVATE_HOSTS: hostsWithPorts.default([]),
  ...LIMIT_VARIABLES,
};

type Variables = z.infer<z.ZodObject<typeof SANDBOX_VARIABLES>>;

interface AccountSettings {
  range: AccountRange | 'auto' | 'off';
  dir: string;
  /** The account of all sessions, which takes precedence over the range. */
  fixed?: SessionUser;
}

export interface SandboxSettings {
  mode: Variables['DROVER_SANDBOX'];
  program: SandboxProgram | undefined;
  limits: Omit<Sandbox, 'program' | 'groups'>;
  accounts: AccountSettings;
  /** The host's own folder. */
  dir: string;
  /** The folder that gets a folder for each session, if it is not in the host's own. */
  sessionsDir?: string;
  /** The search path of bubblewrap. The sandbox shows its folders. */
  searchPath: string;
}

/**
 * @param dir the program's own folder, which no session can see
 * @param all the program's environment; sessions cannot see the files of its secrets either
 */
export function sandboxSettings(
  env: Variables,
  dir: string,
  all: NodeJS.ProcessEnv,
  fixed?: SessionUser,
): SandboxSettings {
  const { DROVER_SANDBOX_PROGRAM: file, DROVER_SANDBOX_LIBRARIES: libraries } = env;
  return {
    mode: env.DROVER_SANDBOX,
    program:
      file === undefined
        ? undefined
        : { file, env: libraries === undefined ? {} : { LD_LIBRARY_PATH: libraries } },
    limits: {
      hidden: [...env.DROVER_SANDBOX_HIDE, dir, ...secretFiles(all)],
      shown: env.DROVER_SANDBOX_SHOW,
      network: env.DROVER_SANDBOX_NETWORK,
      allowedHosts: env.DROVER_SANDBOX_ALLOWED_HOSTS,
      privateHosts: env.DROVER_SANDBOX_PRIVATE_HOSTS,
      ...limitSettings(env),
    },
    accounts: {
      range: env.DROVER_ACCOUNTS,
      dir: resolve(env.DROVER_ACCOUNTS_DIR ?? join(dir, 'accounts')),
      fixed,
    },
    dir,
    searchPath: searchPathOf(all),
  };
}

function secretFiles(all: NodeJS.ProcessEnv): string[] {
  const named = Object.entries(all).filter(([name]) => name.endsWith('_FILE'));
  return named.flatMap(([, path]) => (path ? [resolve(path)] : []));
}

type SandboxChoice = { sandbox: Sandbox; limits: string } | { sandbox: undefined; reason: string };

/** The isolation of sessions from the machine and from each other. */
export type Isolation = SandboxChoice & {
  /** The accounts of the workspaces. Without them sessions run as the host's user. */
  accounts?: Accounts;
  /** The user of the sessions, for the log. */
  runAs: string;
};

/**
 * Chooses accounts and sandbox of the sessions by trial.
 *
 * @throws Error in a sentence if one of them is required and unavailable
 */
export async function isolate(settings: SandboxSettings): Promise<Isolation> {
  const { user, accounts, runAs } = chooseAccounts(settings.accounts);
  const choice = await tryOut(settings, user);
  const why =
    user !== undefined && choice.sandbox === undefined && (await whyNotAs(user, settings));
  if (!why) return { ...requireSandbox(settings, choice), accounts, runAs };
  const { range, fixed } = settings.accounts;
  if (range !== 'auto' || fixed) throw new Error(`Sessions cannot run as ${runAs}: ${why}.`);
  const asRoot = await tryOut(settings);
  if (asRoot.sandbox !== undefined) return { ...asRoot, runAs: `root, since ${choice.reason}` };
  return { ...requireSandbox(settings, choice), runAs: `root, since ${why}` };
}

function requireSandbox(settings: SandboxSettings, choice: SandboxChoice): SandboxChoice {
  if (choice.sandbox !== undefined || settings.mode !== 'required') return choice;
  throw new Error(`DROVER_SANDBOX is "required", and there is no sandbox: ${choice.reason}.`);
}

/**
 * @returns the user for the trial too
 */
function chooseAccounts({ range: setting, dir, fixed }: AccountSettings): {
  accounts?: Accounts;
  user?: SessionUser;
  runAs: string;
} {
  const runAs = process.getuid?.() === 0 ? 'root' : 'the user of this program';
  if (fixed) return { accounts: () => fixed, user: fixed, runAs: `user ${fixed.uid}` };
  if (setting === 'off' || runAs !== 'root') return { runAs };
  const range = setting === 'auto' ? ACCOUNTS : setting;
  const why = whyNoAccounts(range);
  if (why !== undefined && setting === 'auto') return { runAs: `${runAs}, since ${why}` };
  const taken = accountWithin(range);
  const refusal = why ?? (taken && `the account ${taken} of this machine lies in it`);
  if (refusal) throw new Error(`DROVER_ACCOUNTS cannot be used: ${refusal}.`);
  const { first, last } = range;
  const user = { uid: first, gid: first };
  return {
    accounts: accountsIn(dir, range),
    user,
    runAs: `an account of its workspace (${first} to ${last})`,
  };
}

/**
 * @returns undefined if a session without a sandbox can run as this user
 */
function whyNotAs(user: SessionUser, { dir, searchPath }: SandboxSettings) {
  return whyNoSession({ dir, searchPath, user });
}

async function tryOut(
  {
    mode,
    searchPath,
    program = bubblewrapOn(searchPath),
    limits,
    dir,
    sessionsDir = dir,
    accounts,
  }: SandboxSettings,
  user?: SessionUser,
): Promise<SandboxChoice> {
  const none = (reason: string): SandboxChoice => ({ sandbox: undefined, reason });
  if (mode === 'off') return none('DROVER_SANDBOX is "off"');
  if (process.platform !== 'linux') return none('only Linux has what it needs');
  if (program === undefined) return none('bubblewrap (`bwrap`) is not on the PATH');
  const sharesAccount = accounts.fixed !== undefined;
  const of = { hasAccounts: user !== undefined, sharesAccount };
  const means = await findMeans(limits, { dir: sessionsDir, searchPath, ...of });
  const { groups, quotas, description } = means;
  const sandbox = { ...limits, groups, quotas, sharesAccount, program };
  const why = await whyNoSession({ dir, searchPath, user, sandbox });
  return why === undefined ? { sandbox, limits: description } : none(why);
}

function toRange(text: string): AccountRange {
  const [first = 0, last = 0] = text.split('-').map(Number);
  return { first, last };
}

function isRange(range: AccountRange | 'auto' | 'off'): boolean {
  return typeof range === 'string' || (range.first < range.last && range.last <= MAX_ID);
}

function bubblewrapOn(searchPath: string): SandboxProgram | undefined {
  const folders = searchPath.split(delimiter).filter(isAbsolute);
  const file = folders.map((folder) => join(folder, 'bwrap')).find(isExecutable);
  return file === undefined ? undefined : { file, env: {} };
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
