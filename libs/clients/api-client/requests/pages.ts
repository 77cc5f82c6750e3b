export interface Page<T> {
  items: T[];
  /** The start of the next page; null after the last page. */
  nextCursor: string | null;
}

/**
 * Reads the page that begins at the cursor, or the first one: spread it into the request's query.
 */
export type ReadPage<P> = (from: { cursor?: string }) => Promise<P>;

/** A list page by page, each asked for when the one before was taken. Fails as `read` does. */
export async function* pagesOf<P extends Page<unknown>>(read: ReadPage<P>): AsyncGenerator<P> {
  let page = await read({});
  yield page;
  while (typeof page.nextCursor === 'string') {
    page = await read({ cursor: page.nextCursor });
    yield page;
  }
}

/** The items of a list's pages, one by one. Fails as `read` does. */
export async function* itemsOf<T>(read: ReadPage<Page<T>>): AsyncGenerator<T> {
  for await (const { items } of pagesOf(read)) yield* items;
}
