import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { components } from '#lib/api-client';
import { useCommand, usePages } from '../api/read.js';
import { useWorkspace } from '../api/workspace.js';
import { FormDialog } from '../components/form-dialog.js';
import { NamedFields, readNamed } from '../components/named-fields.js';
import { Ago, Button, Empty, Loaded, Page } from '../components/parts.js';
import { defineColumns, Table } from '../components/table.js';
import { stripControls } from '../domain/format.js';

type Project = components['schemas']['Project'];

const COLUMNS = defineColumns<Project>([
  {
    id: 'name',
    head: 'Name',
    width: 'minmax(140px, 1fr)',
    cell: ({ id, name }) => (
      <Link to="/projects/$id" params={{ id }} className="title-link">
        <bdi>{stripControls(name)}</bdi>
      </Link>
    ),
  },
  {
    id: 'description',
    head: 'Description',
    width: 'minmax(160px, 2fr)',
    cell: ({ description }) => <bdi className="muted">{stripControls(description ?? '')}</bdi>,
  },
  { id: 'age', head: 'Created', width: '88px', cell: ({ createdAt }) => <Ago at={createdAt} /> },
]);

export function ProjectsPage() {
  const { may } = useWorkspace();
  const [archived, setArchived] = useState(false);
  const projects = usePages(['projects', 'list', archived], (api, cursor, signal) =>
    api.get('/api/v1/projects', { params: { query: { archived, limit: 100, cursor } }, signal }),
  );
  return (
    <Page title="Projects" actions={may('MEMBER') && <CreateProject />}>
      <div className="stack">
        <div className="chips" role="group" aria-label="Filter">
          <button
            type="button"
            className="chip"
            aria-pressed={archived}
            onClick={() => setArchived(!archived)}
          >
            Archived
          </button>
        </div>
        <Loaded query={projects}>
          {({ pages }) => {
            const rows = pages.flatMap(({ items }) => items);
            return rows.length === 0 ? (
              <Empty title={archived ? 'No archived projects' : 'No projects yet'}>
                <p>A project groups tasks, with its own budget, usage and rules for agents.</p>
              </Empty>
            ) : (
              <Table label="Projects" columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />
            );
          }}
        </Loaded>
        {projects.hasNextPage && (
          <Button onClick={() => void projects.fetchNextPage()}>Show more projects</Button>
        )}
      </div>
    </Page>
  );
}

function CreateProject() {
  const create = useCommand(
    (api, form: FormData) => api.post('/api/v1/projects', { body: readNamed(form) }),
    { done: 'Project created', changes: [['projects']] },
  );
  return (
    <FormDialog
      open="Create project"
      look="primary"
      title="Create project"
      confirm="Create project"
      onConfirm={create.mutate}
    >
      <NamedFields />
    </FormDialog>
  );
}
