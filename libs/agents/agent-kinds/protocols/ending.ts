import { type AgentEnd, type FailureClass } from '../domain/agent-end.js';
import type { AgentExit } from '../domain/agent-kind.js';
import { classOfMessage, fail } from '../domain/failures.js';
import type { Turns } from './turns.js';

/** Signals by which a program dies that gets no memory. Programs of Bun trap in their allocator. */
const OUT_OF_MEMORY = ['SIGABRT', 'SIGTRAP', 'SIGILL'];
const SIGNALS: Record<number, string> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  4: 'SIGILL',
  5: 'SIGTRAP',
  6: 'SIGABRT',
  9: 'SIGKILL',
  11: 'SIGSEGV',
  15: 'SIGTERM',
};
const FROM_OUTSIDE = ['SIGHUP', 'SIGINT', 'SIGTERM', 'SIGKILL'];

// oxlint-disable-next-line no-control-regex -- Colours of a terminal are control sequences.
const COLOURS = /\u001B\[[\d;]*m/g;

/** The size of the kept end of the standard error output, in characters. */
const MAX_ERRORS = 2_000;

/**
 * What a session said that decides about its end. An exit code alone decides nothing: programs exit
 * with 0 after a signal, and with 0 after failures.
 */
export class Ending {
  /** The last whole message of the agent. */
  summary?: string;
  /** Whether the conversation existed. */
  hasSession = false;

  private failure?: Extract<AgentEnd, { kind: 'failed' }>;
  private errors = '';

  /** Whether a failure of the provider ended the last turn, or the session could not begin. */
  fails(failureClass: FailureClass, message: string): void {
    this.failure = fail(failureClass, message);
  }

  errorLine(text: string): void {
    this.errors = `${this.errors}${text.replaceAll(COLOURS, '')}\n`.slice(-MAX_ERRORS);
  }

  of(
    { exitCode, signal: ownSignal }: AgentExit,
    { outcome, isInputClosed, isPaused }: Turns,
  ): AgentEnd {
    const signal = ownSignal ?? (exitCode === null ? null : (SIGNALS[exitCode - 128] ?? null));
    if (this.failure !== undefined) return this.failure;
    // A program that outlives its closed input is ended by its host.
    if (isPaused) return { kind: 'paused' };
    const isEnded = exitCode === 0 || (isInputClosed && signal !== null && isFromOutside(signal));
    if (outcome === 'completed' && isEnded) return { kind: 'done', summary: this.summary };
    // Claude Code exits with 1 after an interrupted turn.
    if (outcome === 'interrupted' && (isEnded || isInputClosed)) return { kind: 'interrupted' };
    if (signal !== null) return this.ofSignal(signal);
    return this.ofExitCode(exitCode, outcome !== undefined);
  }

  private ofSignal(signal: string): AgentEnd {
    if (isFromOutside(signal)) return fail('killed', `The agent was ended by ${signal}.`);
    const isMemory = OUT_OF_MEMORY.includes(signal) || /out of memory/i.test(this.errors);
    if (isMemory) {
      return fail('memory', `The agent got no more memory and was ended by ${signal}.`);
    }
    return fail('crash', `The agent crashed by ${signal}.`);
  }

  private ofExitCode(exitCode: number | null, hasFinished: boolean): AgentEnd {
    const said = this.errors.trim();
    if (/out of memory|bad_alloc/i.test(said)) return fail('memory', lastLines(said));
    // Codex and Gemini CLI exit with 0 after a signal.
    const isEndedInTurn = exitCode === 0 && this.hasSession && !hasFinished;
    if (isEndedInTurn) return fail('killed', 'The agent ended in the middle of its turn.');
    const found = exitCode === 0 ? undefined : classOfMessage(said);
    if (found !== undefined && this.hasSession) return fail(found, lastLines(said));
    const code = exitCode === null ? 'without an exit code' : `with exit code ${exitCode}`;
    const when = hasFinished ? 'after its last turn' : 'before its turn was complete';
    const ended = `The agent ended ${code} ${when}.`;
    const message = said === '' ? ended : `${ended} ${lastLines(said)}`;
    return fail(this.hasSession ? 'crash' : 'setup', message);
  }
}

function isFromOutside(signal: string): boolean {
  return FROM_OUTSIDE.includes(signal);
}

function lastLines(text: string): string {
  return text.split('\n').slice(-5).join('\n');
}
