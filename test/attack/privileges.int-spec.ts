import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { chmodSync, chownSync, copyFileSync, mkdirSync, mkdtempSync } from 'node:fs';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ACCOUNT, attack, ATTACKERS, outputOf } from './attackers.js';

const SECRET = 'what-only-root-may-read';
const ZERO = '0000000000000000';

describe.each(ATTACKERS)('A session of $name', (attacker) => {
  test('has no capability in any set and gains none by a program', async () => {
    const output = await outputOf(
      attacker,
      'grep -E "^(Cap|NoNewPrivs|Seccomp:)" /proc/self/status',
    );
    const lines = output.split('\n').map((line) => line.split('\t'));
    expect(Object.fromEntries(lines)).toEqual({
      'CapInh:': ZERO,
      'CapPrm:': ZERO,
      'CapEff:': ZERO,
      'CapBnd:': ZERO,
      'CapAmb:': ZERO,
      'NoNewPrivs:': '1',
      'Seccomp:': '2',
    });
  });

  test('uses /dev/shm, which no other session sees', async () => {
    const script = 'echo mine > /dev/shm/x-$$ && cat /dev/shm/x-*; sleep 0.5; ls /dev/shm | wc -l';
    const ends = await attack(attacker, [script, script]);
    expect(ends.map(({ output }) => output)).toEqual(['mine\n1', 'mine\n1']);
  });

  test('changes no device and no setting', async () => {
    const script = `
      touch /dev/x 2>/dev/null && echo device; echo x > /dev/null && echo null
      echo 1 > /proc/sys/user/max_user_namespaces && echo setting`;
    const [end] = await attack(attacker, [`{ ${script}; } 2>/dev/null; true`]);
    expect(end?.output).toBe('null');
  });
});

const ofAccount = ATTACKERS.find(({ account }) => account !== undefined);

// Only root can run sessions as other users.
(ofAccount === undefined ? describe.skip : describe)('A session of an account of root', () => {
  const attacker = ofAccount!;
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync('/opt/drover-attack-');
    chmodSync(folder, 0o755);
    writeFileSync(join(folder, 'key.pem'), SECRET, { mode: 0o600 });
    writeFileSync(join(folder, 'open'), 'open', { mode: 0o644 });
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  test('is no owner of root’s files, and reads what everybody may', async () => {
    const script = `id -u; id -g; id -G; cat ${folder}/open; echo; cat ${folder}/key.pem 2>&1`;
    const [uid, gid, groups, open, refusal] = (await outputOf(attacker, script)).split('\n');
    expect([uid, gid, groups]).toEqual([ACCOUNT.uid, ACCOUNT.gid, ACCOUNT.gid].map(String));
    expect([open, refusal]).toEqual(['open', expect.stringMatching(/Permission denied$/)]);
  });

  test('gains no rights by a program with the setuid bit', async () => {
    const file = join(folder, 'id');
    copyFileSync('/usr/bin/id', file);
    chmodSync(file, 0o4755);
    expect(await outputOf(attacker, `${file} -u`)).toBe(String(ACCOUNT.uid));
  });

  test('works in a directory that only root can pass, once the account owns it', async () => {
    const closed = mkdtempSync(join(tmpdir(), 'drover-closed-'));
    const script = 'pwd; echo x > new && cat new; ls ..';
    try {
      const within = join(closed, 'project');
      mkdirSync(within);
      writeFileSync(join(closed, 'secret'), SECRET);
      chownSync(within, ACCOUNT.uid, ACCOUNT.gid);
      const output = await outputOf(attacker, script, { cwd: within, within });
      expect(output.split('\n')).toEqual([within, 'x', 'project']);
    } finally {
      rmSync(closed, { recursive: true });
    }
  });

  test('cannot start in a directory that only root can enter', async () => {
    const closed = mkdtempSync(join(tmpdir(), 'drover-closed-'));
    try {
      const attempt = outputOf(attacker, 'pwd', { cwd: closed, within: closed });
      await expect(attempt).rejects.toThrow('cannot enter its working directory');
    } finally {
      rmSync(closed, { recursive: true });
    }
  });
});
