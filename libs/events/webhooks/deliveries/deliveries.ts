import { Injectable } from '@nestjs/common';
import { Database, firstRow, type Sql } from '#lib/database';
import { type Caller, DroverError, type Page, toPage } from '#lib/kernel';
import { WebhookSenders } from '../sending/webhook-senders.js';
import {
  type DeliveryState,
  drawEventId,
  insertDelivery,
  listDeliveries,
  measureReplay,
  replayDeliveries,
  setDue,
  whichOf,
} from '../store/deliveries.sql.js';
import { type DeliveryView, toDeliveryView } from '../hooks/webhook-view.js';
import { found, locked } from '../hooks/webhooks.js';

/** Maximum number of deliveries that one request can replay. */
const MAX_REPLAYED = 100_000;
/** Deliveries in one transaction, which limits the time for which their webhook is locked. */
const SLICE = 1_000;

export interface DeliveryListing {
  state: DeliveryState | null;
  after: string | null;
  limit: number;
}

/** Deliveries by their ids, or all of a state and period. */
export interface Replay {
  ids?: string[];
  state?: DeliveryState;
  from?: string;
  to?: string;
}

/** Past and pending deliveries of webhooks. */
@Injectable()
export class Deliveries {
  constructor(
    private readonly database: Database,
    private readonly senders: WebhookSenders,
  ) {}

  /** Newest first. @throws DroverError `webhook_not_found` */
  async list(
    { workspaceId }: Caller,
    webhookId: string,
    { state, after, limit }: DeliveryListing,
  ): Promise<Page<DeliveryView>> {
    const tenant = this.database.tenant(workspaceId);
    await found(tenant, workspaceId, webhookId);
    const rows = await tenant.rows(listDeliveries[whichOf(state)], [
      workspaceId,
      webhookId,
      state,
      after,
      limit + 1,
    ]);
    return toPage(
      rows,
      limit,
      ({ event_id }) => [event_id],
      (row) => toDeliveryView(webhookId, row),
    );
  }

  /**
   * Sends an event `webhook.test`, whatever the filters say.
   *
   * @throws DroverError `webhook_not_found`, `webhook_disabled`
   */
  async test({ workspaceId }: Caller, webhookId: string): Promise<DeliveryView> {
    const row = await this.database.tenant(workspaceId).transaction(async (tx) => {
      refuseDisabled(await locked(tx, workspaceId, webhookId));
      const drawn = await firstRow(tx, drawEventId);
      const event = { event: 'webhook.test', workspaceId, timestamp: new Date().toISOString() };
      const payload = JSON.stringify({ id: drawn?.id, ...event, webhookId });
      const params = [workspaceId, webhookId, drawn?.id, event.event, payload];
      const added = await firstRow(tx, insertDelivery, params);
      await tx.rows(setDue, [workspaceId, webhookId]);
      return added;
    });
    if (!row) throw new Error('A delivery was not inserted.');
    this.senders.nudge();
    return toDeliveryView(webhookId, row);
  }

  /**
   * Sends deliveries again with their ids and bodies. The set is decided at the start. If it ends
   * early, the finished slices are sent, and a repetition sends them again.
   *
   * @returns their number
   * @throws DroverError `webhook_not_found`, `webhook_disabled`, `validation_failed` for more than
   *   100,000
   */
  async replay(
    { workspaceId }: Caller,
    webhookId: string,
    { ids = undefined, state, from, to }: Replay,
  ): Promise<{ replayed: number }> {
    const filter = [ids ?? null, state ?? null, from ?? null, to ?? null];
    if (filter.every((part) => part === null)) throw nothingNamed();
    const tenant = this.database.tenant(workspaceId);
    refuseDisabled(await found(tenant, workspaceId, webhookId));
    const wanted = [workspaceId, webhookId, ...filter];
    const which = whichOf(state ?? null);
    const extent = await firstRow(tenant, measureReplay[which], [...wanted, MAX_REPLAYED + 1]);
    if (extent && extent.count > MAX_REPLAYED) throw tooMany();
    let replayed = 0;
    for (let first = extent?.first ?? null; first !== null;) {
      const rows = await this.replaySlice(replayDeliveries[which], [
        ...wanted,
        first,
        extent?.last,
      ]);
      replayed += rows.length;
      first = rows.length === SLICE ? after(rows) : null;
    }
    return { replayed };
  }

  private async replaySlice(
    statement: Sql<{ event_id: string }>,
    params: unknown[],
  ): Promise<{ event_id: string }[]> {
    const [workspaceId, webhookId] = params as [string, string];
    const rows = await this.database.tenant(workspaceId).transaction(async (tx) => {
      await locked(tx, workspaceId, webhookId);
      const changed = await tx.rows(statement, [...params, SLICE]);
      await tx.rows(setDue, [workspaceId, webhookId]);
      return changed;
    });
    this.senders.nudge();
    return rows;
  }
}

/** The id after the last row. */
function after(rows: readonly { event_id: string }[]): string {
  const ids = rows.map(({ event_id }) => BigInt(event_id));
  return String(ids.reduce((last, id) => (id > last ? id : last)) + 1n);
}

function refuseDisabled({ disabled_at }: { disabled_at: Date | null }): void {
  if (disabled_at !== null) throw new DroverError('webhook_disabled');
}

function nothingNamed(): DroverError {
  const message = 'or one of `state`, `from` and `to` must be there';
  return new DroverError('validation_failed', { errors: [{ field: 'ids', message }] });
}

function tooMany(): DroverError {
  const message = `must be nearer to \`from\`: these are more than ${MAX_REPLAYED} deliveries`;
  return new DroverError('validation_failed', { errors: [{ field: 'to', message }] });
}
