import type { Random } from '../random.js';

/** The kinds of tasks, and their weights. */
const KINDS = {
  quick: 30,
  steps: 25,
  long: 12,
  flaky: 10,
  doomed: 4,
  hangs: 2,
  nonsense: 2,
  session_steps: 10,
  session_fails: 3,
  session_dies: 2,
  session_hangs: 1,
} as const;

type JobKind = keyof typeof KINDS;

/** The result to store in the task. */
const DONE = `echo '::drover {"result": {"done": true}}'`;

/** The tokens that each task reports. */
export const QUICK_TOKENS = 120;
const ESTIMATED_TOKENS = 300;

function using(tokens: number): string {
  const usage = { model: 'claude-sonnet-4', inputTokens: tokens - 1, outputTokens: 1 };
  return `echo '::drover ${JSON.stringify({ usage })}'`;
}

/** Resumes at the previous run's checkpoint, one step at a time. */
function stepping(steps: number, seconds: number): string {
  return [
    `n=$(sed -n 's/.*"step": *\\([0-9]*\\).*/\\1/p' "$DROVER_CHECKPOINT_FILE")`,
    `n=\${n:-0}`,
    `while [ "$n" -lt ${steps} ]; do n=$((n + 1)); sleep ${seconds}`,
    `echo "::drover {\\"progress\\": $((n * 100 / ${steps})), \\"checkpoint\\": {\\"step\\": $n}}"; done`,
    using(QUICK_TOKENS * steps),
    DONE,
  ].join('\n');
}

function sh(script: string): object {
  return { requiredCapabilities: ['process'], inputContext: { command: ['sh', '-c', script] } };
}

function session(kind: string, steps: number): object {
  return { requiredCapabilities: ['session'], inputContext: { kind, steps } };
}

function workOf(kind: JobKind, random: Random): object {
  switch (kind) {
    case 'quick':
      return sh(`${using(QUICK_TOKENS)}; ${DONE}`);
    case 'steps':
      return sh(stepping(random.int(2, 5), 0.2));
    case 'long':
      return sh(stepping(random.int(3, 6), 0.7));
    case 'flaky':
      return sh(`[ "$DROVER_ATTEMPT" -gt 1 ] || exit 3; ${DONE}`);
    case 'doomed':
      return { ...sh('echo no >&2; exit 3'), maxRetries: 1 };
    case 'hangs':
      return { ...sh('sleep 9'), timeoutSeconds: 2, maxRetries: 1 };
    case 'nonsense':
      return {
        requiredCapabilities: ['process'],
        inputContext: { command: ['there-is-no-such-program'] },
      };
    case 'session_steps':
      return session('works', random.int(1, 5));
    case 'session_fails':
      return { ...session('fails', 1), maxRetries: 1 };
    case 'session_dies':
      return { ...session('dies', 1), maxRetries: 1 };
    case 'session_hangs':
      return { ...session('hangs', 1), timeoutSeconds: 3, maxRetries: 0 };
  }
}

export function aTaskType(random: Random): string {
  return `chaos.${random.weighted(KINDS)}`;
}

/** Returns the body of a creation without its dependencies. */
export function aJob(
  random: Random,
  title: string,
  scopes: readonly object[],
): Record<string, unknown> {
  const kind = random.weighted(KINDS);
  return {
    title,
    taskType: `chaos.${kind}`,
    priority: random.int(1, 10),
    // Faults alone can need some attempts.
    maxRetries: random.int(2, 8),
    retryBackoffSeconds: random.int(0, 2),
    ...(random.chance(0.4) && random.pick(scopes)),
    estimatedTokens: ESTIMATED_TOKENS,
    ...(random.chance(0.02) && { queueExpiresInSeconds: random.int(1, 20) }),
    ...workOf(kind, random),
  };
}
