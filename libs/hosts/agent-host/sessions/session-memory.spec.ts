import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type HostLog, Log } from '../machine/log.js';
import { type Remembered, SessionMemory } from './session-memory.js';

interface TestRecord extends Remembered {
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

const openMemory = () => new SessionMemory<TestRecord>(dir, log);
const record = (id: string, runId: string | null = null): TestRecord => ({ id, runId });

describe('The sessions that a host stores', () => {
  test('a restarted host knows the sessions as last written', () => {
    const first = openMemory();
    const [later, earlier] = [record('b', 'its-run'), record('a')];
    first.add(later);
    first.add(earlier);
    later.note = 'changed';
    first.save(later);
    const next = openMemory();
    expect(next.all()).toEqual([record('a'), { ...record('b', 'its-run'), note: 'changed' }]);
    expect(next.find('its-run')).toEqual(next.find('b'));
  });

  test('a forgotten session stays forgotten, even if it is saved later', () => {
    const first = openMemory();
    const one = record('a', 'its-run');
    first.add(one);
    first.forget(one);
    first.save(one);
    expect([first.find('a'), first.find('its-run')]).toEqual([undefined, undefined]);
    expect([openMemory().all(), readdirSync(dir)]).toEqual([[], []]);
  });

  test('a broken file loses only its session, and half-written files are removed', () => {
    openMemory().add(record('a'));
    writeFileSync(join(dir, 'b.json'), '{"id":');
    writeFileSync(join(dir, 'c.json.new'), '{"id":');
    expect(openMemory().all()).toEqual([record('a')]);
    expect(lines.join('')).toContain('Session record unreadable');
    expect(readdirSync(dir)).toEqual(['a.json', 'b.json']);
  });

  test('sessions stay in memory if the disk accepts no change', () => {
    const memory = openMemory();
    const one = record('a');
    memory.add(one);
    rmSync(dir, { recursive: true });
    one.note = 'changed';
    memory.save(one);
    expect(memory.find('a')).toEqual({ ...record('a'), note: 'changed' });
    expect(lines.join('')).toContain('Session record not written');
    expect(() => memory.add(record('b'))).toThrow('ENOENT');
    expect(memory.find('b')).toBeUndefined();
  });
});
