import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { clearSettings } from './environment.mjs';
import { root } from './sources.mjs';

/**
 * Runs a number of steps at once: [name, ...node flags, script, [arguments]]. Each prints its
 * output at its end. If one has failed, the process ends after the last.
 */
export async function runTogether(lanes, steps) {
  const waiting = [...steps];
  const failed = [];
  const lane = async () => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
      if (!(await runQuietly(step))) failed.push(step[0]);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  if (failed.length === 0) return;
  process.stdout.write(`\nfailed: ${failed.join(', ')}\n`);
  process.exit(1);
}

async function runQuietly([name, ...command]) {
  const began = Date.now();
  const child = start(command, 'pipe');
  const said = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => said.push(part));
  const [code, signal] = await once(child, 'close');
  const seconds = ((Date.now() - began) / 1000).toFixed(1);
  process.stdout.write(
    `\n== ${name}: ${code === 0 ? '' : `${signal ?? `exit code ${code}`}, `}${seconds} s\n`,
  );
  if (said.length > 0) process.stdout.write(Buffer.concat(said));
  return code === 0;
}

/** Runs one step whose output appears at once. @returns its exit code */
export async function runStep([name, ...command]) {
  process.stdout.write(`\n== ${name}\n`);
  const [code, signal] = await once(start(command, 'inherit'), 'close');
  if (code !== 0) process.stdout.write(`\n${name}: ${signal ?? `exit code ${code}`}\n`);
  return code ?? 1;
}

/** Ends the running steps. */
export function stopSteps(signal) {
  for (const child of running) child.kill(signal);
}

const running = new Set();

function start(command, output) {
  const args = command.flat();
  const env = { ...process.env, npm_config_loglevel: 'error' };
  clearSettings(env);
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', output, output],
    env,
  });
  running.add(child);
  child.once('close', () => running.delete(child));
  return child;
}
