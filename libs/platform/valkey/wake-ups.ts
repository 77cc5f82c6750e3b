import { Listeners } from './listeners.js';
import type { ValkeyClient } from './valkey-client.js';
import type { ValkeySubscriber } from './valkey-subscriber.js';
import { decodeWakeUps, encodeWakeUps, WakeUpBatch } from './wake-up-batch.js';

const CHANNEL = 'drover:wake-ups';
/** A burst becomes one message in this time; the first of a burst goes out at once. */
const GATHER_MS = 2;

/**
 * Wakes waiters: there is something to look at. A wake-up carries no facts and may get lost or come twice:
 * waiters also look by themselves now and then.
 *
 * This process hears at once. Other servers hear through Valkey, and with Valkey down they do not;
 * nothing here throws or waits for it.
 */
export class WakeUps {
  private readonly claimListeners: Listeners<[string, number]>;
  private readonly coordinatorListeners: Listeners<[]>;
  private readonly signalListeners: Listeners<[string]>;
  private readonly resyncListeners: Listeners<[]>;
  private readonly cleanUp: (() => void)[];
  private batch = new WakeUpBatch();
  private pending = false;
  private sentAt = -Infinity;
  /** Something could not be told: when Valkey is back, the others must look for themselves. */
  private somethingMissed = false;

  /** @param sender names this process among the servers; a process does not act on its own messages */
  constructor(
    private readonly client: ValkeyClient,
    subscriber: ValkeySubscriber,
    private readonly sender: string,
    onError: (error: unknown) => void = () => undefined,
  ) {
    this.claimListeners = new Listeners(onError);
    this.coordinatorListeners = new Listeners(onError);
    this.signalListeners = new Listeners(onError);
    this.resyncListeners = new Listeners(onError);
    this.cleanUp = [
      subscriber.subscribe(CHANNEL, (message) => this.receive(message)),
      subscriber.onResync(() => this.resyncListeners.call()),
      client.onReady(() => this.catchUp()),
    ];
  }

  /** `count` tasks of the workspace became ready. */
  claims(workspaceId: string, count: number): void {
    if (count <= 0) return;
    this.claimListeners.call(workspaceId, count);
    this.batch.addClaims(workspaceId, count);
    this.notify();
  }

  onClaims(listener: (workspaceId: string, count: number) => void): () => void {
    return this.claimListeners.add(listener);
  }

  /** There is something for the coordinator's next cycle. */
  coordinator(): void {
    this.coordinatorListeners.call();
    this.batch.coordinator = true;
    this.notify();
  }

  onCoordinator(listener: () => void): () => void {
    return this.coordinatorListeners.add(listener);
  }

  /** Something changed for these agents: a run of theirs was ended or must pause, or they must drain. */
  signals(agentIds: readonly string[]): void {
    if (agentIds.length === 0) return;
    for (const agentId of agentIds) {
      this.signalListeners.call(agentId);
      this.batch.agents.add(agentId);
    }
    this.notify();
  }

  onSignals(listener: (agentId: string) => void): () => void {
    return this.signalListeners.add(listener);
  }

  /**
   * Wake-ups may have been missed, because the subscription was lost and is back, or because another
   * server could not send: waiters must look at Postgres again.
   */
  onResync(listener: () => void): () => void {
    return this.resyncListeners.add(listener);
  }

  /** Sends what is gathered and stops listening. */
  close(): void {
    this.send();
    for (const undo of this.cleanUp) undo();
  }

  private notify(): void {
    if (this.pending) return;
    this.pending = true;
    const wait = Math.ceil(this.sentAt + GATHER_MS - performance.now());
    const send = () => this.send();
    // Not at once, so that what the caller says next goes with it; a timer would take a millisecond.
    if (wait <= 0) setImmediate(send);
    else setTimeout(send, wait);
  }

  private send(): void {
    this.pending = false;
    this.sentAt = performance.now();
    const messages = encodeWakeUps(this.sender, this.batch);
    this.batch = new WakeUpBatch();
    for (const message of messages) void this.publish(message);
  }

  private async publish(message: string): Promise<void> {
    const channel = this.client.channel(CHANNEL);
    const sent = await this.client.attempt((commands) => commands.publish(channel, message));
    if (sent.kind !== 'done') this.somethingMissed = true;
  }

  private catchUp(): void {
    if (!this.somethingMissed) return;
    this.somethingMissed = false;
    this.batch.resync = true;
    this.notify();
  }

  private receive(message: string): void {
    const batch = decodeWakeUps(this.sender, message);
    if (!batch) return;
    for (const [workspaceId, count] of batch.claims) this.claimListeners.call(workspaceId, count);
    for (const agentId of batch.agents) this.signalListeners.call(agentId);
    if (batch.coordinator) this.coordinatorListeners.call();
    if (batch.resync) this.resyncListeners.call();
  }
}
