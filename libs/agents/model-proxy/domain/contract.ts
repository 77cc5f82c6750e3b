/** The companies whose APIs the proxy speaks. Another server of the same API counts as its provider. */
export type Provider = 'anthropic' | 'openai' | 'gemini';

/** The way to a provider. Nothing of it reaches the agent. */
export interface ModelAccess {
  provider: Provider;
  /** Without the API's version, for example `https://api.anthropic.com`. A final `/v1` is ignored. */
  baseUrl: string;
  key: string;
  /** Further headers of each request. They replace those of the agent and of the key. */
  headers?: Record<string, string>;
}

/** A request to a model that waits for its admission. */
export interface ModelRequest {
  /** A UUID, which the report of usage repeats. */
  id: string;
  provider: Provider;
  /** The model that the agent asks for. */
  model: string;
  /** The upper bound of the input in tokens, cached ones included (`domain/bound.ts`). */
  inputBound: number;
  /** The request's own limit of output tokens, or undefined if it names none. */
  outputBound: number | undefined;
  /**
   * Asks the provider for a lower bound of the input. It takes a request of its own, and undefined
   * means that the provider does not tell.
   */
  countInput?: () => Promise<number | undefined>;
}

/** A refusal of one request. */
export interface Refusal {
  kind: 'refused';
  reason: RefusalReason;
  /** For the agent and its user. */
  message: string;
}

export type Admission =
  | {
      kind: 'admitted';
      /** The model to ask instead. */
      model?: string;
      /** The models to ask, in this order, if the provider refuses that one for a limit or a failure. */
      fallbacks?: readonly string[];
    }
  | Refusal;

export type RefusalReason =
  | 'budget_exceeded'
  | 'model_not_allowed'
  | 'model_unpriced'
  | 'provider_limited'
  | 'no_provider'
  | 'run_ended';

/** The usage of one admitted request. All counts are tokens. */
export interface ModelUsage {
  /** The id of the request. */
  id: string;
  provider: Provider;
  /** The model that the provider names, or the requested one if it names none. */
  model: string;
  /** The model that the provider was asked for. */
  requestedModel: string;
  /** Without the cached tokens. */
  input: number;
  /** With the reasoning tokens. */
  output: number;
  /** 0 for Anthropic, which does not report it. */
  reasoning: number;
  cacheRead: number;
  /** Anthropic alone reports it; 0 for the others. */
  cacheWrite: number;
  /** The time from the request to the first output, or undefined if none arrived. */
  timeToFirstTokenMs: number | undefined;
  startedAt: Date;
  endedAt: Date;
  /** The provider's HTTP status, or 502 if it gave none. */
  status: number;
  /** The provider did not tell all counts; those that it told are exact. */
  estimated: boolean;
}

/** A model that answered a request because the provider refused others. */
export interface ModelReplacement {
  provider: Provider;
  /** The model that answered. */
  model: string;
  /** The refused models, in the order in which they were asked. */
  refused: readonly RefusedModel[];
}

export interface RefusedModel {
  model: string;
  /** One sentence for people. */
  message: string;
  /** The time until the reset in milliseconds, if the provider told it. */
  retryAfterMs: number | undefined;
}

/** A refusal by a provider that a wait, or a payment, ends. */
export interface SeenLimit {
  provider: Provider;
  model: string;
  /** `overloaded` is the provider's own trouble; `quota` ends with a payment or a new period. */
  reason: 'rate' | 'overloaded' | 'quota';
  /** The limit covers the model, or everything that the key may use. */
  scope: 'model' | 'key';
  /** The time until the reset in milliseconds, if the provider told it. */
  retryAfterMs: number | undefined;
  /** The time of the reset by the clock of this machine. */
  resetsAt: Date | undefined;
  /** The provider's HTTP status. */
  status: number;
}
