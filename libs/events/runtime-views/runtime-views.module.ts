import {
  Inject,
  Module,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { EventRelay, EventsModule } from '#lib/journal';
import { Logger } from '#lib/observability';
import { PresentState } from './reading/present-state.js';
import { RuntimeViews } from './writing/runtime-views.js';
import { ViewStore } from './writing/view-store.js';

/** Views of the present state in Valkey, if `VALKEY_VIEWS` is on. */
@Module({ imports: [EventsModule], providers: [PresentState, RuntimeViews, ViewStore] })
export class RuntimeViewsModule implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy {
  private stopListening: (() => void) | undefined;

  constructor(
    private readonly relay: EventRelay,
    private readonly views: RuntimeViews,
    private readonly logger: Logger,
    @Inject(CONFIG) private readonly config: Pick<Config, 'valkey' | 'roles'>,
  ) {}

  onModuleInit(): void {
    if (this.config.valkey.views) this.relay.add(this.views);
    else this.relay.forget(this.views.name);
  }

  /** Old keys would show an old state forever. Valkey can be away at the start, or restore them. */
  onApplicationBootstrap(): void {
    if (this.config.valkey.views || !this.config.roles.includes('relay')) return;
    this.stopListening = this.views.onOpen(() => this.remove());
    this.remove();
  }

  onModuleDestroy(): void {
    this.stopListening?.();
  }

  private remove(): void {
    this.views.remove().catch((error: unknown) => {
      this.logger.warn('Views in Valkey not removed', { error });
    });
  }
}
