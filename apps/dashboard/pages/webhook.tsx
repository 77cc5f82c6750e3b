import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { components } from '#lib/api-client';
import { useCommand, usePages, useRead } from '../api/read.js';
import { AdminsOnly } from '../components/admins-only.js';
import { Badge } from '../components/badge.js';
import { DeliveryLine, deliveryWord } from '../components/delivery-line.js';
import { FormDialog } from '../components/form-dialog.js';
import { Button, Empty, Loaded, Page, Panel } from '../components/parts.js';
import { Secret } from '../components/secret.js';
import { WebhookActions } from '../components/webhook-actions.js';
import { stripControls } from '../domain/format.js';

type State = components['schemas']['WebhookDelivery']['state'];

const STATES: State[] = ['pending', 'delivered', 'dead'];
const EVERY_MS = 5_000;
const route = getRouteApi('/webhooks/$id');

export function WebhookPage() {
  const { id } = route.useParams();
  return (
    <AdminsOnly page="Webhook">
      <OneWebhook key={id} id={id} />
    </AdminsOnly>
  );
}

function OneWebhook({ id }: { id: string }) {
  const [secret, setSecret] = useState<string>();
  const params = { path: { id } };
  const webhook = useRead(['webhooks', id], (api, signal) =>
    api.get('/api/v1/webhooks/{id}', { params, signal }),
  );
  const test = useCommand((api) => api.post('/api/v1/webhooks/{id}/test', { params }), {
    done: 'Test event webhook.test queued',
    changes: [['webhooks', id]],
  });
  return (
    <Loaded query={webhook}>
      {(data) => (
        <Page
          title={stripControls(data.url)}
          above={
            data.kind === 'signed' ? (
              <Link to="/webhooks">Webhooks</Link>
            ) : (
              <Link to="/notices">Notices</Link>
            )
          }
          beside={<span className="muted">{data.enabled ? 'Enabled' : 'Disabled'}</span>}
          actions={
            <>
              <Button
                disabled={!data.enabled || test.isPending}
                onClick={() => test.mutate(undefined)}
              >
                Send test event
              </Button>
              <ReplayDead id={id} />
              <WebhookActions webhook={data} onSecret={setSecret} />
            </>
          }
        >
          <div className="stack">
            {secret !== undefined && <Secret title="Webhook secret" value={secret} />}
            <Deliveries id={id} />
          </div>
        </Page>
      )}
    </Loaded>
  );
}

function ReplayDead({ id }: { id: string }) {
  const replay = useCommand(
    (api) =>
      api.post('/api/v1/webhooks/{id}/replay', {
        params: { path: { id } },
        body: { state: 'dead' },
      }),
    { done: 'Deliveries queued again', changes: [['webhooks', id]] },
  );
  return (
    <FormDialog
      open="Replay dead-lettered deliveries"
      title="Replay all dead-lettered deliveries?"
      confirm="Replay deliveries"
      onConfirm={replay.mutate}
    >
      <p>Receivers recognize a repeated event by its ID. New events are not delayed.</p>
    </FormDialog>
  );
}

function Deliveries({ id }: { id: string }) {
  const [state, setState] = useState<State>();
  const deliveries = usePages(
    ['webhooks', id, 'deliveries', state],
    (api, cursor, signal) => {
      const params = { path: { id }, query: { state, cursor, limit: 50 } };
      return api.get('/api/v1/webhooks/{id}/deliveries', { params, signal });
    },
    { every: EVERY_MS },
  );
  return (
    <Panel
      title="Deliveries"
      end={
        <div className="chips" role="group" aria-label="Delivery state">
          {STATES.map((name) => (
            <button
              key={name}
              type="button"
              className="chip"
              aria-pressed={state === name}
              onClick={() => setState(state === name ? undefined : name)}
            >
              <Badge state={name} word={deliveryWord(name)} />
            </button>
          ))}
        </div>
      }
    >
      <Loaded query={deliveries}>
        {({ pages }) => {
          const items = pages.flatMap((page) => page.items);
          if (items.length === 0)
            return (
              <Empty title="No deliveries" small>
                <p>Each subscribed event creates a delivery. Send a test event to see one.</p>
              </Empty>
            );
          return (
            <ul className="stack">
              {items.map((delivery) => (
                <DeliveryLine key={delivery.id} webhookId={id} delivery={delivery} />
              ))}
            </ul>
          );
        }}
      </Loaded>
      {deliveries.hasNextPage && (
        <Button onClick={() => void deliveries.fetchNextPage()}>Show more deliveries</Button>
      )}
    </Panel>
  );
}
