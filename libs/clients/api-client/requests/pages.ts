export interface Page<T> {
  items: T[];
  /** The start of the next page; null after the last page. */
  nextCursor: string | null;
}

/**
 * Reads the page that begins at the cursor, or the first one. Spread the argument into the
 * request's query.
 */
export type ReadPage<P> = (from: { cursor?: string }) => Promise<P>;

/**
 * Yields a list page by page. Each page is read after the previous one was consumed. Its errors are
 * those of `read`.
 */
export async function* pagesOf<P extends Page<unknown>>(read: ReadPage<P>): AsyncGenerator<P> {
  let page = await read({});
  yield page;
  while (typeof page.nextCursor === 'string') {
    page = await read({ cursor: page.nextCursor });
    yield page;
  }
}

/** Yields the items of a list's pages, one by one. Its errors are those of `read`. */
export async function* itemsOf<T>(read: ReadPage<Page<T>>): AsyncGenerator<T> {
  for await (const { items } of pagesOf(read)) yield* items;
}
