import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { EXIT } from './exit-codes.js';
import { Failure } from './failure.js';

/** Asks at the terminal. Without a terminal, it reads the next line of standard input. */
export function ask(question: string): Promise<string> {
  return readAnswer(question, process.stderr);
}

/** Asks for a secret without echo. */
export function askSecret(question: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  return readAnswer(question, nowhere);
}

let piped: string[] | undefined;

/** A closed input has no line. The text after the last line break is a line if it is not empty. */
function readInput(): string[] {
  try {
    const lines = readFileSync(0, 'utf8').split('\n');
    return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
  } catch {
    return [];
  }
}

async function readAnswer(question: string, output: NodeJS.WritableStream): Promise<string> {
  if (!process.stdin.isTTY) {
    piped ??= readInput();
    const answer = piped.shift();
    if (answer !== undefined) return answer.trim();
    const advice = 'Run the command at a terminal, or write one answer on each line of its input.';
    throw new Failure(`No answer to "${question.trim()}".`, advice, EXIT.usage);
  }
  process.stderr.write(question);
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  try {
    return (await lines.question('')).trim();
  } catch (error) {
    if ((error as Error).name !== 'AbortError') throw error;
    throw new Failure('Interrupted.', 'Nothing was sent.', EXIT.interrupted);
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}
