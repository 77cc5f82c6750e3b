import type { Prisma } from '#lib/database';

/** What the API shows of a user. */
export const USER_FIELDS = {
  id: true,
  email: true,
  name: true,
  isOperator: true,
  disabledAt: true,
  version: true,
  createdAt: true,
  updatedAt: true,
} as const;

export type UserView = Prisma.UserGetPayload<{ select: typeof USER_FIELDS }>;
