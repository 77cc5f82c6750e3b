import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { components } from '#lib/api-client';
import { useAll, useCommand } from '../api/read.js';
import { AdminsOnly } from '../components/admins-only.js';
import { FormDialog } from '../components/form-dialog.js';
import { Ago, Empty, Loaded, Page } from '../components/parts.js';
import { Secret } from '../components/secret.js';
import { defineColumns, Table } from '../components/table.js';
import { WebhookFields } from '../components/webhook-fields.js';
import { readWebhook } from '../domain/notice-draft.js';
import { stripControls } from '../domain/format.js';

type Webhook = components['schemas']['Webhook'];

const COLUMNS = defineColumns<Webhook>([
  {
    id: 'url',
    head: 'URL',
    width: 'minmax(200px, 3fr)',
    cell: ({ id, url }) => (
      <Link to="/webhooks/$id" params={{ id }} className="title-link" title={stripControls(url)}>
        <bdi>{stripControls(url)}</bdi>
      </Link>
    ),
  },
  {
    id: 'events',
    head: 'Events',
    width: 'minmax(140px, 2fr)',
    cell: ({ events }) => <span className="muted">{events.join(', ')}</span>,
  },
  {
    id: 'state',
    head: 'State',
    width: '124px',
    cell: ({ enabled, disabledReason }) => (enabled ? 'Enabled' : `Disabled (${disabledReason})`),
  },
  {
    id: 'failures',
    head: 'Failures',
    width: '64px',
    isNumber: true,
    cell: ({ consecutiveFailures }) => consecutiveFailures,
  },
  {
    id: 'created',
    head: 'Created',
    width: '88px',
    cell: ({ createdAt }) => <Ago at={createdAt} />,
  },
]);

export function WebhooksPage() {
  return (
    <AdminsOnly page="Webhooks">
      <Webhooks />
    </AdminsOnly>
  );
}

function Webhooks() {
  const [secret, setSecret] = useState<string>();
  const webhooks = useAll(['webhooks'], (api, cursor, signal) =>
    api.get('/api/v1/webhooks', { params: { query: { limit: 200, cursor } }, signal }),
  );
  return (
    <Page title="Webhooks" actions={<NewWebhook onSecret={setSecret} />}>
      <div className="stack">
        {secret !== undefined && <Secret title="Webhook secret" value={secret} />}
        <Loaded query={webhooks}>
          {(all) => {
            const items = all.filter(({ kind }) => kind === 'signed');
            return items.length === 0 ? (
              <Empty title="No webhooks yet">
                <p>A webhook sends signed events of this workspace to your URL.</p>
              </Empty>
            ) : (
              <Table label="Webhooks" columns={COLUMNS} rows={items} keyOf={({ id }) => id} />
            );
          }}
        </Loaded>
      </div>
    </Page>
  );
}

function NewWebhook({ onSecret }: { onSecret: (secret: string) => void }) {
  const create = useCommand(
    async (api, form: FormData) =>
      api.post('/api/v1/webhooks', { body: readWebhook(form, 'signed') }),
    {
      done: 'Webhook created',
      changes: [['webhooks']],
      onDone: ({ secret }) => {
        if (secret !== null) onSecret(secret);
      },
    },
  );
  return (
    <FormDialog
      open="Create webhook"
      look="primary"
      title="Create webhook"
      confirm="Create webhook"
      onConfirm={create.mutate}
    >
      <WebhookFields kind="signed" />
    </FormDialog>
  );
}
