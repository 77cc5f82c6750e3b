import { EmbeddedError } from '#lib/embedded';
import { Sentence } from '../shared/sentence.js';
import type { Home } from './home.js';

const ANSWER_WITHIN_MS = 2_000;

/**
 * The data folder is in use: usually by a Drover that was started in the same folder before. The person who
 * starts a second one wants to know where the first is, not which PostgreSQL has the files open.
 */
export async function explainInUse(error: unknown, home: Home): Promise<unknown> {
  if (!(error instanceof EmbeddedError) || error.code !== 'data_folder_in_use') return error;
  const { address } = home;
  if (address !== undefined && (await answers(address))) {
    return new Sentence(
      `Drover already runs in ${home.folder}, at ${address}: use that one, or stop it with \`npm start -- stop\`.`,
    );
  }
  return new Sentence(
    `Drover is being started or stopped in ${home.folder}: wait for it, or set DROVER_HOME to another folder. (${error.message})`,
  );
}

/** Whether a server answers there. */
export async function answers(address: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    return (await fetch(`${address}/healthz`, { signal })).ok;
  } catch {
    return false;
  }
}
