import {
  type DynamicModule,
  Module,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { newId } from '#lib/kernel';
import type { ValkeyOptions } from './connection/connection.js';
import { HeartbeatStore } from './heartbeats/heartbeat-store.js';
import { ValkeyClient } from './connection/valkey-client.js';
import { ValkeySubscriber } from './connection/valkey-subscriber.js';
import { WakeUps } from './wake-ups/wake-ups.js';

/**
 * Maximum wait for Valkey at a server's start, in milliseconds. The server starts without it, too.
 */
const START_WAIT_MS = 1_000;

/** Provides the connections and their users everywhere. Closes them after all other parts. */
@Module({})
export class ValkeyModule implements OnModuleInit, OnApplicationShutdown {
  constructor(
    private readonly client: ValkeyClient,
    private readonly subscriber: ValkeySubscriber,
    private readonly wakeUps: WakeUps,
  ) {}

  /** @param options.views whether heartbeats are also written to the keys of views */
  static forRoot(options: ValkeyOptions & { views?: boolean }): DynamicModule {
    const onError = (error: unknown) => options.onError?.(error as Error);
    return {
      module: ValkeyModule,
      global: true,
      providers: [
        { provide: ValkeyClient, useFactory: () => new ValkeyClient(options) },
        // Both connections break together, so one report is enough.
        {
          provide: ValkeySubscriber,
          useFactory: () =>
            new ValkeySubscriber({ ...options, onError: undefined, onReady: undefined }),
        },
        {
          provide: WakeUps,
          useFactory: (client: ValkeyClient, subscriber: ValkeySubscriber) =>
            new WakeUps(client, subscriber, newId(), onError),
          inject: [ValkeyClient, ValkeySubscriber],
        },
        {
          provide: HeartbeatStore,
          useFactory: (client: ValkeyClient) => new HeartbeatStore(client, options.views),
          inject: [ValkeyClient],
        },
      ],
      exports: [ValkeyClient, ValkeySubscriber, WakeUps, HeartbeatStore],
    };
  }

  async onModuleInit(): Promise<void> {
    await this.client.ready(START_WAIT_MS);
  }

  onApplicationShutdown(): void {
    this.wakeUps.close();
    this.client.close();
    this.subscriber.close();
  }
}
