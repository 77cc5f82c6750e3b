import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const SCRIPT = join(import.meta.dirname, 'greeting-server.mjs');

/** An MCP server with the tool `greet`, which needs no file: a sandbox may not show the repository. */
export function aGreeter(greeting: string, ...words: string[]) {
  return {
    name: 'greeter',
    command: process.execPath,
    args: ['--input-type=module', '-e', readFileSync(SCRIPT, 'utf8'), '--', ...words],
    env: { GREETING: greeting, MARK: '! $HOME "' },
  };
}
