import { STOP_COMMAND } from './arguments.js';
import { EmbeddedError } from '#lib/local-servers';
import { Sentence } from '../shared/sentence.js';
import type { Home } from './home.js';
import { areRunning } from './processes.js';

const ANSWER_WITHIN_MS = 2_000;

/**
 * The data folder is in use, usually by a Drover that was started in the same folder before. The
 * error names the first Drover's address, not the PostgreSQL that has the files open.
 */
export async function explainInUse(error: unknown, home: Home): Promise<unknown> {
  if (!(error instanceof EmbeddedError) || error.code !== 'data_folder_in_use') return error;
  const { address } = home;
  if (address !== undefined && (await answers(address))) {
    return alreadyRuns(home, address);
  }
  return new Sentence(
    `Drover is being started or stopped in ${home.folder}: wait for it, or set DROVER_HOME to another folder. (${error.message})`,
  );
}

/**
 * The port is taken. If this folder's own Drover runs, the error says so: with PORT set for both,
 * that Drover has the port.
 */
export async function explainRefusedPort(error: unknown, home: Home): Promise<unknown> {
  const { address, processes } = home;
  const isHere = processes !== undefined && areRunning(processes);
  return isHere && address !== undefined && (await answers(address))
    ? alreadyRuns(home, address)
    : error;
}

function alreadyRuns({ folder }: Home, address: string): Sentence {
  return new Sentence(
    `Drover already runs in ${folder}, at ${address}: use that one, or stop it with \`${STOP_COMMAND}\`.`,
  );
}

/** Tells whether a server answers there. */
export async function answers(address: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    return (await fetch(`${address}/healthz`, { signal })).ok;
  } catch {
    return false;
  }
}
