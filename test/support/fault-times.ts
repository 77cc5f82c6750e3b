/**
 * The lengths and frequencies of faults. `npm test` uses the short times; `npm run soak` uses the
 * long ones, by DROVER_TEST_FAULTS=long.
 */
const TIMES = {
  short: { chaosSeconds: 45, valkeyStoppedSeconds: 15, modelSeconds: 15, restartRounds: 2 },
  long: { chaosSeconds: 120, valkeyStoppedSeconds: 60, modelSeconds: 40, restartRounds: 3 },
} as const satisfies Record<string, Record<string, number>>;

export type FaultTimes = Record<keyof (typeof TIMES)['short'], number>;

/**
 * @throws if the variable names no such times, because a typing error would pass for a long run
 */
export function readFaultTimes(chosen = process.env['DROVER_TEST_FAULTS'] ?? 'short'): FaultTimes {
  if (Object.hasOwn(TIMES, chosen)) return TIMES[chosen as keyof typeof TIMES];
  const names = Object.keys(TIMES).join(' or ');
  throw new Error(`DROVER_TEST_FAULTS is ${names}, and not ${chosen}.`);
}
