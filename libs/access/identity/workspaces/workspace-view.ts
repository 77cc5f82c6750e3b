import type { Prisma } from '#lib/database';
import type { MemberRole } from '#lib/kernel';

/** A workspace in the API. */
export const WORKSPACE_FIELDS = {
  id: true,
  name: true,
  slug: true,
  allowRunCommands: true,
  network: true,
  allowedHosts: true,
  allowedModels: true,
  archivedAt: true,
  version: true,
  createdAt: true,
  updatedAt: true,
} as const;

export const MEMBER_FIELDS = {
  userId: true,
  role: true,
  version: true,
  createdAt: true,
  updatedAt: true,
  user: { select: { email: true, name: true } },
} as const;

export type WorkspaceView = Prisma.WorkspaceGetPayload<{ select: typeof WORKSPACE_FIELDS }>;
type MemberRow = Prisma.WorkspaceMemberGetPayload<{ select: typeof MEMBER_FIELDS }>;
export type MemberView = Omit<MemberRow, 'user' | 'role'> &
  MemberRow['user'] & { role: MemberRole };

export function toMemberView({ user, role, ...member }: MemberRow): MemberView {
  return { ...member, ...user, role: role as MemberRole };
}
