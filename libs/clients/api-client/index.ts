export { createClient, type ClientOptions, type DroverClient } from './client.js';
export { anonymous, bearer, type Credentials } from './credentials.js';
export type { components, operations, paths } from './generated/api.js';
export { itemsOf, type Page, pagesOf, type ReadPage } from './pages.js';
export { ConnectionProblem, DroverProblem, type ErrorCode, type Problem } from './problem.js';
export {
  resumeSignIn,
  type SignedIn,
  signIn,
  type SignInOptions,
  type TokenPair,
} from './sign-in.js';
export {
  type DroverEvent,
  type EventFilter,
  type LogEntry,
  type LogFilter,
  streamEvents,
  streamLogs,
  type StreamOptions,
} from './streams.js';
export type { Fetch } from './transport.js';
