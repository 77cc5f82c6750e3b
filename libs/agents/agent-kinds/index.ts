export * from './domain/agent-end.js';
export * from './domain/agent-event.js';
export * from './domain/agent-kind.js';
export { kindOf, KINDS } from './kinds/index.js';
export {
  findKind,
  findKinds,
  type FindOptions,
  type InstalledKind,
  type KindOnMachine,
  type MissingKind,
} from './programs/find-kinds.js';
export { installKind, KindInstallError } from './programs/install-kind.js';
