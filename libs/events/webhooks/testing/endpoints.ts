import type { TestApp, TestWorkspace } from '../../../../test/support/app.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import type { DeliveryView, WebhookView } from '../hooks/webhook-view.js';
import { type Behaviour, type Received, type Receiver, startReceiver } from './receiver.js';

export type Made = WebhookView & { secret: string };

/** A webhook with its own path at the receiver. */
export interface Endpoint extends Made {
  path: string;
}

/** Settings that let a server under test send to this machine. */
export const WITH_RECEIVER = { ROLES: 'api,relay', WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' };

/** Webhooks of one workspace that lead to one receiver. */
export class Endpoints {
  private paths = 0;
  workspace!: TestWorkspace;

  private constructor(
    readonly server: TestApp,
    readonly receiver: Receiver,
  ) {}

  static async at(server: TestApp): Promise<Endpoints> {
    return new Endpoints(server, await startReceiver());
  }

  /** Later webhooks belong to a new workspace. */
  async newWorkspace(): Promise<void> {
    this.workspace = await this.server.newWorkspace();
  }

  /** Creates a webhook with its own path at the receiver. */
  async make(values: Record<string, unknown> = {}, behaviour?: Behaviour): Promise<Endpoint> {
    const path = `/${++this.paths}`;
    if (behaviour) this.receiver.behave(path, behaviour);
    const body = { url: this.receiver.url(path), events: ['*'], ...values };
    const made = await this.workspace.api.post<Made>('/webhooks', body);
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
    return { ...made.body, path };
  }

  /** Sends a test event. @returns its id */
  async test({ id }: Endpoint): Promise<string> {
    const { status, body } = await this.workspace.api.post<DeliveryView>(`/webhooks/${id}/test`);
    if (status !== 202) throw new Error(JSON.stringify(body));
    return body.id;
  }

  async deliveries({ id }: Endpoint, query = ''): Promise<DeliveryView[]> {
    const path = `/webhooks/${id}/deliveries${query}`;
    return (await this.workspace.api.get<{ items: DeliveryView[] }>(path)).body.items;
  }

  /** The only delivery of the webhook, once it has had so many attempts. */
  attempted(webhook: Endpoint, attempts = 1): Promise<DeliveryView> {
    return waitFor(`${attempts} attempts`, async () =>
      (await this.deliveries(webhook)).find((each) => each.attempts.length === attempts),
    );
  }

  received({ path }: Endpoint, count = 1): Promise<Received[]> {
    return waitFor(`${count} requests`, () => {
      const all = this.receiver.received(path);
      return all.length >= count && all;
    });
  }

  async stateOf({ id }: Endpoint): Promise<WebhookView> {
    return (await this.workspace.api.get<WebhookView>(`/webhooks/${id}`)).body;
  }

  /** Moves time past the next attempt, and so many hours further. */
  async passTime({ id }: Endpoint, hours = 0): Promise<void> {
    const { owner } = this.server.db;
    await owner.query(
      `UPDATE webhook_deliveries SET next_attempt_at = now(), give_up_at = give_up_at - make_interval(hours => $2)
       WHERE webhook_id = $1 AND state = 'pending'`,
      [id, hours],
    );
    await owner.query(
      `UPDATE webhooks SET due_at = CASE WHEN disabled_at IS NULL THEN now() END, paused_until = NULL,
         enabled_at = enabled_at - make_interval(hours => $2) WHERE id = $1`,
      [id, hours],
    );
  }

  /** Adds finished deliveries of events with the ids from `first` on. */
  async addOld(
    { id }: Endpoint,
    count: number,
    state: 'delivered' | 'dead',
    first = 1,
  ): Promise<void> {
    await this.server.db.owner.query(
      `INSERT INTO webhook_deliveries (workspace_id, webhook_id, event_id, event, payload, occurred_at, state, next_attempt_at)
       SELECT $1, $2, n, 'task.created', '{}', now(), $4, NULL
       FROM generate_series($5::int, $5::int + $3::int - 1) n`,
      [this.workspace.id, id, count, state, first],
    );
  }

  async count({ id }: Endpoint, condition = 'true'): Promise<number> {
    const { rows } = await this.server.db.owner.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM webhook_deliveries WHERE webhook_id = $1 AND ${condition}`,
      [id],
    );
    return rows[0]?.count ?? 0;
  }
}
