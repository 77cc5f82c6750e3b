export { type AgentView } from './agent-view.js';
export {
  CAPABILITY,
  agentOfCapabilities,
  capabilityKey,
  isOwnCapability,
  normalizeCapabilities,
  ownCapability,
} from './capabilities.js';
export { requireSelf } from './require-self.js';
