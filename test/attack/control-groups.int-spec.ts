import { describe, expect, test } from '@jest/globals';
import { ATTACKERS, outputOf } from './attackers.js';

describe.each(ATTACKERS)('A session of $name', (attacker) => {
  test('sees no control group, and writes to none', async () => {
    const script = `
      ls -A /sys/fs/cgroup; mkdir /sys/fs/cgroup/x && echo made; echo x > /sys/fs/cgroup/x && echo wrote
      for folder in $(cut -d' ' -f5 /proc/self/mountinfo); do ls $folder/cgroup.*; done
      cut -d: -f3 /proc/self/cgroup | sort -u`;
    expect(await outputOf(attacker, `{ ${script}; } 2>/dev/null`)).toBe('/');
  });

  test('mounts no control groups in a namespace of its own', async () => {
    const script = `
      for kind in cgroup cgroup2; do
        unshare -Urm sh -c "mount -t $kind none /tmp && ls /tmp && echo x > /tmp/cgroup.kill" 2>&1
      done`;
    const output = await outputOf(attacker, script);
    expect(output.split('\n')).toEqual(
      Array.from({ length: 2 }, () =>
        expect.stringMatching(/unshare failed: Operation not permitted/),
      ),
    );
  });
});
