import { beforeEach, describe, expect, it } from '@jest/globals';
import { Output, type OutputOptions } from './output.js';

let stdout: string;
let stderr: string;

beforeEach(() => {
  stdout = stderr = '';
});

function output(options: Partial<OutputOptions> = {}): Output {
  return new Output(
    { json: false, colour: false, terminal: true, width: 80, ...options },
    (text) => (stdout += text),
    (text) => (stderr += text),
  );
}

const HOSTILE = 'a\u001b[2Jb\u001b]0;title\u0007c\u009b31md\u202ee\u0008f\u001bPq\u001b\\g';

describe('a hostile text', () => {
  it.each<[string, (out: Output) => void]>([
    ['a note', (out) => out.note(HOSTILE)],
    ['a sentence', (out) => out.done({}, HOSTILE)],
    ['a field', (out) => out.record({}, [['title', HOSTILE]])],
    ['a cell', (out) => out.rows([HOSTILE], [{ title: 'title', of: (text) => text }], '')],
    ['bytes of a process', (out) => out.raw(HOSTILE)],
    ['JSON', (out) => out.value({ title: HOSTILE })],
  ])('a hostile text sends no terminal commands as %s', (_, print) => {
    print(output());
    // oxlint-disable-next-line no-control-regex
    expect(stdout + stderr).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
  });

  it('JSON output contains the whole text', () => {
    output({ json: true }).value({ title: HOSTILE });
    expect(JSON.parse(stdout)).toEqual({ title: HOSTILE });
  });

  it('each text of a result has its own line', () => {
    output({ terminal: false }).done({}, 'one\ncode', 'another code');
    expect(stdout).toBe('one code\nanother code\n');
  });

  it('a pipe gets the unchanged output of a process', () => {
    output({ terminal: false }).raw(HOSTILE);
    expect(stdout).toBe(HOSTILE);
  });
});

describe('rows', () => {
  interface Row {
    id: string;
    status: string;
    title: string;
    age: string | null;
  }
  const id = '0198c0de-7000-7000-8000-000000000000';
  const long = 'A title that is longer than what is left of the line, by far and by more';
  const rows: Row[] = [{ id, status: 'RUNNING', title: long, age: null }];
  const columns = (['id', 'status', 'title', 'age'] as const).map((title) => ({
    title,
    of: (row: Row) => row[title],
    wide: title === 'title',
  }));

  it('a pipe gets one tab-separated line for each row, without a header', () => {
    output({ terminal: false }).rows(rows, columns, 'none');
    expect(stdout).toBe(`${id}\tRUNNING\t${long}\t-\n`);
  });

  it('an empty list prints nothing into a pipe and a sentence on a terminal', () => {
    output({ terminal: false }).rows([], columns, 'none');
    expect([stdout, stderr]).toEqual(['', '']);
    output().rows([], columns, 'none');
    expect([stdout, stderr]).toEqual(['', 'none\n']);
  });

  it('a table cuts long texts to fit the terminal', () => {
    output({ width: 80 }).rows(rows, columns, '');
    const lines = stdout.trimEnd().split('\n');
    expect(lines.map((line) => line.length <= 80)).toEqual([true, true]);
    expect(lines[1]).toMatch(new RegExp(`^${id}  RUNNING  A title.+…  -$`));
  });

  it('a narrow table drops its last columns and never cuts an ID', () => {
    output({ width: 59 }).rows(rows, columns, '');
    expect(stdout.split('\n')[0]).toMatch(/^ID +STATUS +TITLE$/);
    expect(stdout).toContain(id);
  });

  it('a terminal gets the first digits of ids that differ, and a pipe whole ids', () => {
    const ids = ['0198c0de-7000-7000-8000-000000000000', '0198c0de-7000-7001-8000-000000000000'];
    const column = { title: 'id', isId: true, of: (text: string) => text };
    output().rows(ids, [column], '');
    expect(stdout).toBe('ID\n0198c0de-7000-7000\n0198c0de-7000-7001\n');
    stdout = '';
    output({ terminal: false }).rows(ids, [column], '');
    expect(stdout).toBe(`${ids.join('\n')}\n`);
  });

  it('a terminal gets relative and local times, and a pipe ISO', () => {
    const time = new Date(Date.now() - 3_600_000).toISOString();
    const print = (out: Output) => {
      out.rows([time], [{ title: 'due', of: (text) => text }], '');
      out.record({}, [['due', time]]);
    };
    print(output());
    expect(stdout).toMatch(/^DUE\n\d.* ago, .*\d\d:\d\d \w.*\ndue {2}\d.* ago, .*\n$/);
    stdout = '';
    print(output({ terminal: false }));
    expect(stdout).toBe(`${time}\ndue\t${time}\n`);
  });

  it('a terminal too narrow for a table gets one line for each field', () => {
    output({ width: 40 }).rows([...rows, ...rows], columns, '');
    const one = `id      ${id}\nstatus  RUNNING\ntitle   ${long}\n`;
    expect(stdout).toBe(`${one}\n${one}`);
  });
});

describe('progress', () => {
  it('progress is printed on a terminal only', () => {
    output({ terminal: false }).progress('half');
    output({ json: true }).progress('half');
    expect(stderr).toBe('');
    output({ width: 4 }).progress('half');
    expect(stderr).toBe('\r\u001b[Khal');
  });
});
