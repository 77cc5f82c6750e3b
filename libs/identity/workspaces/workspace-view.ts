import type { MemberRole } from '#lib/kernel';
import type { MemberRow } from '../store/members.sql.js';
import type { WorkspaceRow } from '../store/workspaces.sql.js';

export interface WorkspaceView {
  id: string;
  name: string;
  slug: string;
  archivedAt: Date | null;
  version: number;
  createdAt: Date;
  updatedAt: Date;
}

export interface MemberView {
  userId: string;
  email: string;
  name: string;
  role: MemberRole;
  version: number;
  createdAt: Date;
  updatedAt: Date;
}

export function toWorkspaceView(row: WorkspaceRow): WorkspaceView {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    archivedAt: row.archived_at,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export function toMemberView(row: MemberRow): MemberView {
  return {
    userId: row.user_id,
    email: row.email,
    name: row.name,
    role: row.role,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
