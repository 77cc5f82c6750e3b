import type { components } from '#lib/api-client';
import { useCommand } from '../api/read.js';
import { lengthOf, plainOf } from '../domain/format.js';
import { Badge } from './badge.js';
import { Foreign } from './foreign.js';
import { Ago, Button } from './parts.js';

type Delivery = components['schemas']['WebhookDelivery'];
type Attempt = components['schemas']['DeliveryAttempt'];

/** One delivery; its attempts and its body behind a click. */
export function DeliveryLine({ webhookId, delivery }: { webhookId: string; delivery: Delivery }) {
  const { id, event, state, attempts, occurredAt, nextAttemptAt, body } = delivery;
  const replay = useCommand(
    (api) =>
      api.post('/api/v1/webhooks/{id}/replay', {
        params: { path: { id: webhookId } },
        body: { ids: [id] },
      }),
    { done: 'It is sent again.', changes: [['webhooks', webhookId]] },
  );
  return (
    <li>
      <details>
        <summary>
          <Badge state={state} /> <span>{event}</span>, <Ago at={occurredAt} />, {attempts.length}{' '}
          {attempts.length === 1 ? 'attempt' : 'attempts'}
          {nextAttemptAt && (
            <>
              , next <Ago at={nextAttemptAt} />
            </>
          )}
        </summary>
        <div className="stack">
          <ol>
            {attempts.map((attempt) => (
              <li key={attempt.number}>{sentenceOfAttempt(attempt)}</li>
            ))}
          </ol>
          <Foreign text={body} />
          {state !== 'pending' && (
            <div>
              <Button disabled={replay.isPending} onClick={() => replay.mutate(undefined)}>
                Send again
              </Button>
            </div>
          )}
        </div>
      </details>
    </li>
  );
}

function sentenceOfAttempt({ number, status, error, durationMs, answer }: Attempt): string {
  const outcome = status === null ? plainOf(error ?? 'no answer') : `answered ${status}`;
  const said = answer === null || answer === '' ? '' : `: ${plainOf(answer.slice(0, 300))}`;
  return `${number}. ${outcome} after ${lengthOf(durationMs / 1000)}${said}`;
}
