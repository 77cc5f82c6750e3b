import { useState } from 'react';
import type { components } from '#lib/api-client';
import { useCommand, useRead } from '../api/read.js';
import { useWorkspace } from '../api/workspace.js';
import { stripControls } from '../domain/format.js';
import { FormDialog } from './form-dialog.js';
import { Ago, Empty, Field, Loaded, Panel } from './parts.js';
import { Secret } from './secret.js';
import { defineColumns, Table } from './table.js';

type ApiKey = components['schemas']['ApiKey'];
type Scope = ApiKey['scopes'][number];

const SCOPES = Object.keys({
  'tasks:read': true,
  'tasks:write': true,
  'questions:answer': true,
  'changes:review': true,
  'agents:read': true,
  'agents:write': true,
  'projects:read': true,
  'projects:write': true,
  'workspace:admin': true,
  'coordinator:admin': true,
} satisfies Record<Scope, true>);
const DAY_SECONDS = 86_400;

const COLUMNS = defineColumns<ApiKey>([
  {
    id: 'name',
    head: 'Name',
    width: 'minmax(120px, 1fr)',
    cell: ({ name }) => <bdi>{stripControls(name)}</bdi>,
  },
  { id: 'key', head: 'Prefix', width: '120px', cell: ({ prefix }) => <code>{prefix}</code> },
  { id: 'role', head: 'Role', width: '72px', cell: ({ role }) => role },
  {
    id: 'scopes',
    head: 'Scopes',
    width: 'minmax(140px, 2fr)',
    cell: ({ scopes }) => <span title={scopes.join(', ')}>{scopes.join(', ')}</span>,
  },
  {
    id: 'used',
    head: 'Last used',
    width: '88px',
    cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} />,
  },
  { id: 'ends', head: 'Expires', width: '84px', cell: ({ expiresAt }) => <Ago at={expiresAt} /> },
  { id: 'revoke', head: 'Actions', width: '92px', cell: (key) => <Revoke apiKey={key} /> },
]);

/** The API keys of the workspace. */
export function ApiKeys() {
  const { workspaceId } = useWorkspace();
  const [secret, setSecret] = useState<string>();
  const keys = useRead(['api-keys'], (api, signal) => {
    const params = { path: { workspaceId }, query: { limit: 200 } };
    return api.get('/api/v1/workspaces/{workspaceId}/api-keys', { params, signal });
  });
  return (
    <>
      {secret !== undefined && <Secret title="New API key" value={secret} />}
      <Panel title="API keys" flush end={<NewKey onSecret={setSecret} />}>
        <Loaded query={keys}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty title="No API keys yet" small>
                <p>Programs and workers need an API key.</p>
              </Empty>
            ) : (
              <Table
                label="API keys"
                columns={COLUMNS}
                rows={items}
                keyOf={({ id }) => id}
                least={820}
              />
            )
          }
        </Loaded>
      </Panel>
    </>
  );
}

function NewKey({ onSecret }: { onSecret: (secret: string) => void }) {
  const { workspaceId } = useWorkspace();
  const create = useCommand(
    (api, form: FormData) =>
      api.post('/api/v1/workspaces/{workspaceId}/api-keys', {
        params: { path: { workspaceId } },
        body: {
          name: String(form.get('name')),
          scopes: form.getAll('scope') as Scope[],
          role: form.get('role') as 'ADMIN' | 'MEMBER' | 'VIEWER',
          expiresInSeconds: Number(form.get('days')) * DAY_SECONDS,
        },
      }),
    { done: 'API key created', changes: [['api-keys']], onDone: ({ key }) => onSecret(key) },
  );
  return (
    <FormDialog
      open="Create API key"
      title="Create API key"
      confirm="Create API key"
      onConfirm={create.mutate}
    >
      <Field label="Name">
        <input className="input" name="name" required maxLength={100} />
      </Field>
      <Field label="Role">
        <select className="input" name="role" defaultValue="MEMBER">
          {['VIEWER', 'MEMBER', 'ADMIN'].map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </Field>
      <Field label="Days until expiry">
        <input className="input" name="days" type="number" min={1} max={365} defaultValue={90} />
      </Field>
      <fieldset className="scopes">
        <legend>Scopes</legend>
        {SCOPES.map((scope) => (
          <label key={scope}>
            <input
              type="checkbox"
              name="scope"
              value={scope}
              defaultChecked={scope.startsWith('tasks:')}
            />{' '}
            {scope}
          </label>
        ))}
      </fieldset>
    </FormDialog>
  );
}

function Revoke({ apiKey: { id, name, revokedAt } }: { apiKey: ApiKey }) {
  const { workspaceId } = useWorkspace();
  const revoke = useCommand(
    (api) =>
      api.delete('/api/v1/workspaces/{workspaceId}/api-keys/{id}', {
        params: { path: { workspaceId, id } },
      }),
    { done: 'API key revoked', changes: [['api-keys']] },
  );
  if (revokedAt !== null) return 'Revoked';
  return (
    <FormDialog
      open="Revoke"
      title={`Revoke the API key ${stripControls(name)}?`}
      confirm="Revoke API key"
      onConfirm={revoke.mutate}
    >
      <p>
        Programs that use this key, and agents with tokens that it issued, lose access immediately.
        You cannot undo this.
      </p>
    </FormDialog>
  );
}
