export { Addresses } from './requests/addresses.js';
export { createClient, type ClientOptions, type DroverClient } from './requests/client.js';
export { anonymous, bearer, type Credentials } from './requests/credentials.js';
export type { components, operations, paths } from './generated/api.js';
export { SUMMARIES } from './generated/summaries.js';
export { describeTime, formatDetails, splitMessage } from './requests/messages.js';
export { itemsOf, type Page, pagesOf, type ReadPage } from './requests/pages.js';
export {
  ConnectionProblem,
  DroverProblem,
  type ErrorCode,
  type Problem,
} from './requests/problem.js';
export {
  resumeSignIn,
  type SignedIn,
  signIn,
  type SignInOptions,
  type TokenPair,
} from './requests/sign-in.js';
export {
  type DroverEvent,
  type EventFilter,
  type LogEntry,
  type LogFilter,
  streamEvents,
  streamLogs,
  type StreamOptions,
} from './streams/streams.js';
export { parseTokens, TOKENS_FORM, TOKENS_PATTERN } from './requests/tokens.js';
export {
  describeEntry,
  describeError,
  describeOperation,
  timeOfEntry,
  WHY_NO_ESTIMATE,
} from './requests/words.js';
export { TRANSCRIPT_FOLDER } from './requests/transcripts.js';
export type { Fetch } from './requests/transport.js';
