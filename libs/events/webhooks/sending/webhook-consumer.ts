import { Injectable } from '@nestjs/common';
import { Database } from '#lib/database';
import { type Consumer, type Message, wants, type Work } from '#lib/journal';
import { WebhookSenders } from './webhook-senders.js';
import {
  insertDeliveries,
  lockAll,
  readSubscribed,
  readSubscriptions,
  type Subscription,
} from '../store/deliveries.sql.js';

/** A message for one webhook on its way into the table. */
interface NewDelivery {
  workspace_id: string;
  webhook_id: string;
  event_id: string;
  event: string;
  payload: string;
  occurred_at: unknown;
}

/** Workspaces by which the journal is searched. With more, all its rows are read. */
const WORKSPACES = 1_000;

/** Deliveries in one transaction, which limits the time for which their webhooks are locked. */
const SLICE = 1_000;

/**
 * Turns events into deliveries. Each webhook has one delivery for each event, however often the
 * event is read.
 */
@Injectable()
export class WebhookConsumer implements Consumer {
  readonly name = 'webhooks';

  constructor(
    private readonly database: Database,
    private readonly senders: WebhookSenders,
  ) {}

  async workspaces(): Promise<readonly string[] | undefined> {
    const rows = await this.database.service.rows(readSubscribed, [WORKSPACES + 1]);
    return rows.length > WORKSPACES ? undefined : rows.map((row) => row.workspace_id);
  }

  async consume(messages: readonly Message[], work?: Pick<Work, 'goesOn'>): Promise<void> {
    const workspaces = [...new Set(messages.map(({ workspaceId }) => workspaceId))];
    const subscriptions = await this.database.service.rows(readSubscriptions, [workspaces]);
    let slice: NewDelivery[] = [];
    for (const delivery of deliveriesOf(messages, subscriptions)) {
      slice.push(delivery);
      if (slice.length < SLICE) continue;
      await this.add(slice);
      slice = [];
      await work?.goesOn();
    }
    if (slice.length > 0) await this.add(slice);
  }

  private async add(deliveries: readonly NewDelivery[]): Promise<void> {
    const webhooks = new Map(deliveries.map((each) => [each.webhook_id, each.workspace_id]));
    const added = await this.database.service.transaction(async (tx) => {
      await tx.rows(lockAll, [[...webhooks.values()], [...webhooks.keys()]]);
      return tx.rows(insertDeliveries, [JSON.stringify(deliveries)]);
    });
    if (added.length > 0) this.senders.nudge();
  }
}

/** One at a time, because a whole batch may not fit into memory. */
function* deliveriesOf(
  messages: readonly Message[],
  subscriptions: readonly Subscription[],
): Generator<NewDelivery> {
  const ofWorkspace = new Map<string, Subscription[]>();
  for (const each of subscriptions) {
    ofWorkspace.set(each.workspace_id, [...(ofWorkspace.get(each.workspace_id) ?? []), each]);
  }
  for (const message of messages) {
    const wanting = ofWorkspace.get(message.workspaceId)?.filter((each) => isFor(message, each));
    if (!wanting?.length) continue;
    const delivery = deliveryOf(message);
    for (const { id } of wanting) yield { ...delivery, webhook_id: id };
  }
}

// A webhook gets no events from before its creation, even if this consumer is behind.
function isFor({ body }: Message, { events, created_at }: Subscription): boolean {
  if (!wants(events, String(body['event']), body['newStatus'])) return false;
  return Date.parse(String(body['timestamp'])) >= Math.floor(created_at);
}

function deliveryOf(message: Message): Omit<NewDelivery, 'webhook_id'> {
  const { id, workspaceId, body } = message;
  return {
    workspace_id: workspaceId,
    event_id: id,
    event: String(body['event']),
    payload: JSON.stringify({ id, ...body }),
    occurred_at: body['timestamp'],
  };
}
