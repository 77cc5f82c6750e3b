import type { ReactNode } from 'react';
import { useWorkspace } from '../api/workspace.js';
import { Empty, Page } from './parts.js';

/** Shows its children to admins only. Other users see whom to ask. */
export function AdminsOnly({ page, children }: { page: string; children: ReactNode }) {
  const { may, name, role } = useWorkspace();
  if (may('ADMIN')) return children;
  return (
    <Page title={page}>
      <Empty title="Only admins can see this page">
        <p>
          Your role in <bdi>{name}</bdi> is {role}. Ask a workspace owner for the role ADMIN.
        </p>
      </Empty>
    </Page>
  );
}
