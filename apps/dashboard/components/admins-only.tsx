import type { ReactNode } from 'react';
import { useWorkspace } from '../api/workspace.js';
import { Empty } from './parts.js';

/** What only admins may see; others are told so, and whom to ask. */
export function AdminsOnly({ children }: { children: ReactNode }) {
  const { may, name, role } = useWorkspace();
  if (may('ADMIN')) return children;
  return (
    <Empty title="This page is for admins">
      <p>
        You have the role {role} in <bdi>{name}</bdi>. Ask an owner of the workspace for the role
        ADMIN.
      </p>
    </Empty>
  );
}
