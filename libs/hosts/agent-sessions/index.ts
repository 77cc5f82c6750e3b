export * from './prompt/compose-message.js';
export * from './session/agent-session.js';
export {
  type AgentState,
  type CallsUpTo,
  packState,
  type StateFile,
  unpackState,
} from './state/agent-state.js';
export { NO_FILES, StateReader } from './state/read-state.js';
export { takeOver, type TakenOver } from './state/take-over.js';
