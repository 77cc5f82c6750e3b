/** The reasons why a session of an agent failed. */
export const FAILURE_CLASSES = [
  /** The model refused the request for its content. */
  'refused',
  /** The agent reached its own limit of turns. */
  'turn_limit',
  /** The conversation no longer fits into the model's context. */
  'context_full',
  /** The provider allows no more requests for now (429, 529). */
  'rate_limited',
  /** The provider, or the model proxy in its place, refused the agent (401, 402, 403). */
  'denied',
  /** The provider failed, or its stream broke. */
  'provider',
  /** The conversation to resume does not exist in the state folder. */
  'no_conversation',
  /** The program did not start, or refused its settings. */
  'setup',
  /** The program exceeded its memory. */
  'memory',
  /** A signal from outside ended the program. */
  'killed',
  /** The program ended without a final event, or with an exit code that contradicts it. */
  'crash',
] as const;

export type FailureClass = (typeof FAILURE_CLASSES)[number];

/** How a session of an agent ended. */
export type AgentEnd =
  /** The last turn succeeded. `summary` is the last message of the agent. */
  | { kind: 'done'; summary?: string }
  /** The last turn was interrupted on request. The conversation can be resumed. */
  | { kind: 'interrupted' }
  /** A pause was requested for the end of the last turn. The conversation can be resumed. */
  | { kind: 'paused' }
  | {
      kind: 'failed';
      class: FailureClass;
      /** A sentence for people, with the provider's own words where there are any. */
      message: string;
      /** True if the same task can succeed later without a change. */
      retryable: boolean;
    };
