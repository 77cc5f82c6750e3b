import type { ModelUsage } from './contract.js';
import type { Meter } from './meter.js';

/** The way in which a request ended. */
export interface Ending {
  /** The provider's HTTP status, or undefined without an answer. */
  status: number | undefined;
  /** The answer's reading, for status 200. */
  meter: Meter | undefined;
  /** The provider got the request. */
  wasSent: boolean;
}

export type Counted = Pick<
  ModelUsage,
  | 'model'
  | 'requestedModel'
  | 'input'
  | 'output'
  | 'reasoning'
  | 'cacheRead'
  | 'cacheWrite'
  | 'estimated'
  | 'status'
>;

/** Text has 2 to 5 bytes a token, and the bound counts each byte. */
const INPUT_PER_BOUND = 0.5;

/**
 * Returns the usage of an ended request. Counts that the provider did not tell are estimated: the
 * input by half of its bound, the output by its bytes. A refused request costs nothing.
 */
export function usageOf(
  { model, inputBound }: { model: string; inputBound: number },
  { status, meter, wasSent }: Ending,
): Counted {
  const estimate = Math.ceil(inputBound * INPUT_PER_BOUND);
  const none = {
    model,
    requestedModel: model,
    output: 0,
    reasoning: 0,
    cacheRead: 0,
    cacheWrite: 0,
  };
  if (meter === undefined) {
    const isUnknown = status === undefined && wasSent;
    const input = isUnknown ? estimate : 0;
    return { ...none, input, estimated: isUnknown, status: status ?? 502 };
  }
  const { counts } = meter;
  return {
    model: counts.model ?? model,
    requestedModel: model,
    input: counts.input ?? estimate,
    output: counts.isWhole ? (counts.output ?? 0) : meter.estimateOutput(),
    reasoning: counts.reasoning,
    cacheRead: counts.cacheRead,
    cacheWrite: counts.cacheWrite,
    estimated: !counts.isWhole,
    status: status ?? 502,
  };
}
