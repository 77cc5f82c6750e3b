import { Listeners } from '../connection/listeners.js';
import type { ValkeyClient } from '../connection/valkey-client.js';
import type { ValkeySubscriber } from '../connection/valkey-subscriber.js';
import { decodeWakeUps, encodeWakeUps, WakeUpBatch } from './wake-up-batch.js';

/** The number of waiting agents that are woken. They wake each other while tasks are ready. */
const MANY = 100;
const CHANNEL = 'drover:wake-ups';
/**
 * A burst becomes one message in this time, in milliseconds. Its first wake-up goes out at once.
 */
const GATHER_MS = 2;

/**
 * Wakes waiters. A wake-up carries no facts and can be lost or come twice, so waiters also look by
 * themselves from time to time.
 *
 * This process is woken at once, other servers through Valkey. With Valkey down they are not woken.
 * Nothing here throws or waits for it.
 */
export class WakeUps {
  private readonly claimListeners: Listeners<[string, number]>;
  private readonly coordinatorListeners: Listeners<[]>;
  private readonly signalListeners: Listeners<[string]>;
  private readonly stepListeners: Listeners<[string]>;
  private readonly logListeners: Listeners<[string]>;
  private readonly resyncListeners: Listeners<[]>;
  private readonly cleanUp: (() => void)[];
  private batch = new WakeUpBatch();
  private pending = false;
  private sentAt = -Infinity;
  /** A wake-up could not be sent. When Valkey is back, other servers must look for themselves. */
  private somethingMissed = false;

  /**
   * @param sender names this process among the servers; a process ignores its own messages
   */
  constructor(
    private readonly client: ValkeyClient,
    subscriber: ValkeySubscriber,
    private readonly sender: string,
    onError: (error: unknown) => void = () => undefined,
  ) {
    this.claimListeners = new Listeners(onError);
    this.coordinatorListeners = new Listeners(onError);
    this.signalListeners = new Listeners(onError);
    this.stepListeners = new Listeners(onError);
    this.logListeners = new Listeners(onError);
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

  /** An unknown number of the workspace's tasks became ready, as when a limit ends. */
  manyClaims(workspaceId: string): void {
    this.claims(workspaceId, MANY);
  }

  onClaims(listener: (workspaceId: string, count: number) => void): () => void {
    return this.claimListeners.add(listener);
  }

  /** Wakes the coordinator's next cycle. */
  coordinator(): void {
    this.coordinatorListeners.call();
    this.batch.coordinator = true;
    this.notify();
  }

  onCoordinator(listener: () => void): () => void {
    return this.coordinatorListeners.add(listener);
  }

  /** Wakes these agents: a run of theirs was ended or must pause, or they must drain. */
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

  /** Steps of changes of the workspace became due. */
  steps(workspaceId: string): void {
    this.stepListeners.call(workspaceId);
    this.batch.steps.add(workspaceId);
    this.notify();
  }

  onSteps(listener: (workspaceId: string) => void): () => void {
    return this.stepListeners.add(listener);
  }

  /** The log of the task has new lines, which are no events. */
  logs(taskId: string): void {
    this.logListeners.call(taskId);
    this.batch.logs.add(taskId);
    this.notify();
  }

  onLogs(listener: (taskId: string) => void): () => void {
    return this.logListeners.add(listener);
  }

  /**
   * Calls back when wake-ups may have been lost, because the subscription was interrupted or
   * another server could not send. Waiters must then read Postgres.
   */
  onResync(listener: () => void): () => void {
    return this.resyncListeners.add(listener);
  }

  /** Sends the collected wake-ups and stops listening. */
  close(): void {
    this.send();
    for (const undo of this.cleanUp) undo();
  }

  private notify(): void {
    if (this.pending) return;
    this.pending = true;
    const wait = Math.ceil(this.sentAt + GATHER_MS - performance.now());
    const send = () => this.send();
    // Deferred, so that the caller's next wake-up goes with it. A timer would take a millisecond.
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
    for (const workspaceId of batch.steps) this.stepListeners.call(workspaceId);
    for (const taskId of batch.logs) this.logListeners.call(taskId);
    if (batch.coordinator) this.coordinatorListeners.call();
    if (batch.resync) this.resyncListeners.call();
  }
}
