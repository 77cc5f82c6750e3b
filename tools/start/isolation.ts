import { isolate, type Isolation, SANDBOX_VARIABLES, sandboxSettings } from '#lib/agent-host';
import { findBubblewrap } from '#lib/local-servers';
import { readVariables } from '#lib/env';
import { join } from 'node:path';
import { z } from 'zod';
import { sandboxVariables } from './settings.js';

/** The isolation of tasks and sessions, for the programs that run them and for people. */
export interface TaskIsolation {
  env: Record<string, string>;
  sentence: string;
}

/**
 * @param home the folder that tasks cannot see
 */
export async function arrangeIsolation(
  home: string,
  tell: (line: string) => void,
): Promise<TaskIsolation> {
  const given = sandboxVariables();
  const hide = [given['DROVER_SANDBOX_HIDE'], home].filter(Boolean).join(',');
  const env = {
    ...(await bubblewrap(given, tell)),
    ...given,
    DROVER_SANDBOX_HIDE: hide,
    // Worker and gateway share the folder, so a workspace has one account at both.
    DROVER_ACCOUNTS_DIR: given['DROVER_ACCOUNTS_DIR'] ?? join(home, 'accounts'),
  };
  const settings = sandboxSettings(
    readVariables(z.object(SANDBOX_VARIABLES), env),
    home,
    process.env,
  );
  const isolation = await isolate(settings);
  return { env, sentence: inWords(isolation) };
}

function inWords(isolation: Isolation): string {
  if (isolation.sandbox !== undefined) {
    return `each task and session runs in a sandbox of its own (bubblewrap), as ${isolation.runAs}`;
  }
  return [
    `NONE, since ${isolation.reason}.`,
    'Tasks and sessions can read and change what their user can.',
    `They run as ${isolation.runAs}.`,
    'Mend this, or accept tasks only from people whom you trust (docs/operations.md, Isolation of tasks).',
  ].join(' ');
}

async function bubblewrap(
  given: Record<string, string>,
  tell: (line: string) => void,
): Promise<Record<string, string>> {
  const isWanted = process.platform === 'linux' && given['DROVER_SANDBOX'] !== 'off';
  if (!isWanted || given['DROVER_SANDBOX_PROGRAM'] !== undefined) return {};
  try {
    const { file, env } = await findBubblewrap(tell);
    const libraries = env['LD_LIBRARY_PATH'];
    return {
      DROVER_SANDBOX_PROGRAM: file,
      ...(libraries !== undefined && { DROVER_SANDBOX_LIBRARIES: libraries }),
    };
  } catch (error) {
    tell((error as Error).message);
    return {};
  }
}
