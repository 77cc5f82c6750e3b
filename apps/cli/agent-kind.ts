import { kindCapability, nearestWord } from '#lib/kernel';
import type { Cli } from './cli.js';
import { usageError } from './failure.js';

/** The most letters in which a mistyped kind differs from the one that was meant. */
const MAX_TYPOS = 3;
/** The letters for each of which one may be wrong. Short kinds resemble each other by chance. */
const LETTERS_PER_TYPO = 3;

/**
 * Looks for kinds of coding agents that Drover does not know and no agent has. Agents can have kinds
 * of their own, and their tasks can be created before they register: such a kind gets a note.
 *
 * @throws Failure for an empty kind, and for one that is nearly a known kind
 */
export async function refuseMistypedKinds(cli: Cli, kinds: readonly unknown[]): Promise<void> {
  for (const kind of new Set(kinds)) {
    // The server refuses a kind of another type.
    if (typeof kind !== 'string') continue;
    if (await isOffered(cli, kind)) continue;
    const { KINDS } = await import('#lib/agent-kinds');
    const known = KINDS.map(({ name }) => name);
    if (!known.includes(kind)) noteUnknownKind(cli, kind, known);
  }
}

/** Without an answer it counts as offered, and the server decides. */
async function isOffered({ drover }: Cli, kind: string): Promise<boolean> {
  const query = { capability: [kindCapability(kind)], limit: 1 };
  const offers = await drover.get('/api/v1/agents', { params: { query } }).catch(() => undefined);
  return offers?.items.length !== 0;
}

function noteUnknownKind(cli: Cli, kind: string, known: readonly string[]): void {
  const most = Math.min(MAX_TYPOS, Math.floor(kind.length / LETTERS_PER_TYPO));
  const nearest =
    known.find((name) => kind !== '' && name.startsWith(kind)) ??
    nearestWord(kind.toLowerCase(), known, most);
  const knows = `Drover knows ${known.join(', ')}.`;
  if (nearest === undefined && kind !== '') {
    return cli.out.note(`drover: no agent has the kind "${kind}" yet. ${knows}`);
  }
  const meant = nearest === undefined ? '' : `Did you mean ${nearest}? `;
  throw usageError(`There is no kind of coding agents "${kind}".`, `${meant}${knows}`);
}
