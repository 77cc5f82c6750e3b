import type { OptionSpec } from './command.js';
import { misuse } from './failure.js';
import { Flags } from './flags.js';

export const LIST_OPTIONS: readonly OptionSpec[] = [
  ['--limit <count>', 'how many at most; 50 unless given'],
  ['--all', 'all of them'],
];

/** For a command that needs every item, whatever was given. */
export const ALL = new Flags({ all: true });

const USUAL = 50;
const PAGE = 100;

interface Page<T> {
  items: T[];
  nextCursor: string | null;
}

/** As many items as `--limit` and `--all` say, page by page. */
export async function listed<T>(
  flags: Flags,
  read: (page: { limit: number; cursor?: string }) => Promise<Page<T>>,
): Promise<T[]> {
  const given = flags.number('limit') ?? USUAL;
  const most = flags.has('all') ? Number.POSITIVE_INFINITY : given;
  if (!Number.isSafeInteger(given) || given < 1)
    throw misuse('--limit needs a whole number from 1 on.');
  const items: T[] = [];
  let cursor: string | undefined;
  while (items.length < most) {
    const limit = Math.min(PAGE, most - items.length);
    const page = await read({ limit, ...(cursor !== undefined && { cursor }) });
    items.push(...page.items);
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  return items;
}
