import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type HostLog, Log } from '../log.js';
import { type Remembered, SessionMemory } from './session-memory.js';

interface Noted extends Remembered {
  note?: string;
}

let dir: string;
let lines: string[];
let log: HostLog;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'drover-memory-'));
  lines = [];
  log = new Log((line) => void lines.push(line));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const aLife = () => new SessionMemory<Noted>(dir, log);
const record = (id: string, runId: string | null = null): Noted => ({ id, runId });

describe('The sessions that a host remembers', () => {
  test('are known to its next life as they were written down last', () => {
    const first = aLife();
    const [later, earlier] = [record('b', 'its-run'), record('a')];
    first.add(later);
    first.add(earlier);
    later.note = 'changed';
    first.save(later);
    const next = aLife();
    expect(next.all()).toEqual([record('a'), { ...record('b', 'its-run'), note: 'changed' }]);
    expect(next.find('its-run')).toEqual(next.find('b'));
  });

  test('are forgotten for good, whatever is written down of them later', () => {
    const first = aLife();
    const one = record('a', 'its-run');
    first.add(one);
    first.forget(one);
    first.save(one);
    expect([first.find('a'), first.find('its-run')]).toEqual([undefined, undefined]);
    expect([aLife().all(), readdirSync(dir)]).toEqual([[], []]);
  });

  test('are known but for those whose file is broken, and half-written files are removed', () => {
    aLife().add(record('a'));
    writeFileSync(join(dir, 'b.json'), '{"id":');
    writeFileSync(join(dir, 'c.json.new'), '{"id":');
    expect(aLife().all()).toEqual([record('a')]);
    expect(lines.join('')).toContain('the record of a session cannot be read');
    expect(readdirSync(dir)).toEqual(['a.json', 'b.json']);
  });

  test('are in memory where the disk takes no change', () => {
    const memory = aLife();
    const one = record('a');
    memory.add(one);
    rmSync(dir, { recursive: true });
    one.note = 'changed';
    memory.save(one);
    expect(memory.find('a')).toEqual({ ...record('a'), note: 'changed' });
    expect(lines.join('')).toContain('a session could not be written down');
    expect(() => memory.add(record('b'))).toThrow('ENOENT');
    expect(memory.find('b')).toBeUndefined();
  });
});
