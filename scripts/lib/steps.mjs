import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Runs one step after the other: [name, ...node flags, script, [arguments]]. The first that fails ends
 * the process with its exit code.
 */
export function runSteps(steps) {
  for (const [name, ...command] of steps) {
    const args = command.pop();
    process.stdout.write(`\n== ${name}\n`);
    const { status, signal } = spawnSync(process.execPath, [...command, ...args], {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, npm_config_loglevel: 'error' },
    });
    if (status === 0) continue;
    process.stdout.write(`\n${name}: ${signal ?? `exit code ${status}`}\n`);
    process.exit(status ?? 1);
  }
}
