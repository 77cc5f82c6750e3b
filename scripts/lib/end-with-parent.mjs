import { readFileSync } from 'node:fs';
import { wasHandedOver } from './node.mjs';

const LOOK_EVERY_MS = 500;

/**
 * Ends this process, as by SIGTERM, when the npm that started it is gone: npm hands on a Ctrl-C and dies of
 * everything else alone. Between the two there may be a shell, which outlives npm just as well. So is it when another
 * Node has handed over to this one, and is gone. Without these nothing is watched: a program may be meant to outlive
 * the shell that it was started from.
 */
export function endWithParent() {
  if (process.env.npm_lifecycle_event === undefined && !wasHandedOver) return;
  const began = ancestors();
  const timer = setInterval(() => {
    if (ancestors() === began) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, LOOK_EVERY_MS);
  timer.unref();
}

/** The parent, and the parent of npm's shell: a process that loses its parent gets another. */
function ancestors() {
  const shell = shellOf(process.ppid);
  return shell === undefined ? `${process.ppid}` : `${process.ppid} ${shell.parent}`;
}

/** On Linux. Elsewhere the usual shells become the command that they were given. */
function shellOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [, name, parent] = /^\d+ \((.*)\) \S (\d+)/s.exec(stat) ?? [];
    return /^(sh|bash|dash|ash|zsh|busybox)$/.test(name) ? { parent } : undefined;
  } catch {
    return undefined;
  }
}
