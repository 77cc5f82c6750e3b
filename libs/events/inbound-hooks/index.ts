export { InboundHooksModule } from './inbound-hooks.module.js';
export { pruneInboundDeliveries } from './prune.js';
