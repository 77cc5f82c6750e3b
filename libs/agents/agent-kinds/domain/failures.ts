import type { AgentEnd, FailureClass } from './agent-end.js';

type Failure = Extract<AgentEnd, { kind: 'failed' }>;

const RETRYABLE: Record<FailureClass, boolean> = {
  refused: false,
  turn_limit: false,
  // The next session begins with a summary.
  context_full: true,
  rate_limited: true,
  denied: false,
  provider: true,
  no_conversation: false,
  setup: false,
  memory: false,
  killed: true,
  crash: true,
};

/** The size of a message for people, in characters. */
const MAX_MESSAGE = 1_000;

export function fail(failureClass: FailureClass, message: string): Failure {
  return {
    kind: 'failed',
    class: failureClass,
    message: message.trim().slice(0, MAX_MESSAGE),
    retryable: RETRYABLE[failureClass],
  };
}

/** Returns the class of a provider's answer by its HTTP status, for statuses from 400. */
export function classOfStatus(status: number): FailureClass | undefined {
  if (status === 429 || status === 529) return 'rate_limited';
  if (status === 401 || status === 402 || status === 403) return 'denied';
  return status >= 500 ? 'provider' : undefined;
}

/** The first match decides: a full context is a 400, which says nothing by itself. */
const BY_WORDS: [RegExp, FailureClass][] = [
  [
    /prompt is too long|ran out of room in the model's context|context[ _](?:window|length)|exceeds the (?:maximum|context)|prompt_too_long|token count .{0,40}exceeds/i,
    'context_full',
  ],
  [/\b(?:429|529)\b|rate.?limit|too many requests|resource.?exhausted|quota/i, 'rate_limited'],
  [
    /\b(?:401|402|403)\b|unauthorized|unauthenticated|forbidden|permission.?denied|api key|credit balance|payment required/i,
    'denied',
  ],
  [
    /\b5\d\d\b|overloaded|high demand|internal (?:server )?error|stream (?:disconnected|closed|ended)|fetch failed|connection (?:error|closed|reset|refused)|socket hang up|terminated|econn|etimedout/i,
    'provider',
  ],
];

/** Returns the class of a provider's failure by its message, if its words tell one. */
export function classOfMessage(message: string): FailureClass | undefined {
  return BY_WORDS.find(([words]) => words.test(message))?.[1];
}
