import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { kindOf } from '../kinds/index.js';
import { installKind } from './install-kind.js';

const codex = kindOf('codex')!;
const { PATH = '' } = process.env;

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'kinds-'));
  mkdirSync(join(root, 'bin'));
  process.env['PATH'] = `${join(root, 'bin')}${delimiter}${PATH}`;
});
afterEach(() => {
  process.env['PATH'] = PATH;
  rmSync(root, { recursive: true });
});

function putNpm(script: string): void {
  writeFileSync(join(root, 'bin/npm'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

const installation = () => join(root, 'agents', `codex-${codex.program!.npm.version}`);
const modeOf = (path: string) => statSync(path).mode & 0o777;

describe('an installation', () => {
  it('every user can read it, because sessions have accounts of their own', async () => {
    putNpm('touch npm-was-here');
    await installKind(codex, join(root, 'agents'), process.env);
    expect(modeOf(installation())).toBe(0o755);
    expect(modeOf(join(installation(), 'npm-was-here'))).toBeGreaterThan(0);

    chmodSync(installation(), 0o700);
    putNpm('exit 1');
    await installKind(codex, join(root, 'agents'), process.env);
    expect(modeOf(installation())).toBe(0o755);
  });

  it('a program that needs its script has it, whatever the settings of npm say', async () => {
    const claude = kindOf('claude-code')!;
    putNpm('echo "$@" > words');
    await installKind(claude, join(root, 'agents'), process.env);
    const place = join(root, 'agents', `claude-code-${claude.program!.npm.version}`);
    expect(readFileSync(join(place, 'words'), 'utf8')).toContain('--ignore-scripts=false');
  });

  it('a failure of npm leaves nothing, and repeats its words', async () => {
    putNpm('echo "no such version" >&2; exit 7');
    const failed = installKind(codex, join(root, 'agents'), process.env);
    await expect(failed).rejects.toThrow('npm failed with exit code 7: no such version');
    expect(() => statSync(installation())).toThrow('ENOENT');
  });
});
