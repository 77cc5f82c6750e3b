export { InboundHooksModule } from './inbound-hooks.module.js';
export { pruneInboundDeliveries } from './receiving/prune.js';
