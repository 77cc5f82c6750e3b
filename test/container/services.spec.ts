import { expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { readConfig } from '../../apps/worker/config.js';

const ROOT = join(import.meta.dirname, '../..');
const UNITS = join(ROOT, 'deploy/systemd');
const names = readdirSync(UNITS);

/** The lines of a unit by section and key. */
function parseUnit(text: string): Record<string, Record<string, string[]>> {
  const unit: Record<string, Record<string, string[]>> = {};
  let section: Record<string, string[]> = {};
  for (const line of text.split('\n')) {
    const header = /^\[(\w+)\]$/.exec(line)?.[1];
    const [, key, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
    if (header !== undefined) section = unit[header] = {};
    else if (key !== undefined) (section[key] ??= []).push(value ?? '');
    else if (line !== '' && !line.startsWith('#')) throw new Error(`no line of a unit: ${line}`);
  }
  return unit;
}

test.each(names)('%s starts a program of the build, and restarts it', (name) => {
  const { Unit, Service, Install } = parseUnit(readFileSync(join(UNITS, name), 'utf8'));
  const [node, script] = Service?.['ExecStart']?.[0]?.split(' ') ?? [];
  expect(node).toBe('/usr/bin/node');
  expect(existsSync(join(ROOT, String(script).replace('dist/', '').replace('.js', '.ts')))).toBe(
    true,
  );
  expect([Service?.['Restart'], Service?.['RestartSec']]).toEqual([['always'], ['5']]);
  expect(Unit?.['Description']?.[0]).toMatch(/^Drover /);
  expect(Install?.['WantedBy']).toEqual(['multi-user.target']);
});

const verified = spawnSync('systemd-analyze', ['--version']).status === 0 ? test : test.skip;

verified('systemd accepts the units', () => {
  const folder = mkdtempSync(join(tmpdir(), 'drover-units-'));
  try {
    cpSync(UNITS, folder, { recursive: true });
    for (const name of names) {
      const file = join(folder, name);
      // The node of this machine: systemd looks for the program. No target needs a running systemd.
      writeFileSync(file, readFileSync(file, 'utf8').replaceAll('/usr/bin/node', process.execPath));
    }
    const units = names.map((name) => join(folder, name.replace('@.', '@slot-1.')));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...units], {
      encoding: 'utf8',
    });
    expect(stderr.split('\n').filter((line) => line.includes('drover'))).toEqual([]);
    expect(status).toBe(0);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

const TEMPLATE = { DROVER_API_KEY: 'drv_x', ...withoutEmpty('deploy/worker.env') };

function withoutEmpty(file: string): Record<string, string> {
  const variables = Object.entries(parseEnv(readFileSync(join(ROOT, file), 'utf8')));
  return Object.fromEntries(variables.filter((entry): entry is [string, string] => !!entry[1]));
}

test('the template sets the times of worker services, which the defaults do not limit', () => {
  const defaults = readConfig({ DROVER_API_URL: 'http://127.0.0.1:3000', DROVER_API_KEY: 'drv_x' });
  expect(defaults).toMatchObject({ sessionSeconds: 0, maxSessionSeconds: 0 });
  expect(readConfig(TEMPLATE)).toMatchObject({
    sessionSeconds: 30 * 60,
    maxSessionSeconds: 2 * 60 * 60,
    polling: { waitMs: 30_000, jitterMs: 5_000, backoffMs: 5 * 60_000 },
    concurrency: 1,
    drainSeconds: 5 * 60,
  });
});

test('PM2 gets a worker for each slot', () => {
  const load = createRequire(import.meta.url);
  const { apps } = load(join(ROOT, 'deploy/pm2/ecosystem.config.cjs')) as {
    apps: {
      name: string;
      script: string;
      cwd: string;
      node_args: string[];
      env: NodeJS.ProcessEnv;
    }[];
  };
  expect(apps).toMatchObject([
    { name: 'worker-slot-1', autorestart: true, max_restarts: 10, min_uptime: '10s' },
    { name: 'worker-slot-2', restart_delay: 5_000, exec_mode: 'fork' },
  ]);
  for (const { script, cwd, node_args, env } of apps) {
    expect(existsSync(join(cwd, script.replace('dist/', '').replace('.js', '.ts')))).toBe(true);
    const [file] = node_args.map((argument) => argument.replace('--env-file=', ''));
    expect(existsSync(join(cwd, String(file)))).toBe(true);
    expect(readConfig({ ...TEMPLATE, ...env })).toMatchObject({
      name: env['DROVER_WORKER_NAME'],
      deregister: false,
      maxSessionSeconds: 7_200,
    });
  }
});
