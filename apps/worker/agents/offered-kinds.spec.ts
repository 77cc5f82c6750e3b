import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Log } from '#lib/agent-host';
import { OfferedKinds } from './offered-kinds.js';

let bin: string;
beforeEach(() => void (bin = mkdtempSync(join(tmpdir(), 'drover-kinds-'))));
afterEach(() => rmSync(bin, { recursive: true }));

test('a program that comes or goes is announced once, and again after a failure', async () => {
  const kinds = new OfferedKinds({ searchPath: bin, folders: [] }, new Log(() => undefined));
  await kinds.look();
  kinds.noteAnnounced();
  const announced: string[][] = [];
  const renew = () => kinds.renew(() => Promise.resolve(announced.push(kinds.capabilities)));
  await renew();
  expect(announced).toEqual([]);

  const codex = join(bin, 'codex');
  writeFileSync(codex, '#!/bin/sh\necho codex-cli 1.2.3\n', { mode: 0o755 });
  const refused = kinds.renew(() => Promise.reject(new Error('the server is away')));
  await expect(refused).rejects.toThrow('the server is away');
  await renew();
  await renew();
  expect(announced).toEqual([expect.arrayContaining(['kind:codex'])]);

  rmSync(codex);
  await renew();
  expect(announced).toHaveLength(2);
  expect(announced[1]).not.toContain('kind:codex');
});
