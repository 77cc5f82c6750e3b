/** How a session's process ended. Its exit code is not 0. */
export interface ExitFacts {
  /** Nobody saw the end, because the watching process is gone, too. */
  lost: boolean;
  exitCode: number | null;
  signal: string | null;
  /** Whether the kernel counted an out-of-memory kill. Null if the kernel does not count. */
  oomKilled: boolean | null;
  /** The limit that it exceeded, if its host ended it for that. */
  exceeded?: { limit: ExceededLimit };
  /** Whether its last output says that its own heap was full. */
  heapIsFull: boolean;
  /** True if a quota allowed its folder no more, or its last output says so. */
  quotaIsFull: boolean;
  /** Whether it had been asked to end. */
  asked: boolean;
}

/** A limit that the host of a process watches where no kernel enforces it. */
export type ExceededLimit = 'disk' | 'memory';

export type ExitClass =
  | 'oom'
  | 'disk'
  | 'timeout'
  | 'infrastructure'
  | 'setup'
  | 'signal'
  | 'exit_code';

interface Rule {
  /** The words of docs/task-lifecycle.md. */
  evidence: string;
  class: ExitClass;
  is: (facts: ExitFacts) => boolean;
}

/**
 * The class of a failure: the first matching rule, for workers, gateways and the server. Only the
 * evidence decides, so the same end always has the same class. Shells and containers report SIGKILL
 * and SIGTERM as 137 and 143; a limit of memory or time sends these without a request.
 */
export const EXIT_RULES: readonly Rule[] = [
  {
    evidence: 'nobody saw it: the program that watched the process is gone, too',
    class: 'infrastructure',
    is: ({ lost }) => lost,
  },
  {
    evidence: 'its host ended it, because its folder exceeded the disk limit',
    class: 'disk',
    is: ({ exceeded }) => exceeded?.limit === 'disk',
  },
  {
    evidence: 'its host ended it, because it exceeded the memory limit',
    class: 'oom',
    is: ({ exceeded }) => exceeded?.limit === 'memory',
  },
  {
    evidence: 'SIGKILL, and the kernel counted an out-of-memory kill',
    class: 'oom',
    is: ({ exitCode, signal, oomKilled }) =>
      oomKilled === true && (signal === 'SIGKILL' || exitCode === 137),
  },
  {
    evidence: 'SIGKILL that nobody asked for, where the kernel does not count',
    class: 'oom',
    is: ({ signal, oomKilled, asked }) => signal === 'SIGKILL' && oomKilled === null && !asked,
  },
  {
    evidence: 'last lines of output that report a full heap',
    class: 'oom',
    is: ({ heapIsFull }) => heapIsFull,
  },
  {
    evidence: 'a folder without space by its quota, or last lines that say so',
    class: 'disk',
    is: ({ quotaIsFull }) => quotaIsFull,
  },
  {
    evidence: 'exit code 137 that nobody asked for',
    class: 'oom',
    is: ({ exitCode, asked }) => exitCode === 137 && !asked,
  },
  {
    evidence: 'exit code 143 that nobody asked for',
    class: 'timeout',
    is: ({ exitCode, asked }) => exitCode === 143 && !asked,
  },
  {
    evidence: 'exit code -1: the program that runs the process was missing',
    class: 'infrastructure',
    is: ({ exitCode }) => exitCode === -1,
  },
  {
    evidence: 'exit code 78, 126 or 127',
    class: 'setup',
    is: ({ exitCode }) => exitCode === 78 || exitCode === 126 || exitCode === 127,
  },
  {
    evidence: 'another signal, or 128 plus its number',
    class: 'signal',
    is: ({ exitCode, signal }) => (signal ?? signalOf(exitCode)) !== undefined,
  },
  { evidence: 'another exit code', class: 'exit_code', is: () => true },
];

/** Failures that are written into a program: the same command fails in the same way again. */
const PROGRAM_FAULTS: readonly (readonly [RegExp, string])[] = [
  [/ERR_MODULE_NOT_FOUND|Cannot find module|ModuleNotFoundError/, 'a module is missing'],
  // Bad data for JSON.parse has the same name, and can be good at the next attempt.
  [
    /SyntaxError(?![^]{0,300}?\b(?:valid JSON|in JSON|JSON input)\b)/,
    'the program has a syntax error',
  ],
  [/ERR_PARSE_ARGS/, 'the program does not know an argument'],
];

/** The fault that the last words of a program name, in words. Undefined if they name none. */
export function programFault(lastWords: string): string | undefined {
  return PROGRAM_FAULTS.find(([pattern]) => pattern.test(lastWords))?.[1];
}

export function classOfExit(facts: ExitFacts): ExitClass {
  return EXIT_RULES.find((rule) => rule.is(facts))?.class ?? 'exit_code';
}

const SIGNALS: Record<number, string> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  3: 'SIGQUIT',
  4: 'SIGILL',
  6: 'SIGABRT',
  7: 'SIGBUS',
  8: 'SIGFPE',
  9: 'SIGKILL',
  11: 'SIGSEGV',
  13: 'SIGPIPE',
  15: 'SIGTERM',
};

/** The C library's first and last realtime signal on Linux. */
export const FIRST_REALTIME = 34;
const LAST_REALTIME = 64;

/** A shell, or a container's first process, reports a child's signal as 128 plus its number. */
export function signalOf(exitCode: number | null): string | undefined {
  if (exitCode === null || exitCode <= 128) return undefined;
  const number = exitCode - 128;
  const isRealtime = number >= FIRST_REALTIME && number <= LAST_REALTIME;
  return isRealtime ? `SIGRTMIN+${number - FIRST_REALTIME}` : SIGNALS[number];
}
