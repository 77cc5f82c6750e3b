import { Supervisor } from '#lib/local-servers';
import { built } from '#lib/kernel';
import { Sentence } from './sentence.js';

type RunningServer = Awaited<ReturnType<Supervisor['run']>>;
export type Exit = Awaited<RunningServer['exited']>;

const KEPT_LINES = 200;
/** `npm run dev` has one: the compiled files instead of the bundles. */
const CONDITIONS = process.execArgv.filter((arg) => arg.startsWith('--conditions='));

export interface ChildSpec {
  name: string;
  /** The path below dist. */
  program: string;
  env: Record<string, string>;
  /** Milliseconds to end after SIGTERM. Then the program is killed. */
  stopWithinMs: number;
  /** Names of sockets that the supervisor holds. The program inherits them and listens on them. */
  sockets?: string[];
  /** Receives every line of its output. */
  onLine?: (line: string) => void;
}

/** A built program as a process, with the last lines of its output. */
export class Child {
  readonly lines: string[] = [];
  private readonly waiting = new Set<(line: string) => void>();
  private process: RunningServer | undefined;

  private constructor(readonly spec: ChildSpec) {}

  /** The supervisor ends the program when this process ends, in any way. */
  static async start(supervisor: Supervisor, spec: ChildSpec): Promise<Child> {
    const child = new Child(spec);
    child.process = await supervisor.run({
      file: process.execPath,
      args: [...CONDITIONS, built(spec.program)],
      cwd: '/',
      env: { ...inherited(), ...spec.env, ...listening(spec) },
      sockets: spec.sockets ?? [],
      stopSignal: 'SIGTERM',
      stopWithinMs: spec.stopWithinMs,
      onLine: (line) => child.hear(line),
    });
    return child;
  }

  get pid(): number {
    return this.running.pid;
  }

  get exited(): Promise<Exit> {
    return this.running.exited;
  }

  /** Sends a signal to the program itself. An ended program does not get it. */
  signal(signal: NodeJS.Signals): void {
    try {
      process.kill(this.pid, signal);
    } catch {
      // It has already ended.
    }
  }

  stop(): Promise<Exit> {
    return this.running.stop();
  }

  /**
   * Returns the JSON line that the program prints when it is ready.
   *
   * @throws Sentence with the program's last lines if it ends before
   */
  async ready(
    isReady: (message: Record<string, unknown>) => boolean,
  ): Promise<Record<string, unknown>> {
    let hear: ((line: string) => void) | undefined;
    const said = new Promise<Record<string, unknown>>((resolve) => {
      hear = (line) => {
        const message = parse(line);
        if (message !== undefined && isReady(message)) resolve(message);
      };
      this.lines.forEach(hear);
      this.waiting.add(hear);
    });
    const ended = this.exited.then((exit) => {
      throw new Sentence(this.lastWords(exit));
    });
    try {
      return await Promise.race([said, ended]);
    } finally {
      if (hear) this.waiting.delete(hear);
      ended.catch(() => undefined);
    }
  }

  /** Returns the sentence with which it ended, or its exit if it printed none. */
  lastWords({ code, signal }: Exit): string {
    const at = signal === null ? this.lines.findLastIndex(isSaid) : -1;
    const line = this.lines[at];
    // A list follows, such as the list of invalid variables.
    if (line?.endsWith(':')) return this.lines.slice(at).join('\n').trimEnd();
    if (line !== undefined) return String(parse(line)?.['message'] ?? line);
    return `The ${this.spec.name} ended by ${signal ?? `exit code ${code}`}.`;
  }

  private get running(): RunningServer {
    if (this.process === undefined) throw new Error(`${this.spec.name} has not started`);
    return this.process;
  }

  private hear(line: string): void {
    this.spec.onLine?.(line);
    this.lines.push(line);
    if (this.lines.length > KEPT_LINES) this.lines.shift();
    for (const listener of this.waiting) listener(line);
  }
}

/**
 * The program printed this line itself: Node ends every crash with its version and a part of the
 * stack.
 */
function isSaid(line: string): boolean {
  return line.trim() !== '' && !/^(Node\.js v\d|\s|\})/.test(line);
}

function parse(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

function listening({ sockets = [] }: ChildSpec): Record<string, string> {
  return sockets.length === 0 ? {} : { LISTEN_FDS: String(sockets.length) };
}

/**
 * Returns the variables of this process that Drover's programs need. Their settings come from their
 * specs.
 */
function inherited(): Record<string, string> {
  const names = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'TZ'];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
