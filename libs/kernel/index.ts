export * from './agent-key.js';
export * from './any-signal.js';
export * from './arguments.js';
export * from './assert-never.js';
export * from './backoff.js';
export * from './bearer.js';
export * from './caller.js';
export * from './clocks-apart.js';
export * from './doorbell.js';
export * from './errors.js';
export * from './exit-classes.js';
export * from './ids.js';
export * from './secret-patterns.js';
export { looksSecret } from './secret-names.js';
export * from './make-folder.js';
export * from './pagination.js';
export * from './read-at-most.js';
export * from './redact.js';
export * from './runs-commands.js';
export * from './sent.js';
export * from './text.js';
export * from './traceparent.js';
export * from './variables.js';
export {
  flag,
  integer,
  list,
  oneOf,
  readVariables,
  SettingsError,
  webAddress,
} from './settings.js';
