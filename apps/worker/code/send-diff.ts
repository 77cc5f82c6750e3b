import { hasCode, messageOf, retrying } from '#lib/agent-host';
import { DIFF } from './code-host.js';
import type { CodeRunParts } from './code-start.js';

/** The time to send the diff of a change. */
const UPLOAD_MS = 60_000;
/** The server refuses the same diff again. */
const LASTING = [
  'artifact_quota',
  'artifact_limit',
  'artifact_too_large',
  'artifact_has_secret',
] as const;

/** The server does not take the diff, also not the next time. */
export class RefusedDiff extends Error {}

/**
 * Stores the diff of a change, without its secrets. A change without its diff is not submitted,
 * unless the installation keeps none.
 *
 * @throws RefusedDiff, or another Error if a later attempt can succeed
 */
export async function sendDiff(
  patch: Buffer,
  runId: string,
  { api, log, redactor }: Pick<CodeRunParts, 'api' | 'log' | 'redactor'>,
  note: (text: string) => void,
): Promise<void> {
  const content = Buffer.from(redactor().redactFile(patch.toString()));
  const file = { name: DIFF, content, type: 'text/x-diff' };
  const signal = AbortSignal.timeout(UPLOAD_MS);
  const send = () => api.saveArtifact(runId, file, signal);
  await retrying('diff of the change', send, { log, signal }).catch((error: unknown) => {
    const why = `The diff of the change is not kept: ${messageOf(error)}`;
    if (hasCode(error, 'artifacts_disabled')) return note(why);
    throw hasCode(error, ...LASTING) ? new RefusedDiff(why) : new Error(why, { cause: error });
  });
}
