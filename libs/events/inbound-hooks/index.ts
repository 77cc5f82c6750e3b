export { type HookListener, HookListeners } from './receiving/hook-listeners.js';
export { textAt, valuesAt } from './domain/template.js';
export { InboundHooksModule } from './inbound-hooks.module.js';
export { pruneInboundDeliveries } from './receiving/prune.js';
