import type { OptionSpec } from './command.js';
import type { Flags } from './flags.js';

export const LIST_OPTIONS: readonly OptionSpec[] = [
  ['--limit <count>', 'how many at most; 50 unless given'],
  ['--all', 'all of them'],
];

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
  const most = flags.has('all') ? Number.POSITIVE_INFINITY : (flags.number('limit') ?? USUAL);
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
