import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { EXIT } from './exit-codes.js';
import { Failure } from './failure.js';

/** A line of the person at the terminal; where there is none, the next one of standard input. */
export function ask(question: string): Promise<string> {
  return answerTo(question, process.stderr);
}

/** The same, with nothing shown of what is typed. */
export function askSecret(question: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  return answerTo(question, nowhere);
}

let piped: string[] | undefined;

async function answerTo(question: string, output: NodeJS.WritableStream): Promise<string> {
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
    throw new Failure('Ctrl-C.', 'Nothing was sent.', EXIT.interrupted);
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}
