import { readFileSync } from 'node:fs';
import { wasHandedOver } from './node.mjs';

const LOOK_EVERY_MS = 500;

/**
 * Ends this process like SIGTERM does when the npm that started it has ended. npm passes on a
 * Ctrl-C, and dies alone of everything else. A shell between npm and this process outlives npm, and
 * so does another Node that handed over to this one. Without npm or a hand-over nothing is watched,
 * because a program can be meant to outlive the shell that started it.
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

/** Finds the shell on Linux. Elsewhere the usual shells replace themselves with their command. */
function shellOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [, name, parent] = /^\d+ \((.*)\) \S (\d+)/s.exec(stat) ?? [];
    return /^(sh|bash|dash|ash|zsh|busybox)$/.test(name) ? { parent } : undefined;
  } catch {
    return undefined;
  }
}
