import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { z } from 'zod';
import { integer, list, oneOf } from '#lib/env';
import { searchPathOf } from './settings.js';
import {
  findGroup,
  type Sandbox,
  type SandboxProgram,
  type SessionUser,
  whyNoSandbox,
} from '#lib/session-runtime';

const paths = list.refine((all) => all.every(isAbsolute), 'must hold absolute paths only');

/** The variables that worker and gateway share about the sandbox of what they run. */
export const SANDBOX_VARIABLES = {
  /** Sandboxes: `auto` uses them if possible, `required` refuses to start without them. */
  DROVER_SANDBOX: oneOf(['auto', 'required', 'off']).default('auto'),
  /** The file of bubblewrap. Default: bwrap on the PATH. */
  DROVER_SANDBOX_PROGRAM: z.string().optional(),
  /** Folders with the libraries of DROVER_SANDBOX_PROGRAM, separated by colons. */
  DROVER_SANDBOX_LIBRARIES: z.string().optional(),
  /** Hidden paths that sessions can read nevertheless, such as homes; separated by commas. */
  DROVER_SANDBOX_SHOW: paths.default([]),
  /** Visible paths that are hidden from sessions; separated by commas. */
  DROVER_SANDBOX_HIDE: paths.default([]),
  /** With `off` no session reaches a network, whatever its task requests. */
  DROVER_SANDBOX_NETWORK: oneOf(['on', 'off']).default('on'),
  /** Memory of a run with a control group, else of each of its processes; 0: no limit. */
  DROVER_SANDBOX_MEMORY_MB: integer(0, 0, 16_777_216),
  /**
   * Processes and threads of a run with a control group, else of the user that runs them;
   * 0: no limit.
   */
  DROVER_SANDBOX_PROCESSES: integer(0, 0, 4_194_304),
};

type Variables = z.infer<z.ZodObject<typeof SANDBOX_VARIABLES>>;

export interface SandboxSettings {
  mode: Variables['DROVER_SANDBOX'];
  program: SandboxProgram | undefined;
  limits: Omit<Sandbox, 'program' | 'groups'>;
  /** Where bubblewrap is looked for, and what a sandbox has to have of it. */
  searchPath: string;
}

/**
 * @param own folders of the program itself, which no session may see
 * @param all its environment: neither do they see the files that its secrets came from
 */
export function sandboxSettings(
  env: Variables,
  own: readonly string[],
  all: NodeJS.ProcessEnv,
): SandboxSettings {
  const { DROVER_SANDBOX_PROGRAM: file, DROVER_SANDBOX_LIBRARIES: libraries } = env;
  return {
    mode: env.DROVER_SANDBOX,
    program:
      file === undefined
        ? undefined
        : { file, env: libraries === undefined ? {} : { LD_LIBRARY_PATH: libraries } },
    limits: {
      hidden: [...env.DROVER_SANDBOX_HIDE, ...own, ...secretFiles(all)],
      shown: env.DROVER_SANDBOX_SHOW,
      network: env.DROVER_SANDBOX_NETWORK,
      memoryMb: env.DROVER_SANDBOX_MEMORY_MB,
      processes: env.DROVER_SANDBOX_PROCESSES,
    },
    searchPath: searchPathOf(all),
  };
}

function secretFiles(all: NodeJS.ProcessEnv): string[] {
  const named = Object.entries(all).filter(([name]) => name.endsWith('_FILE'));
  return named.flatMap(([, path]) => (path ? [resolve(path)] : []));
}

/** Whether what runs here runs in a sandbox, and what its limits hold for; else why not, as the end of a sentence. */
export type Isolation =
  { sandbox: Sandbox; limits: string } | { sandbox: undefined; reason: string };

/**
 * Tries the sandbox out.
 *
 * @throws Error in a sentence when it is required and cannot be had
 */
export async function isolate(settings: SandboxSettings, user?: SessionUser): Promise<Isolation> {
  const isolation = await tryOut(settings, user);
  if (isolation.sandbox !== undefined || settings.mode !== 'required') return isolation;
  throw new Error(`DROVER_SANDBOX is "required", and there is no sandbox: ${isolation.reason}.`);
}

async function tryOut(
  { mode, searchPath, program = bubblewrapOn(searchPath), limits }: SandboxSettings,
  user?: SessionUser,
): Promise<Isolation> {
  const none = (reason: string): Isolation => ({ sandbox: undefined, reason });
  if (mode === 'off') return none('DROVER_SANDBOX is "off"');
  if (process.platform !== 'linux') return none('only Linux has what it needs');
  if (program === undefined) return none('bubblewrap (`bwrap`) is not on the PATH');
  const grouped = groupsFor(limits);
  const sandbox = { ...limits, ...grouped.found, program };
  const why = await whyNoSandbox(sandbox, { searchPath, user });
  return why === undefined ? { sandbox, limits: grouped.limits } : none(why);
}

function groupsFor({ memoryMb, processes }: SandboxSettings['limits']): {
  found: Pick<Sandbox, 'groups'>;
  limits: string;
} {
  if (memoryMb === 0 && processes === 0) return { found: {}, limits: 'none' };
  const group = findGroup();
  if ('path' in group) return { found: { groups: group.path }, limits: 'of each session' };
  return { found: {}, limits: `of each process and of the user, since ${group.reason}` };
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
