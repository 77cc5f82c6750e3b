export { SessionsModule } from './sessions.module.js';
export { SessionAssigner } from './spawning/session-assigner.js';
