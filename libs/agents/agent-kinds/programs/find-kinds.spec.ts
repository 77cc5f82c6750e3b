import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { kindOf } from '../kinds/index.js';
import { findKind, findKinds } from './find-kinds.js';

const codex = kindOf('codex')!;
const claude = kindOf('claude-code')!;

let root: string;
beforeEach(() => void (root = realpathSync(mkdtempSync(join(tmpdir(), 'kinds-')))));
afterEach(() => rmSync(root, { recursive: true }));

function put(path: string, content: string, mode = 0o644): string {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  chmodSync(file, mode);
  return file;
}

/** Writes a package with a program, as npm installs it below a folder. */
function putCodex(folder: string, start: string): string {
  const modules = join(folder, 'node_modules');
  const optionalDependencies = {
    '@openai/codex-linux-x64': '1',
    '@openai/codex-darwin-arm64': '1',
  };
  const manifest = { version: '1.2.3', optionalDependencies };
  put(join(modules, '@openai/codex/package.json'), JSON.stringify(manifest));
  put(join(modules, '@openai/codex-linux-x64/package.json'), '{"version":"1.2.3"}');
  put(join(modules, '@openai/unrelated/package.json'), '{"version":"9.9.9"}');
  put(join(modules, '@openai/codex/bin/codex.js'), start, 0o755);
  const bin = join(root, modules, '.bin');
  mkdirSync(bin, { recursive: true });
  symlinkSync('../@openai/codex/bin/codex.js', join(bin, 'codex'));
  return bin;
}

describe('a search for kinds', () => {
  it('a link into a package yields its folder and that of its native program', async () => {
    const searchPath = putCodex('npm', '#!/usr/bin/env node\n');
    const modules = join(root, 'npm/node_modules/@openai');
    expect(await findKind(codex, { searchPath, folders: [] })).toEqual({
      name: 'codex',
      installed: true,
      command: [process.execPath, join(modules, 'codex/bin/codex.js')],
      version: '1.2.3',
      folders: [
        join(modules, 'codex'),
        join(modules, 'codex-linux-x64'),
        dirname(process.execPath),
      ],
    });
  });

  const path = codex.program?.native?.[`${process.platform}-${process.arch}`] ?? '';
  (path === '' ? it.skip : it)(
    'a native program is started without the script of its package',
    async () => {
      const searchPath = putCodex('npm', '#!/usr/bin/env node\n');
      const file = put(join('npm/node_modules', path), '\u007FELF', 0o755);
      const [scope = '', name = ''] = path.split('/');
      const folder = join(root, 'npm/node_modules', scope, name);
      put(join('npm/node_modules', scope, name, 'package.json'), '{"version":"1.2.3-linux"}');
      expect(await findKind(codex, { searchPath, folders: [] })).toMatchObject({
        command: [file],
        version: '1.2.3',
        folders: [folder],
      });
    },
  );

  it('an installation of Drover comes before the search path', async () => {
    const searchPath = putCodex('npm', '#!/usr/bin/env node\n');
    putCodex('own/codex-0.169.0', '\u007FELF');
    const found = await findKind(codex, { searchPath, folders: [join(root, 'own')] });
    const file = 'own/codex-0.169.0/node_modules/@openai/codex/bin/codex.js';
    expect(found).toMatchObject({ command: [join(root, file)] });
  });

  it('a program beside no package tells its version itself', async () => {
    put('bin/claude', '#!/bin/sh\necho "2.1.0 (Claude Code)"\n', 0o755);
    const found = await findKind(claude, {
      searchPath: `${join(root, 'bin')}:/usr/bin:/bin`,
      folders: [],
    });
    expect(found).toMatchObject({ version: '2.1.0', folders: [join(root, 'bin')] });
  });

  it('a package whose script did not run is reported with the remedy', async () => {
    const searchPath = putCodex('npm', 'echo "not installed" >&2\n');
    const found = await findKind(codex, { searchPath, folders: [] });
    expect(found).toMatchObject({ installed: false });
    expect(found).toHaveProperty('missing', expect.stringContaining('incomplete'));
    const remedy = 'Install it with `drover agent install codex` on this machine.';
    expect(found).toHaveProperty('missing', expect.stringContaining(remedy));
  });

  it('without any program each kind but acp is missing', async () => {
    const found = await findKinds({ searchPath: root, folders: [] });
    expect(found.filter(({ installed }) => installed).map(({ name }) => name)).toEqual(['acp']);
  });
});
