import type { Prisma } from '#lib/database';

export const SESSION_FIELDS = {
  id: true,
  createdAt: true,
  lastUsedAt: true,
  expiresAt: true,
  userAgent: true,
  ipAddress: true,
} as const;

type SessionRow = Prisma.UserSessionGetPayload<{ select: typeof SESSION_FIELDS }>;

/** A session as its owner sees it. */
export type SessionView = SessionRow & { current: boolean };
