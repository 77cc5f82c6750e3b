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

describe('texts of the server', () => {
  it.each<[string, (out: Output) => void]>([
    ['a note', (out) => out.note(HOSTILE)],
    ['a sentence', (out) => out.done({}, HOSTILE)],
    ['a field', (out) => out.record({}, [['title', HOSTILE]])],
    ['a cell', (out) => out.rows([HOSTILE], [{ title: 'title', of: (text) => text }], '')],
    ['bytes of a process', (out) => out.raw(HOSTILE)],
    ['JSON', (out) => out.value({ title: HOSTILE })],
  ])('give no orders to the terminal as %s', (_, print) => {
    print(output());
    // eslint-disable-next-line no-control-regex
    expect(stdout + stderr).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
  });

  it('are whole in JSON', () => {
    output({ json: true }).value({ title: HOSTILE });
    expect(JSON.parse(stdout)).toEqual({ title: HOSTILE });
  });

  it('are whole where a process wrote them into a pipe', () => {
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

  it('are a line each with tabs in a pipe, whole, without a head', () => {
    output({ terminal: false }).rows(rows, columns, 'none');
    expect(stdout).toBe(`${id}\tRUNNING\t${long}\t-\n`);
  });

  it('say nothing in a pipe, and a sentence to a person, when there are none', () => {
    output({ terminal: false }).rows([], columns, 'none');
    expect([stdout, stderr]).toEqual(['', '']);
    output().rows([], columns, 'none');
    expect([stdout, stderr]).toEqual(['', 'none\n']);
  });

  it('fit the line: long texts give way', () => {
    output({ width: 80 }).rows(rows, columns, '');
    const lines = stdout.trimEnd().split('\n');
    expect(lines.map((line) => line.length <= 80)).toEqual([true, true]);
    expect(lines[1]).toMatch(new RegExp(`^${id}  RUNNING  A title.+…  -$`));
  });

  it('never cut what one copies: columns at the end are left out first', () => {
    output({ width: 59 }).rows(rows, columns, '');
    expect(stdout.split('\n')[0]).toMatch(/^ID +STATUS +TITLE$/);
    expect(stdout).toContain(id);
  });

  it('are a field a line where the terminal is too narrow for a table', () => {
    output({ width: 40 }).rows([...rows, ...rows], columns, '');
    const one = `id      ${id}\nstatus  RUNNING\ntitle   ${long}\n`;
    expect(stdout).toBe(`${one}\n${one}`);
  });
});

describe('progress', () => {
  it('is for persons alone', () => {
    output({ terminal: false }).progress('half');
    output({ json: true }).progress('half');
    expect(stderr).toBe('');
    output({ width: 4 }).progress('half');
    expect(stderr).toBe('\r\u001b[Khal');
  });
});
