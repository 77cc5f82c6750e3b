import { Injectable } from '@nestjs/common';
import { ValkeyClient } from '#lib/valkey';
import { isView, type ViewCommand } from '../domain/commands.js';

/** The position of the keys in the journal. Valkey loses it, or sets it back, with the keys. */
const POSITION_KEY = 'views:position';
/** Commands in one script, so that none blocks heartbeats for long. */
const PER_SCRIPT = 500;
const PER_SCAN = 1_000;

/** Writes nothing if another process has moved the position, or Valkey has lost it. */
const WRITE = `
if (redis.call('get', KEYS[1]) or '') ~= ARGV[1] then return 0 end
for i, command in ipairs(cjson.decode(ARGV[3])) do
  local name, key = table.remove(command, 1), KEYS[i + 1]
  if name == 'HSETNEWER' then
    local known = tonumber(redis.call('hget', key, command[1]) or '')
    if not known or known < tonumber(command[2]) then
      redis.call('hset', key, command[1], command[2])
    end
  else
    redis.call(name, key, unpack(command))
  end
end
if ARGV[2] ~= ARGV[1] then redis.call('set', KEYS[1], ARGV[2]) end
return 1`;

/** The keys in Valkey, with their position in the journal. Its functions throw while it is down. */
@Injectable()
export class ViewStore {
  constructor(private readonly valkey: ValkeyClient) {}

  isReady(): boolean {
    return this.valkey.state() === 'ready';
  }

  /** @returns removes the listener */
  onReady(listener: () => void): () => void {
    return this.valkey.onReady(listener);
  }

  async position(): Promise<string | null> {
    const answer = await this.valkey.attempt((commands) => commands.get(POSITION_KEY));
    if (answer.kind !== 'done') throw answer.error;
    return answer.value;
  }

  async begin(position: string): Promise<void> {
    const answer = await this.valkey.change((commands) => commands.set(POSITION_KEY, position));
    if (answer.kind !== 'done') throw answer.error;
  }

  /**
   * Runs the commands, then moves the position.
   *
   * @returns false if the position was not `expected`; the rest was not written
   */
  async write(commands: readonly ViewCommand[], expected: string, next: string): Promise<boolean> {
    for (let at = 0; ; at += PER_SCRIPT) {
      const part = commands.slice(at, at + PER_SCRIPT);
      const isLast = at + PER_SCRIPT >= commands.length;
      if (!(await this.writePart(part, expected, isLast ? next : expected))) return false;
      if (isLast) return true;
    }
  }

  /** Removes all views and their position. */
  async clear(prefix: string): Promise<void> {
    let cursor = '0';
    do {
      // The library adds the prefix to keys, not to patterns.
      const found = await this.valkey.attempt((commands) =>
        commands.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', PER_SCAN),
      );
      if (found.kind !== 'done') throw found.error;
      const [next, all] = found.value;
      cursor = next;
      const keys = all.map((key) => key.slice(prefix.length)).filter(isView);
      if (keys.length > 0) await this.remove(keys);
    } while (cursor !== '0');
    await this.remove([POSITION_KEY]);
  }

  private async remove(keys: readonly string[]): Promise<void> {
    const removed = await this.valkey.change((commands) => commands.unlink(...keys));
    if (removed.kind !== 'done') throw removed.error;
  }

  private async writePart(
    part: readonly ViewCommand[],
    expected: string,
    next: string,
  ): Promise<boolean> {
    const keys = [POSITION_KEY, ...part.map(([, key]) => key)];
    const rest = JSON.stringify(part.map(([name, , ...args]) => [name, ...args.map(String)]));
    const sent = await this.valkey.change((commands) =>
      commands.eval(WRITE, keys.length, ...keys, expected, next, rest),
    );
    if (sent.kind !== 'done') throw sent.error;
    return sent.value === 1;
  }
}
