import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/** A line of the person at the terminal; where there is none, of standard input. */
export function ask(question: string): Promise<string> {
  return answerTo(question, process.stderr);
}

/** The same, with nothing shown of what is typed. */
export function askSecret(question: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  return answerTo(question, nowhere);
}

async function answerTo(question: string, output: NodeJS.WritableStream): Promise<string> {
  if (!process.stdin.isTTY) return readFileSync(0, 'utf8').split('\n')[0]?.trim() ?? '';
  process.stderr.write(question);
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  try {
    return (await lines.question('')).trim();
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}
