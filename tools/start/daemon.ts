import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { Home, homeFolder } from './home.js';

/** Messages of the background process until it is ready. Later ones are in its log only. */
type Message = { kind: 'line' | 'complaint'; text: string } | { kind: 'ready' };

/**
 * Reports to the process that has started this one in the background, if it exists and still waits.
 */
export function tellLauncher(message: Message): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined || !process.connected) return resolve();
    process.send(message, () => resolve());
  });
}

/**
 * Starts this program again as a process with its own session, which outlives npm, the shell and
 * the terminal, and logs to `start.log`. Returns the exit code once it is ready or has ended.
 *
 * @param args the arguments of the process
 */
export async function startDaemon(
  args: readonly string[],
  tell: (line: string) => void,
): Promise<number> {
  const log = openSync(new Home(homeFolder()).logFile('start'), 'a', 0o600);
  const child = spawn(process.execPath, [process.argv[1] ?? '', ...args], {
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  // The start is not in the background yet, so a Ctrl-C also ends it.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => child.kill('SIGTERM'));
  }
  // Its last output can arrive after its exit.
  const ended = Promise.all([once(child, 'exit'), once(child, 'disconnect')]);
  const failed = ended.then(([[code]]) => (code as number | null) ?? 1);
  const ready = new Promise<number>((resolve) => {
    child.on('message', (message: Message) => {
      if (message.kind === 'line') tell(message.text);
      else if (message.kind === 'complaint') process.stderr.write(`${message.text}\n`);
      else resolve(0);
    });
  });
  const code = await Promise.race([ready, failed]);
  child.unref();
  if (child.connected) child.disconnect();
  return code;
}
