import { idOfCursor } from '#lib/kernel';

/** The parameters of a list. */
export interface Listing {
  limit: number;
  cursor?: string;
  archived?: boolean;
}

/** Prisma's condition and order for a page of rows ordered by id, and one more row. */
export function pageOf({ limit, cursor, archived }: Listing) {
  return {
    where: {
      id: { gt: idOfCursor(cursor) ?? undefined },
      ...(archived === undefined ? {} : { archivedAt: archived ? { not: null } : null }),
    },
    orderBy: { id: 'asc' },
    take: limit + 1,
  } as const;
}
