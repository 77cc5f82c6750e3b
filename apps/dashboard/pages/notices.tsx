import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { components } from '#lib/api-client';
import { useAll, useCommand } from '../api/read.js';
import { AdminsOnly } from '../components/admins-only.js';
import { FormDialog } from '../components/form-dialog.js';
import { Ago, Empty, Field, Loaded, Page } from '../components/parts.js';
import { defineColumns, Table } from '../components/table.js';
import { WebhookFields } from '../components/webhook-fields.js';
import { stripControls } from '../domain/format.js';
import { readWebhook, WEBHOOK_KINDS } from '../domain/notice-draft.js';

type Webhook = components['schemas']['Webhook'];

const KINDS = ['slack', 'discord', 'email'] as const;

const COLUMNS = defineColumns<Webhook>([
  {
    id: 'target',
    head: 'To',
    width: 'minmax(180px, 3fr)',
    cell: ({ id, description, url }) => (
      <Link to="/webhooks/$id" params={{ id }} className="title-link">
        <bdi>{stripControls(description ?? url)}</bdi>
      </Link>
    ),
  },
  { id: 'kind', head: 'Kind', width: '80px', cell: ({ kind }) => WEBHOOK_KINDS[kind] },
  {
    id: 'events',
    head: 'Events',
    width: 'minmax(140px, 2fr)',
    cell: ({ events }) => <span className="muted">{events.join(', ')}</span>,
  },
  {
    id: 'quiet',
    head: 'Quiet hours',
    width: '112px',
    cell: ({ quietHours }) => (quietHours === null ? '–' : `${quietHours.from}–${quietHours.to}`),
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
  { id: 'age', head: 'Created', width: '88px', cell: ({ createdAt }) => <Ago at={createdAt} /> },
]);

/** The webhooks for people: Slack, Discord and e-mail. */
export function NoticesPage() {
  return (
    <AdminsOnly page="Notices">
      <Notices />
    </AdminsOnly>
  );
}

function Notices() {
  const webhooks = useAll(['webhooks'], (api, cursor, signal) =>
    api.get('/api/v1/webhooks', { params: { query: { limit: 200, cursor } }, signal }),
  );
  return (
    <Page title="Notices" actions={<CreateNotice />}>
      <Loaded query={webhooks}>
        {(all) => {
          const rows = all.filter(({ kind }) => kind !== 'signed');
          return rows.length === 0 ? (
            <Empty title="No notices yet">
              <p>A notice tells people about events in Slack, in Discord or by e-mail.</p>
            </Empty>
          ) : (
            <Table
              label="Notices"
              columns={COLUMNS}
              rows={rows}
              keyOf={({ id }) => id}
              least={760}
            />
          );
        }}
      </Loaded>
    </Page>
  );
}

function CreateNotice() {
  const [kind, setKind] = useState<(typeof KINDS)[number]>('slack');
  const create = useCommand(
    async (api, form: FormData) =>
      api.post('/api/v1/webhooks', { body: { kind, ...readWebhook(form, kind) } }),
    { done: 'Notice created', changes: [['webhooks']] },
  );
  return (
    <FormDialog
      open="Create notice"
      look="primary"
      title="Create notice"
      confirm="Create notice"
      onConfirm={create.mutate}
    >
      <Field label="Kind">
        <select
          className="input"
          value={kind}
          onChange={({ target }) => setKind(target.value as typeof kind)}
        >
          {KINDS.map((value) => (
            <option key={value} value={value}>
              {WEBHOOK_KINDS[value]}
            </option>
          ))}
        </select>
      </Field>
      <WebhookFields key={kind} kind={kind} />
    </FormDialog>
  );
}
