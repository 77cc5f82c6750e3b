import { Link } from '@tanstack/react-router';
import type { components } from '#lib/api-client';
import { useCommand, usePages } from '../api/read.js';
import { useWorkspace } from '../api/workspace.js';
import { FormDialog } from '../components/form-dialog.js';
import { Ago, Button, Empty, Field, Loaded, Page } from '../components/parts.js';
import { defineColumns, Table } from '../components/table.js';
import { stripControls } from '../domain/format.js';

type Repository = components['schemas']['Repository'];
type NewRepository = components['schemas']['CreateRepository'];

const COLUMNS = defineColumns<Repository>([
  {
    id: 'name',
    head: 'Name',
    width: 'minmax(120px, 1fr)',
    cell: ({ id, name }) => (
      <Link to="/repositories/$id" params={{ id }} className="title-link">
        <bdi>{stripControls(name)}</bdi>
      </Link>
    ),
  },
  {
    id: 'url',
    head: 'URL',
    width: 'minmax(200px, 3fr)',
    cell: ({ url }) => <bdi>{stripControls(url)}</bdi>,
  },
  { id: 'branch', head: 'Branch', width: '104px', cell: ({ defaultBranch }) => defaultBranch },
  { id: 'review', head: 'Review', width: '88px', cell: ({ review }) => review },
  { id: 'age', head: 'Added', width: '88px', cell: ({ createdAt }) => <Ago at={createdAt} /> },
]);

export function RepositoriesPage() {
  const { may } = useWorkspace();
  const repositories = usePages(['repositories'], (api, cursor, signal) => {
    const query = { limit: 100, ...(cursor !== undefined && { cursor }) };
    return api.get('/api/v1/repositories', { params: { query }, signal });
  });
  return (
    <Page title="Repositories" actions={may('ADMIN') && <AddRepository />}>
      <Loaded query={repositories}>
        {({ pages }) => {
          const rows = pages.flatMap(({ items }) => items);
          return rows.length === 0 ? (
            <Empty title="No repositories yet">
              <p>
                Agents work on a branch of a repository. What they submit is proven and reviewed.
              </p>
            </Empty>
          ) : (
            <Table label="Repositories" columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />
          );
        }}
      </Loaded>
      {repositories.hasNextPage && (
        <Button onClick={() => void repositories.fetchNextPage()}>Show more repositories</Button>
      )}
    </Page>
  );
}

function AddRepository() {
  const create = useCommand(
    (api, form: FormData) => api.post('/api/v1/repositories', { body: toRepository(form) }),
    { done: 'Repository added', changes: [['repositories']] },
  );
  return (
    <FormDialog
      open="Add repository"
      look="primary"
      title="Add repository"
      confirm="Add repository"
      onConfirm={create.mutate}
    >
      <Field label="Name" hint="Lower-case letters, digits, dots and hyphens.">
        <input className="input" name="name" required />
      </Field>
      <Field label="URL" hint="An https or ssh address, or the path of a folder of the server.">
        <input className="input" name="url" required />
      </Field>
      <Field label="Branch on which changes land">
        <input className="input" name="defaultBranch" required defaultValue="main" />
      </Field>
      <Field label="Setup" hint="A script that prepares a checkout, such as npm ci.">
        <textarea className="input" name="setup" rows={2} />
      </Field>
      <Field label="Acceptance" hint="A script that proves a change, such as npm test.">
        <textarea className="input" name="acceptance" rows={2} />
      </Field>
      <Field label="Review">
        <select className="input" name="review" defaultValue="person">
          <option value="person">A person reviews</option>
          <option value="none">Nobody reviews</option>
        </select>
      </Field>
      <Field label="Token" hint="For https. It is sealed and never shown.">
        <input className="input" name="token" type="password" autoComplete="off" />
      </Field>
    </FormDialog>
  );
}

function toRepository(form: FormData): NewRepository {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const token = text('token');
  return {
    name: text('name'),
    url: text('url'),
    defaultBranch: text('defaultBranch'),
    setup: text('setup') || null,
    acceptance: text('acceptance') || null,
    review: text('review') as NonNullable<NewRepository['review']>,
    ...(token !== '' && { credentials: { kind: 'token' as const, token } }),
  };
}
