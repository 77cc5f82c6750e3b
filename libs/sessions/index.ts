export { GatewayReach } from './gateway/gateway-reach.js';
export { SessionsModule } from './sessions.module.js';
export { SessionAssigner } from './spawning/session-assigner.js';
