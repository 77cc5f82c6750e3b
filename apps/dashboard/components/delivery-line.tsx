import type { components } from '#lib/api-client';
import { useCommand } from '../api/read.js';
import { formatDuration, stripControls } from '../domain/format.js';
import { Badge } from './badge.js';
import { Foreign } from './foreign.js';
import { Ago, Button } from './parts.js';

type Delivery = components['schemas']['WebhookDelivery'];
type Attempt = components['schemas']['DeliveryAttempt'];

/** Shows one delivery. A click opens its attempts and its body. */
export function DeliveryLine({ webhookId, delivery }: { webhookId: string; delivery: Delivery }) {
  const { id, event, state, attempts, occurredAt, nextAttemptAt, body } = delivery;
  const replay = useCommand(
    (api) =>
      api.post('/api/v1/webhooks/{id}/replay', {
        params: { path: { id: webhookId } },
        body: { ids: [id] },
      }),
    { done: 'Delivery queued again', changes: [['webhooks', webhookId]] },
  );
  return (
    <li>
      <details>
        <summary>
          <Badge state={state} word={deliveryWord(state)} /> <span>{event}</span>,{' '}
          <Ago at={occurredAt} />, {attempts.length}{' '}
          {attempts.length === 1 ? 'attempt' : 'attempts'}
          {nextAttemptAt && (
            <>
              , next attempt <Ago at={nextAttemptAt} />
            </>
          )}
        </summary>
        <div className="stack">
          <ol>
            {attempts.map((attempt) => (
              <li key={attempt.number}>{describeAttempt(attempt)}</li>
            ))}
          </ol>
          <Foreign text={body ?? 'Drover removed the body of this delivered message.'} />
          {state !== 'pending' && (
            <div>
              <Button disabled={replay.isPending} onClick={() => replay.mutate(undefined)}>
                Replay delivery
              </Button>
            </div>
          )}
        </div>
      </details>
    </li>
  );
}

/** The word for the state of a delivery, where it differs from the API's. */
export function deliveryWord(state: Delivery['state']): string | undefined {
  return state === 'dead' ? 'Dead-lettered' : undefined;
}

function describeAttempt({ number, status, error, durationMs, answer }: Attempt): string {
  const outcome = status === null ? stripControls(error ?? 'No response') : `HTTP ${status}`;
  const said = answer === null || answer === '' ? '' : `: ${stripControls(answer.slice(0, 300))}`;
  return `${number}. ${outcome} after ${formatDuration(durationMs / 1000)}${said}`;
}
