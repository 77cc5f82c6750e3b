import { DEFAULT_PAGE_LIMIT, MAX_PAGE_LIMIT } from '#lib/kernel';
import { Int, Text } from './fields.js';

/** The query of every list: page size and position. Lists extend it with their filters. */
export class PageQuery {
  @Int(1, MAX_PAGE_LIMIT, { optional: true, description: 'The maximum number of items on a page.' })
  limit: number = DEFAULT_PAGE_LIMIT;

  @Text({
    max: 1_000,
    optional: true,
    description: '`nextCursor` of the previous page, unchanged.',
  })
  cursor?: string;
}
