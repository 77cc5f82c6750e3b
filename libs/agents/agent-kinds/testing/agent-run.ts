import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import type {
  AgentContext,
  AgentEnd,
  AgentEvent,
  AgentExit,
  AgentKind,
  Conversation,
} from '../index.js';
import type { SampleLine } from './sample.js';

/** A session of an agent on this machine, without a sandbox. */
export class AgentRun {
  readonly events: AgentEvent[] = [];
  /** All lines from and to the program, in their order. */
  readonly lines: SampleLine[] = [];
  exit?: AgentExit;
  readonly conversation: Conversation;
  readonly end: Promise<AgentEnd>;

  private readonly child: ChildProcess;
  private watchers: { matches: (event: AgentEvent) => boolean; found: () => void }[] = [];

  constructor(kind: AgentKind, context: AgentContext) {
    const { command, env, files } = kind.launch(context);
    mkdirSync(context.stateDir, { recursive: true });
    for (const { path, content } of files) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content, { mode: 0o600 });
    }
    const [program, ...parameters] = command;
    this.child = spawn(program, parameters, {
      cwd: context.workDir,
      env: { PATH: process.env.PATH, HOME: context.stateDir, LANG: 'C.UTF-8', ...env },
    });
    this.child.stdin?.on('error', () => {});
    this.conversation = kind.converse(
      {
        write: (text) => {
          this.lines.push({ in: text.trimEnd() });
          this.child.stdin?.write(text);
        },
        endInput: () => this.child.stdin?.end(),
        emit: (event) => this.take(event),
      },
      context,
    );
    const exit = new Promise<AgentExit>((resolve, reject) => {
      this.child.on('error', reject);
      this.child.on('close', (exitCode, signal) => resolve({ exitCode, signal }));
    });
    this.end = Promise.all([exit, this.follow('stdout'), this.follow('stderr')]).then(([ended]) => {
      this.exit = ended;
      return this.conversation.ended(ended);
    });
    this.conversation.start();
  }

  /** Resolves with the first event of a type, and rejects if the session ends without one. */
  async until<Type extends AgentEvent['type']>(
    type: Type,
  ): Promise<Extract<AgentEvent, { type: Type }>> {
    const found = new Promise<void>((resolve) => {
      const matches = (event: AgentEvent) => event.type === type;
      if (this.events.some(matches)) resolve();
      else this.watchers.push({ matches, found: resolve });
    });
    const ended = this.end.then((end) => {
      if (this.events.some((event) => event.type === type)) return;
      const said = JSON.stringify(this.lines.slice(-20), undefined, 1);
      throw new Error(`The session ended without ${type}: ${JSON.stringify(end)}\n${said}`);
    });
    await Promise.race([found, ended]);
    return this.all(type)[0]!;
  }

  all<Type extends AgentEvent['type']>(type: Type): Extract<AgentEvent, { type: Type }>[] {
    return this.events.filter((event) => event.type === type) as Extract<
      AgentEvent,
      { type: Type }
    >[];
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  private take(event: AgentEvent): void {
    this.events.push(event);
    const found = this.watchers.filter(({ matches }) => matches(event));
    this.watchers = this.watchers.filter(({ matches }) => !matches(event));
    for (const watcher of found) watcher.found();
  }

  private async follow(stream: 'stdout' | 'stderr'): Promise<void> {
    const input = this.child[stream];
    if (input === null) return;
    for await (const line of createInterface({ input, crlfDelay: Infinity })) {
      this.lines.push(stream === 'stdout' ? { out: line } : { err: line });
      if (stream === 'stdout') this.conversation.line(line);
      else this.conversation.errorLine(line);
    }
  }
}
