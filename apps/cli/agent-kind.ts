import { kindCapability, nearestWord } from '#lib/kernel';
import type { Cli } from './cli.js';
import { usageError } from './failure.js';

/** The most letters in which a mistyped kind differs from the one that was meant. */
const MAX_TYPOS = 3;

/**
 * Refuses kinds of coding agents that Drover does not know and no agent has. The server accepts
 * them, because agents can have kinds of their own, and their tasks would wait in silence.
 *
 * @throws Failure for such a kind
 */
export async function refuseUnknownKinds(cli: Cli, kinds: readonly unknown[]): Promise<void> {
  for (const kind of new Set(kinds)) {
    // The server refuses a kind of another type.
    if (typeof kind !== 'string') continue;
    if (await isOffered(cli, kind)) continue;
    const { KINDS } = await import('#lib/agent-kinds');
    const known = KINDS.map(({ name }) => name);
    if (!known.includes(kind)) throw unknownKind(kind, known);
  }
}

/** Without an answer it counts as offered, and the server decides. */
async function isOffered({ drover }: Cli, kind: string): Promise<boolean> {
  const query = { capability: [kindCapability(kind)], limit: 1 };
  const offers = await drover.get('/api/v1/agents', { params: { query } }).catch(() => undefined);
  return offers?.items.length !== 0;
}

function unknownKind(kind: string, known: readonly string[]) {
  const nearest =
    known.find((name) => kind !== '' && name.startsWith(kind)) ??
    nearestWord(kind.toLowerCase(), known, MAX_TYPOS);
  const meant = nearest === undefined ? '' : `Did you mean ${nearest}? `;
  return usageError(
    `There is no kind of coding agents "${kind}".`,
    `${meant}Drover knows ${known.join(', ')}.`,
  );
}
