import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readFaultTimes } from '../../support/fault-times.js';
import { waitFor } from '../../support/wait-for.js';
import type { Report } from './report.js';
import { planFaults } from './schedule.js';

const MAIN = join(import.meta.dirname, '../../../dist/test/faults/chaos/main.js');
const SEED = process.env['DROVER_CHAOS_SEED'] ?? '950';
const SECONDS = readFaultTimes().chaosSeconds;

const folder = mkdtempSync(join(tmpdir(), 'drover-chaos-test-'));
const runs: Run[] = [];

afterEach(async () => {
  for (const { child, exited } of runs.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await exited;
    }
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));

interface Run {
  child: ChildProcess;
  /** Returns its output so far, from both streams. */
  said: () => string;
  exited: Promise<unknown[]>;
}

function chaos(env: Record<string, string>, ...args: string[]): Run {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  }
  const run = { child, said: () => said, exited: once(child, 'exit') };
  runs.push(run);
  return run;
}

/** Returns the processes of a run by the mark in their environment. */
function processesOf(mark: string): string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(mark);
    } catch {
      return false;
    }
  });
}

describe('a fleet under a schedule of faults', () => {
  it(`a fleet under faults keeps every promise for ${SECONDS} seconds`, async () => {
    const json = join(folder, 'report.json');
    const run = chaos({}, '--minutes', String(SECONDS / 60), '--seed', SEED, '--json', json);
    const [code] = await run.exited;
    const heard = run.said();
    if (code !== 0) throw new Error(`exit code ${String(code)}:\n${heard}`);
    const report = JSON.parse(readFileSync(json, 'utf8')) as Report;
    expect(report).toMatchObject({ ok: true, violations: [], violationCount: 0 });
    const planned = planFaults(Number(SEED), SECONDS * 1_000).map(({ kind }) => kind);
    expect(Object.keys(report.faults).sort()).toEqual([...new Set(planned)].sort());
    // A fleet without work proves nothing.
    expect(report.tasks['acknowledged']).toBeGreaterThan(20);
    expect(report.tasks['COMPLETED']).toBeGreaterThan(10);
    expect(report.tasks['bySessions']).toBeGreaterThan(0);
    expect(report.usageReports).toBeGreaterThan(10);
    expect(report.samples).toBeGreaterThan(10);
    expect(report.invariants.length).toBeGreaterThan(5);
  }, 480_000);

  it('an interrupted chaos run leaves no process and no data', async () => {
    const mark = `chaos-test-${process.pid}-${Date.now()}`;
    const env = { TMPDIR: folder, DROVER_CHAOS_MARK: mark };
    const run = chaos(env, '--minutes', '5', '--seed', SEED);
    const faults = () => run.said().match(/s: \w+/g) ?? [];
    await waitFor('a fault', () => faults().length > 0);
    expect(processesOf(mark).length).toBeGreaterThan(3);
    run.child.kill('SIGINT');
    expect((await run.exited)[0]).toBe(130);
    await waitFor('its processes to end', () => processesOf(mark).length === 0);
    expect(readdirSync(folder).filter((name) => name.startsWith('drover-'))).toEqual([]);
  }, 240_000);
});
