import { spawn } from 'node:child_process';

/** An error whose message is all that the user needs to read. */
export class Sentence extends Error {}

const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };
const KILL_AFTER_MS = 3_000;
const KEPT_CHARS = 100_000;
const SHOWN_LINES = 6;

/**
 * Runs a command with one terse line of progress; its output appears only when it fails. A signal
 * that ends us ends the command's whole process group first.
 */
export async function runStep(title, [file, ...args], cwd) {
  const began = Date.now();
  const line = progressLine(title, began);
  const child = spawn(file, args, { cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const keep = (chunk) => (output = (output + chunk).slice(-KEPT_CHARS));
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const unguard = guard(child, line);
  const result = await ended(child);
  unguard();
  if (result.code === 0) return line.done(`${title}: ${seconds(began)} s`);
  line.done(`${title}: failed`);
  throw new Sentence(explain(title, [file, ...args], { ...result, output }));
}

function ended(child) {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ error }));
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
}

// The cause is in the first or in the last lines, and npm's usage help follows it.
function shorten(output) {
  const lines = output.split(/\n(?:npm error *\n)*/).filter((line) => line.trim() !== '');
  const help = lines.findIndex((line) => /^npm error (Usage:|Clean install)/.test(line));
  const said = help === -1 ? lines : lines.slice(0, help);
  if (said.length <= 2 * SHOWN_LINES) return said.join('\n');
  return [...said.slice(0, SHOWN_LINES), '...', ...said.slice(-SHOWN_LINES)].join('\n');
}

function explain(title, command, { error, code, signal, output }) {
  const byNode = /npm-cli\.c?js$/.test(command[1] ?? '');
  const shown = byNode ? ['npm', ...command.slice(2)].join(' ') : command.join(' ');
  if (error?.code === 'ENOENT') return `${command[0]} isn't installed: install Node with npm.`;
  if (/ENOSPC|no space left/i.test(output)) return `The disk is full: free some space (${title}).`;
  if (/EACCES|EROFS/.test(output)) {
    return `${shorten(output)}\nThis folder can't be written to: run as its owner, or in a clone of your own.`;
  }
  const how = error?.message ?? (signal ? `killed by ${signal}` : `exit code ${code}`);
  return `${shorten(output)}\n${title} failed (${how}): correct what is said above, or run \`${shown}\` by hand.`;
}

/**
 * Ctrl-C reaches only this process, because the command has its own group. Pass it on, then end.
 */
function guard(child, line) {
  const onSignal = (signal) => {
    line.done('stopped');
    const leave = () => process.exit(EXIT_CODES[signal]);
    if (child.exitCode !== null || child.pid === undefined) leave();
    child.once('exit', () => {
      killGroup(child, 'SIGKILL');
      leave();
    });
    killGroup(child, 'SIGTERM');
    setTimeout(() => killGroup(child, 'SIGKILL'), KILL_AFTER_MS);
  };
  for (const signal of Object.keys(EXIT_CODES)) process.once(signal, onSignal);
  return () => {
    for (const signal of Object.keys(EXIT_CODES)) process.off(signal, onSignal);
  };
}

function killGroup(child, signal) {
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The group has ended.
  }
}

function seconds(began) {
  return ((Date.now() - began) / 1000).toFixed(1);
}

function progressLine(title, began) {
  const { stderr } = process;
  if (!stderr.isTTY) {
    stderr.write(`${title} ...\n`);
    return { done: (text) => stderr.write(`${text}\n`) };
  }
  const draw = () =>
    stderr.write(`\r\x1b[K${title} ... ${Math.floor((Date.now() - began) / 1000)} s`);
  draw();
  const timer = setInterval(draw, 1_000);
  return {
    done: (text) => {
      clearInterval(timer);
      stderr.write(`\r\x1b[K${text}\n`);
    },
  };
}
