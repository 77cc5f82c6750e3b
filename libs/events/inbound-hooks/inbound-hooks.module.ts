import { Module, type OnModuleInit } from '@nestjs/common';
import { MemberHooks } from '#lib/identity';
import { TaskManagerModule } from '#lib/task-manager';
import { HookListeners } from './receiving/hook-listeners.js';
import { HookReceiver } from './receiving/hook-receiver.js';
import { HooksController } from './http/hooks.controller.js';
import { InboundHooksController } from './http/inbound-hooks.controller.js';
import { InboundHooks } from './hooks/inbound-hooks.js';

/** Creates tasks from events of other systems. */
@Module({
  imports: [TaskManagerModule],
  controllers: [InboundHooksController, HooksController],
  providers: [InboundHooks, HookListeners, HookReceiver],
  exports: [HookListeners],
})
export class InboundHooksModule implements OnModuleInit {
  constructor(
    private readonly hooks: InboundHooks,
    private readonly memberHooks: MemberHooks,
  ) {}

  onModuleInit(): void {
    this.memberHooks.add(this.hooks);
  }
}
