import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { components } from '#lib/api-client';
import { useCommand, usePages } from '../api/read.js';
import { AdminsOnly } from '../components/admins-only.js';
import { FormDialog } from '../components/form-dialog.js';
import { HookFields } from '../components/hook-fields.js';
import { Ago, Button, Empty, Field, Loaded, Page } from '../components/parts.js';
import { Secret } from '../components/secret.js';
import { defineColumns, Table } from '../components/table.js';
import { stripControls } from '../domain/format.js';
import { FIRST_RULES, readRules } from '../domain/hook-draft.js';

type Hook = components['schemas']['InboundHook'];
type Kind = Hook['kind'];

export const HOOK_KINDS: Record<Kind, string> = {
  github: 'GitHub',
  gitea: 'Gitea or Forgejo',
  gitlab: 'GitLab',
  generic: 'Generic (Standard Webhooks)',
};

const COLUMNS = defineColumns<Hook>([
  {
    id: 'name',
    head: 'Hook',
    width: 'minmax(160px, 2fr)',
    cell: ({ id, kind, description }) => (
      <Link to="/inbound-hooks/$id" params={{ id }} className="title-link">
        <bdi>{stripControls(description ?? HOOK_KINDS[kind])}</bdi>
      </Link>
    ),
  },
  { id: 'kind', head: 'Sender', width: '124px', cell: ({ kind }) => HOOK_KINDS[kind] },
  { id: 'rules', head: 'Rules', width: '64px', isNumber: true, cell: ({ rules }) => rules.length },
  {
    id: 'state',
    head: 'State',
    width: '88px',
    cell: ({ enabled }) => (enabled ? 'Enabled' : 'Disabled'),
  },
  { id: 'age', head: 'Created', width: '88px', cell: ({ createdAt }) => <Ago at={createdAt} /> },
]);

export function InboundHooksPage() {
  return (
    <AdminsOnly page="Inbound hooks">
      <InboundHooks />
    </AdminsOnly>
  );
}

function InboundHooks() {
  const [created, setCreated] = useState<{ path: string; secret: string }>();
  const hooks = usePages(['inbound-hooks', 'list'], (api, cursor, signal) =>
    api.get('/api/v1/inbound-hooks', { params: { query: { limit: 100, cursor } }, signal }),
  );
  return (
    <Page title="Inbound hooks" actions={<CreateHook onCreated={setCreated} />}>
      <div className="stack">
        {created !== undefined && (
          <Secret
            title="Address and secret of the new hook"
            value={`${location.origin}${created.path}\n${created.secret}`}
          />
        )}
        <Loaded query={hooks}>
          {({ pages }) => {
            const rows = pages.flatMap(({ items }) => items);
            return rows.length === 0 ? (
              <Empty title="No inbound hooks yet">
                <p>
                  An inbound hook receives events of another system, such as issues of GitHub. Its
                  rules create or resume tasks.
                </p>
              </Empty>
            ) : (
              <Table label="Inbound hooks" columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />
            );
          }}
        </Loaded>
        {hooks.hasNextPage && (
          <Button onClick={() => void hooks.fetchNextPage()}>Show more hooks</Button>
        )}
      </div>
    </Page>
  );
}

interface CreateHookProps {
  onCreated: (hook: { path: string; secret: string }) => void;
}

function CreateHook({ onCreated }: CreateHookProps) {
  const [kind, setKind] = useState<Kind>('github');
  const create = useCommand(
    async (api, form: FormData) => {
      const rules = readRules(String(form.get('rules')));
      const description = String(form.get('description')).trim() || null;
      return api.post('/api/v1/inbound-hooks', { body: { kind, rules, description } });
    },
    { done: 'Inbound hook created', changes: [['inbound-hooks']], onDone: onCreated },
  );
  return (
    <FormDialog
      open="Create inbound hook"
      look="primary"
      title="Create inbound hook"
      confirm="Create inbound hook"
      onConfirm={create.mutate}
    >
      <Field label="Sender">
        <select
          className="input"
          value={kind}
          onChange={({ target }) => setKind(target.value as Kind)}
        >
          {Object.entries(HOOK_KINDS).map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      </Field>
      <HookFields key={kind} rules={FIRST_RULES[kind] ?? []} />
    </FormDialog>
  );
}
