import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { components } from '#lib/api-client';
import { useCommand, usePages, useRead } from '../api/read.js';
import { AdminsOnly } from '../components/admins-only.js';
import { toLabel } from '../components/badge.js';
import { Foreign } from '../components/foreign.js';
import { FormDialog, ifMatch } from '../components/form-dialog.js';
import { HookFields } from '../components/hook-fields.js';
import { Ago, Button, Empty, Facts, Loaded, Page, Panel } from '../components/parts.js';
import { Secret } from '../components/secret.js';
import { defineColumns, Table } from '../components/table.js';
import { stripControls } from '../domain/format.js';
import { readRules } from '../domain/hook-draft.js';
import { HOOK_KINDS } from './inbound-hooks.js';

type Hook = components['schemas']['InboundHook'];
type Delivery = components['schemas']['InboundHookDelivery'];

const route = getRouteApi('/inbound-hooks/$id');
const EVERY_MS = 5_000;

export function InboundHookPage() {
  const { id } = route.useParams();
  return (
    <AdminsOnly page="Inbound hook">
      <LoadedHook key={id} id={id} />
    </AdminsOnly>
  );
}

function LoadedHook({ id }: { id: string }) {
  const hook = useRead(['inbound-hooks', 'one', id], (api, signal) =>
    api.get('/api/v1/inbound-hooks/{id}', { params: { path: { id } }, signal }),
  );
  return <Loaded query={hook}>{(data) => <OneHook hook={data} />}</Loaded>;
}

function OneHook({ hook }: { hook: Hook }) {
  const [secret, setSecret] = useState<string>();
  const { id, kind, description, path, rules, enabled, previousSecretExpiresAt } = hook;
  return (
    <Page
      isThing
      title={stripControls(description ?? HOOK_KINDS[kind])}
      above={<Link to="/inbound-hooks">Inbound hooks</Link>}
      beside={<span className="muted">{enabled ? 'Enabled' : 'Disabled'}</span>}
      actions={<Actions hook={hook} onSecret={setSecret} />}
    >
      <div className="split">
        <div className="stack">
          {secret !== undefined && <Secret title="New secret" value={secret} />}
          <Deliveries id={id} />
          <Panel title="Rules">
            <Foreign text={JSON.stringify(rules, null, 2)} />
          </Panel>
        </div>
        <Panel title="Settings">
          <Facts
            items={[
              ['Sender', HOOK_KINDS[kind]],
              ['Address', <code>{`${location.origin}${path}`}</code>],
              ['Created', <Ago at={hook.createdAt} />],
              ['Old secret ends', previousSecretExpiresAt && <Ago at={previousSecretExpiresAt} />],
              ['ID', <code>{id}</code>],
            ]}
          />
        </Panel>
      </div>
    </Page>
  );
}

interface ActionsProps {
  hook: Hook;
  onSecret: (secret: string) => void;
}

function Actions({ hook, onSecret }: ActionsProps) {
  const { id, version, enabled, description, rules } = hook;
  const navigate = useNavigate();
  const params = { path: { id } };
  const changes = [['inbound-hooks']];
  const change = useCommand(
    (api, body: components['schemas']['ChangeInboundHook']) =>
      api.patch('/api/v1/inbound-hooks/{id}', {
        params: { ...params, header: { 'If-Match': `"${version}"` } },
        body,
      }),
    { done: 'Inbound hook changed', changes },
  );
  const edit = useCommand(
    async (api, form: FormData) =>
      api.patch('/api/v1/inbound-hooks/{id}', {
        params: { ...params, header: ifMatch(form) },
        body: {
          rules: readRules(String(form.get('rules'))),
          description: String(form.get('description')).trim() || null,
        },
      }),
    { done: 'Inbound hook changed', changes },
  );
  const rotate = useCommand((api) => api.post('/api/v1/inbound-hooks/{id}/rotate', { params }), {
    done: 'Secret rotated',
    changes,
    onDone: ({ secret }) => onSecret(secret),
  });
  const remove = useCommand((api) => api.delete('/api/v1/inbound-hooks/{id}', { params }), {
    done: 'Inbound hook deleted',
    changes: [['inbound-hooks', 'list']],
    onDone: () => void navigate({ to: '/inbound-hooks' }),
  });
  return (
    <>
      <FormDialog
        open="Edit hook"
        title="Edit inbound hook"
        confirm="Save changes"
        version={version}
        onConfirm={edit.mutate}
      >
        <HookFields description={description} rules={rules} />
      </FormDialog>
      <Button disabled={change.isPending} onClick={() => change.mutate({ enabled: !enabled })}>
        {enabled ? 'Disable' : 'Enable'}
      </Button>
      <FormDialog
        open="Rotate secret"
        title="Rotate the secret?"
        confirm="Rotate secret"
        onConfirm={(_, callbacks) => rotate.mutate(undefined, callbacks)}
      >
        <p>The old secret stays valid for 24 hours.</p>
      </FormDialog>
      <FormDialog
        open="Delete"
        look="danger"
        title="Delete this inbound hook?"
        confirm="Delete hook"
        onConfirm={(_, callbacks) => remove.mutate(undefined, callbacks)}
      >
        <p>Its sender gets 401 from now on. Its tasks stay.</p>
      </FormDialog>
    </>
  );
}

const COLUMNS = defineColumns<Delivery>([
  {
    id: 'event',
    head: 'Event',
    width: 'minmax(120px, 1fr)',
    cell: ({ event }) => <bdi>{stripControls(event)}</bdi>,
  },
  {
    id: 'subject',
    head: 'Subject',
    width: 'minmax(120px, 1fr)',
    cell: ({ subject }) => <bdi>{stripControls(subject ?? '–')}</bdi>,
  },
  { id: 'outcome', head: 'Outcome', width: '88px', cell: ({ outcome }) => toLabel(outcome) },
  {
    id: 'effect',
    head: 'Effect',
    width: 'minmax(140px, 2fr)',
    cell: ({ taskId, reason, detail }) =>
      taskId === null ? (
        <bdi className="muted">{stripControls(detail ?? toLabel(reason ?? ''))}</bdi>
      ) : (
        <Link to="/tasks/$id" params={{ id: taskId }} className="link">
          View task
        </Link>
      ),
  },
  { id: 'at', head: 'Received', width: '88px', cell: ({ receivedAt }) => <Ago at={receivedAt} /> },
]);

function Deliveries({ id }: { id: string }) {
  const deliveries = usePages(
    ['inbound-hooks', 'deliveries', id],
    (api, cursor, signal) => {
      const params = { path: { id }, query: { limit: 50, cursor } };
      return api.get('/api/v1/inbound-hooks/{id}/deliveries', { params, signal });
    },
    { every: EVERY_MS },
  );
  return (
    <Panel title="Deliveries" flush>
      <Loaded query={deliveries}>
        {({ pages }) => {
          const rows = pages.flatMap(({ items }) => items);
          return rows.length === 0 ? (
            <Empty title="No deliveries yet" small>
              <p>Enter the address and the secret at the sender.</p>
            </Empty>
          ) : (
            <Table
              label="Deliveries"
              columns={COLUMNS}
              rows={rows}
              keyOf={({ id: deliveryId }) => deliveryId}
              least={640}
            />
          );
        }}
      </Loaded>
      {deliveries.hasNextPage && (
        <Button onClick={() => void deliveries.fetchNextPage()}>Show more deliveries</Button>
      )}
    </Panel>
  );
}
