import { describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { ATTACKERS, outputOf } from './attackers.js';
import { callScript, NUMBERS } from './system-calls.js';

const SECRET = 'a-key-of-the-host';
const SESSION = -3;
const USER = -4;
const JOIN_SESSION = 1;
const SEARCH = 10;
const ALGORITHMS = 38;
const SEQUENCED = 5;
const { add_key: addKey, keyctl, request_key: requestKey, socket } = NUMBERS;

/** Starts the host in a keyring with a key in it, which its children inherit. */
const WITH_KEY = ['perl', '-e'].concat(
  `syscall(${keyctl}, ${JOIN_SESSION}, 0) > 0 or die "no keyring: $!";
   my @key = ("user", "${SECRET}", "payload", 7, ${SESSION});
   syscall(${addKey}, @key) > 0 or die "no key: $!";
   exec @ARGV`,
);

const canKeepKeys =
  process.arch === 'x64' && spawnSync('perl', [...WITH_KEY.slice(1), '/bin/true']).status === 0;
if (!canKeepKeys) process.stderr.write('Skipped: this machine keeps no keys\n');

(canKeepKeys ? describe : describe.skip).each(ATTACKERS)('A session of $name', (attacker) => {
  test('sees and takes no key of the host', async () => {
    const scripts = [
      callScript('search', keyctl, SEARCH, SESSION, 'user', SECRET, 0),
      callScript('request', requestKey, 'user', SECRET, 0, 0),
      callScript('add', addKey, 'user', 'mine', 'payload', 7, USER),
      callScript('join', keyctl, JOIN_SESSION, 0),
      // It could compute with a key, by its number.
      callScript('compute', socket, ALGORITHMS, SEQUENCED, 0),
      `cat /proc/keys /proc/key-users 2>/dev/null | grep -c .`,
    ];
    const output = await outputOf(attacker, scripts.join('\n'), { wrapper: WITH_KEY });
    expect(output.split('\n')).toEqual([
      'search=1',
      'request=1',
      'add=1',
      'join=1',
      'compute=1',
      '0',
    ]);
  });
});
