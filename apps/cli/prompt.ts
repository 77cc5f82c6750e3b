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

async function readAnswer(question: string, output: NodeJS.WritableStream): Promise<string> {
  if (!process.stdin.isTTY) {
    piped ??= readFileSync(0, 'utf8').split('\n');
    return piped.shift()?.trim() ?? '';
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
