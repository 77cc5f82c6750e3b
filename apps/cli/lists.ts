import type { OptionSpec } from './command.js';
import { usageError } from './failure.js';
import { Flags } from './flags.js';

export const LIST_OPTIONS: readonly OptionSpec[] = [
  ['--limit <count>', 'maximum number of items (default 50)'],
  ['--all', 'list all items'],
];

/** Flags for reading every item, regardless of the command line. */
export const ALL = new Flags({ all: true });

const DEFAULT_LIMIT = 50;
const PAGE = 100;

interface Page<T> {
  items: T[];
  nextCursor: string | null;
}

/** Reads items page by page, up to the limit of `--limit` or `--all`. */
export async function readList<T>(
  flags: Flags,
  read: (page: { limit: number; cursor?: string }) => Promise<Page<T>>,
): Promise<T[]> {
  const limitFlag = flags.number('limit') ?? DEFAULT_LIMIT;
  const max = flags.has('all') ? Number.POSITIVE_INFINITY : limitFlag;
  if (!Number.isSafeInteger(limitFlag) || limitFlag < 1)
    throw usageError('--limit needs a whole number of at least 1.');
  const items: T[] = [];
  let cursor: string | undefined;
  while (items.length < max) {
    const limit = Math.min(PAGE, max - items.length);
    const page = await read({ limit, ...(cursor !== undefined && { cursor }) });
    items.push(...page.items);
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  return items;
}
