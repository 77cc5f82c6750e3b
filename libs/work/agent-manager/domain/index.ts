export { type AgentView } from './agent-view.js';
export {
  CAPABILITY,
  capabilityKey,
  isOwnCapability,
  normalizeCapabilities,
  ownCapability,
} from './capabilities.js';
export { requireSelf } from './require-self.js';
