import type { Prisma } from '#lib/database';

/** A user in the API. */
export const USER_FIELDS = {
  id: true,
  email: true,
  name: true,
  isOperator: true,
  emailVerified: true,
  disabledAt: true,
  version: true,
  createdAt: true,
  updatedAt: true,
} as const;

export type UserView = Prisma.UserGetPayload<{ select: typeof USER_FIELDS }>;
