import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '#lib/kernel';
import { Sentence } from '../shared/sentence.js';
import { Home, homeFolder } from './home.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'drover-home-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('DROVER_HOME', () => {
  it('the home is .drover of the clone if DROVER_HOME is empty or absent', () => {
    expect(homeFolder('')).toBe(join(projectRoot, '.drover'));
    expect(homeFolder(undefined)).toBe(join(projectRoot, '.drover'));
    expect(homeFolder('/srv/drover')).toBe('/srv/drover');
  });

  it('a file in the way is refused in a sentence', () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    for (const path of [file, join(file, 'below')]) {
      expect(() => new Home(path)).toThrow(Sentence);
      expect(() => new Home(path)).toThrow(`DROVER_HOME is ${path}, where a file is in the way`);
    }
  });

  it.each(process.platform === 'linux' ? ['/proc/drover', '/proc/drover/home'] : [])(
    'a home at %s is refused in a sentence',
    (path) => {
      expect(() => new Home(path)).toThrow(`DROVER_HOME is ${path}, where no folder can be made`);
    },
  );

  it('the clone itself is refused as home, because Git would see the keys', () => {
    expect(() => new Home(projectRoot)).toThrow('DROVER_HOME is the clone itself');
  });

  it('a new home is hidden from Git, and an existing folder stays unchanged', () => {
    const made = new Home(join(folder, 'home'));
    expect(readFileSync(join(made.folder, '.gitignore'), 'utf8')).toBe('*\n');
    expect(statSync(join(made.folder, '.gitignore')).mode & 0o077).toBe(0);
    expect(existsSync(join(new Home(folder).folder, '.gitignore'))).toBe(false);
  });
});
